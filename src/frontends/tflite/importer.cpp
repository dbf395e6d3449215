// SPDX-License-Identifier: Apache-2.0
// What happens once per model: inputs, outputs, the order of operators, constants.
#include "frontends/tflite/importer.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/checked_math.h"

namespace rk::frontends::tflite {
namespace {

std::vector<int64_t> declared_dims(const TfTensor& tensor) {
  // The stored shape has 1 where the signature leaves an extent open.
  return tensor.dims;
}

}  // namespace

std::string Importer::label(const TfOperator& op) const {
  const std::string name =
      op.code == Code::kCustom ? str("custom operator '", op.custom_name, "'") : to_string(op.code);
  return op.outputs.empty() ? name : str(name, " for '", tensor(op.outputs[0]).name, "'");
}

Status Importer::choose_inputs() {
  const ImportOptions& options = import_.options();
  if (options.inputs.empty()) {
    inputs_ = model_.inputs;
    return ok_status();
  }
  for (const std::string& name : options.inputs) {
    for (size_t i = 0; i < model_.tensors.size(); ++i) {
      if (model_.tensors[i].name == name) inputs_.push_back(static_cast<int32_t>(i));
    }
  }
  return ok_status();
}

Status Importer::choose_outputs() {
  const ImportOptions& options = import_.options();
  if (options.outputs.empty()) {
    outputs_ = model_.outputs;
    return cut_detections();
  }
  for (const std::string& name : options.outputs) {
    for (size_t i = 0; i < model_.tensors.size(); ++i) {
      if (model_.tensors[i].name == name) outputs_.push_back(static_cast<int32_t>(i));
    }
  }
  return ok_status();
}

// The NPU has no detection post-processing; its inputs become the outputs.
Status Importer::cut_detections() {
  for (const TfOperator& op : model_.operators) {
    if (op.code != Code::kCustom || op.custom_name != "TFLite_Detection_PostProcess") continue;
    std::vector<int32_t> kept;
    for (const int32_t output : outputs_) {
      if (std::ranges::find(op.outputs, output) == op.outputs.end()) kept.push_back(output);
    }
    if (kept.size() == outputs_.size() || op.inputs.size() < 2) continue;
    // Boxes, then scores; the anchors are a constant.
    std::string names;
    for (size_t i = 0; i < 2; ++i) {
      if (op.inputs[i] < 0) return invalid_model(str(label(op), " lacks an input"));
      kept.push_back(op.inputs[i]);
      names += str(i == 0 ? "'" : " and '", tensor(op.inputs[i]).name, "'");
    }
    outputs_ = std::move(kept);
    import_.note(str(label(op), " is left out: the model's outputs are its inputs ", names,
                     " instead. Decode the boxes with the model's anchors and suppress overlaps in "
                     "the application"));
  }
  return ok_status();
}

Status Importer::add_input(int32_t index, size_t place) {
  const TfTensor& from = tensor(index);
  if (from.dtype == DType::kUndefined) {
    return unsupported(
        str("input '", from.name, "' is of type ", from.foreign_type, ", which is not taken"));
  }
  RK_ASSIGN(const std::vector<int64_t> dims,
            import_.input_dims(from.name, place, declared_dims(from)));
  auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status().with_context(str("input '", from.name, "'"));
  const bool moves = can_be_first(shape->rank()) && !import_.options().input_is_nchw;
  const bool rounds = from.is_quantized() && from.dtype != DType::kI32;
  TensorType type{rounds ? DType::kF32 : from.dtype, moves ? first_shape(*shape) : *shape};
  RK_ASSIGN(Value * value, import_.add_input(from.name, place, type));
  if (rounds) {
    RK_ASSIGN(value, rounded(from, value));
  }
  held_[index] = moves ? Held::channels_first(value) : Held::in_file_order(value);
  return ok_status();
}

// The operators that the outputs depend on, in the file's order, which the format promises to be an order of execution.
Result<std::vector<const TfOperator*>> Importer::needed_operators() const {
  std::set<int32_t> needed(outputs_.begin(), outputs_.end());
  const std::set<int32_t> given(inputs_.begin(), inputs_.end());
  std::vector<const TfOperator*> out;
  for (auto op = model_.operators.rbegin(); op != model_.operators.rend(); ++op) {
    const bool wanted = std::ranges::any_of(op->outputs, [&](int32_t output) {
      return needed.contains(output) && !given.contains(output);
    });
    if (!wanted) continue;
    out.push_back(&*op);
    for (const int32_t input : op->inputs) {
      if (input >= 0) needed.insert(input);
    }
  }
  std::ranges::reverse(out);
  return out;
}

void Importer::bind_unavailable(const TfOperator& op, const std::string& why) {
  for (const int32_t output : op.outputs) {
    if (!held_.contains(output)) unavailable_.emplace(output, why);
  }
}

Status Importer::import_operator(const TfOperator& op) {
  for (const int32_t input : op.inputs) {
    if (input < 0) continue;
    if (const auto it = unavailable_.find(input); it != unavailable_.end()) {
      bind_unavailable(op, it->second);
      return ok_status();
    }
  }
  if (op.outputs.empty()) return ok_status();
  Status status = ok_status();
  OpImport context(*this, op);
  if (op.code == Code::kCustom) {
    // An operator that the caller registered takes the tensors as they lie in the file.
    if (import_.graph().registry().find(op.custom_name) == nullptr) {
      status = unsupported(
          str(label(op),
              " is not known; register it with reg_custom_op, or cut the graph before it "
              "with outputs"));
    } else {
      if (op.has_custom_options) {
        context.note(str(label(op), ": its options are in a form of its own and are ignored"));
      }
      std::vector<Value*> values;
      for (size_t i = 0; status.ok() && i < op.inputs.size(); ++i) {
        if (!context.has(i)) {
          values.push_back(nullptr);
          continue;
        }
        RK_ASSIGN(Value* const value, context.last(i));
        values.push_back(value);
      }
      RK_ASSIGN(const auto results,
                context.emit_many(op.custom_name, std::move(values), op.outputs.size()));
      for (size_t i = 0; i < results.size(); ++i) {
        RK_TRY(context.bind(i, results[i], Order::kFile));
      }
    }
  } else if (const OpFunction function = find_operator(op.code)) {
    status = function(context);
  } else {
    std::string advice;
    for (const int32_t input : op.inputs) {
      if (input >= 0 && tensor(input).data.empty()) {
        advice += str(advice.empty() ? "'" : ", '", tensor(input).name, "'");
      }
    }
    status =
        unsupported(str(label(op), " is not taken; cut the graph before it",
                        advice.empty() ? "" : ": outputs=[", advice, advice.empty() ? "" : "]"));
  }
  if (status.ok()) return status;
  if (status.code() != rk::Code::kUnsupported) return status.with_context(label(op));
  const std::string why = status.message().starts_with(label(op))
                              ? status.message()
                              : str(label(op), ": ", status.message());
  import_.add_unsupported(why);
  bind_unavailable(op, why);
  return ok_status();
}

Result<Tensor> Importer::constant_data(const TfTensor& from) {
  if (from.dtype == DType::kUndefined) {
    return unsupported(
        str("constant '", from.name, "' is of type ", from.foreign_type, ", which is not taken"));
  }
  RK_ASSIGN(const Shape shape, Shape::make(from.dims));
  auto data = from.sparsity ? import_.builder().described({from.dtype, shape})
                            : Tensor::from_bytes({from.dtype, shape}, from.data);
  Status status = data.status();
  if (data.ok() && from.sparsity) status = expand(*from.sparsity, from.data, *data);
  if (!status.ok()) return status.with_context(str("constant '", from.name, "'"));
  if (from.dtype != DType::kU8 || !from.is_quantized()) return data;
  Tensor shifted = Tensor::make({DType::kI8, shape});
  for (int64_t i = 0; i < shape.elements(); ++i) {
    shifted.mutable_data<int8_t>()[i] = static_cast<int8_t>(data->data<uint8_t>()[i] - 128);
  }
  return shifted;
}

namespace {

// Zero points of int8, uint8 (shifted) and int16; nothing where they do not fit.
Result<Tensor> zero_points(const TfTensor& from, const Shape& shape) {
  const int64_t shift = from.dtype == DType::kU8 ? 128 : 0;
  const int64_t least = from.dtype == DType::kI16 ? -32768 : -128, most = -least - 1;
  std::vector<int64_t> points;
  for (const int64_t point : from.zero_point) {
    if (point - shift < least || point - shift > most) {
      return invalid_model(
          str("tensor '", from.name, "' has zero point ", point, ", which its type cannot hold"));
    }
    points.push_back(point - shift);
  }
  const DType dtype = from.dtype == DType::kI16 ? DType::kI16 : DType::kI8;
  return Tensor::i64(shape, points).cast(dtype);
}

}  // namespace

Result<Value*> Importer::dequantized(const TfTensor& from, Value* integers, int64_t axis) {
  GraphBuilder& builder = import_.builder();
  const bool per_channel = from.scale.size() > 1;
  const int rank = integers->shape().rank();
  if (per_channel &&
      (axis < 0 || axis >= rank ||
       integers->shape()[static_cast<int>(axis)] != static_cast<int64_t>(from.scale.size()))) {
    return invalid_model(str("tensor '", from.name, "' has ", from.scale.size(),
                             " scales along axis ", axis, " of ", to_string(integers->shape())));
  }
  const Shape shape = per_channel ? Shape{static_cast<int64_t>(from.scale.size())} : Shape{};
  NodeDraft draft;
  draft.name = from.name;
  Value* const scale = builder.constant(from.name + "/scale", Tensor::f32(shape, from.scale));
  std::vector<Value*> inputs = {integers, scale};
  if (from.dtype != DType::kI32) {
    RK_ASSIGN(Tensor points, zero_points(from, shape));
    inputs.push_back(builder.constant(from.name + "/zero_point", std::move(points)));
  } else if (std::ranges::any_of(from.zero_point, [](int64_t point) { return point != 0; })) {
    return unsupported(str("tensor '", from.name, "' is int32 with a zero point"));
  }
  AttrMap attrs;
  if (per_channel) attrs["axis"] = axis;
  return builder.emit(draft, "DequantizeLinear", "/real", std::move(inputs), std::move(attrs));
}

Result<Value*> Importer::rounded(const TfTensor& to, Value* value, Rounding rounding) {
  if (to.scale.size() != 1) {
    return unsupported(str("tensor '", to.name, "' is computed at run time and has ",
                           to.scale.size(), " scales; one is taken"));
  }
  GraphBuilder& builder = import_.builder();
  NodeDraft draft;
  draft.name = to.name;
  Value* const scale = builder.constant(to.name + "/scale", Tensor::f32({}, to.scale));
  RK_ASSIGN(Tensor points, zero_points(to, {}));
  Value* const point = builder.constant(to.name + "/zero_point", std::move(points));
  AttrMap attrs;
  if (rounding == Rounding::kTwice && to.dtype != DType::kI16) attrs["rounding"] = int64_t{1};
  RK_ASSIGN(Value* const integers, builder.emit(draft, "QuantizeLinear", "/quantized",
                                                {value, scale, point}, std::move(attrs)));
  return builder.emit(draft, "DequantizeLinear", "/real", {integers, scale, point});
}

Result<Held> Importer::constant(const TfTensor& from) {
  RK_ASSIGN(Tensor data, constant_data(from));
  Value* const value = import_.builder().constant(from.name, std::move(data));
  if (!from.is_quantized()) return Held::in_file_order(value);
  RK_ASSIGN(Value* const real, dequantized(from, value, from.axis));
  return Held::in_file_order(real);
}

Result<Held*> Importer::held(int32_t index) {
  if (const auto it = held_.find(index); it != held_.end()) return &it->second;
  if (const auto it = unavailable_.find(index); it != unavailable_.end()) {
    return unsupported(it->second);
  }
  const TfTensor& from = tensor(index);
  const bool is_empty = std::ranges::find(from.dims, 0) != from.dims.end();
  if (from.data.empty() && !is_empty) {
    return invalid_model(str("tensor '", from.name,
                             "' is read before an operator computes it; it is no input and no "
                             "constant of the model"));
  }
  RK_ASSIGN(Held made, constant(from));
  return &(held_[index] = made);
}

Status Importer::add_outputs() {
  std::vector<std::pair<std::string, Value*>> found;
  for (const int32_t index : outputs_) {
    auto held_output = held(index);
    if (!held_output.ok()) {
      return import_.has_unsupported() ? import_.unsupported_error() : held_output.status();
    }
    RK_ASSIGN(Value* const value, as_last(import_.builder(), **held_output));
    found.emplace_back(tensor(index).name, value);
  }
  for (const auto& [name, value] : found) RK_TRY(import_.add_output(name, value));
  return ok_status();
}

Result<Imported> Importer::run() {
  const ImportOptions& options = import_.options();
  std::vector<std::string> all;
  for (const TfTensor& any : model_.tensors) all.push_back(any.name);
  RK_TRY(import_.check_names(options.inputs, "inputs", all));
  RK_TRY(import_.check_names(options.outputs, "outputs", all));
  RK_TRY(choose_inputs());
  RK_TRY(choose_outputs());
  std::vector<std::string> names;
  for (const int32_t input : inputs_) names.push_back(tensor(input).name);
  RK_TRY(import_.check_input_count(names));
  RK_ASSIGN(const auto operators, needed_operators());
  for (size_t i = 0; i < inputs_.size(); ++i) RK_TRY(add_input(inputs_[i], i));
  for (const TfOperator* op : operators) RK_TRY(import_operator(*op));
  RK_TRY(add_outputs());
  return import_.finish();
}

}  // namespace rk::frontends::tflite

namespace rk::frontends {

ImportFunction import_tflite_files;

Result<Imported> import_tflite_files(std::span<const ModelFile> files, const ImportOptions& options,
                                     const OpRegistry& registry) {
  const FlatRegion region(files[0].bytes);
  RK_ASSIGN(const tflite::TfModel model, tflite::read_model(region));
  return tflite::Importer(model, options, registry).run();
}

}  // namespace rk::frontends
