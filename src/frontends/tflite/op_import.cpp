// SPDX-License-Identifier: Apache-2.0
// What the operators' functions share.
#include <algorithm>

#include "frontends/tflite/importer.h"

namespace rk::frontends::tflite {

NodeDraft OpImport::draft() const {
  NodeDraft out;
  out.name = output(0).name;
  return out;
}

Status OpImport::need_inputs(size_t least) const {
  size_t present = 0;
  while (has(present)) ++present;
  if (present >= least) return ok_status();
  return invalid_model(str("has ", present, " inputs; it needs ", least));
}

Result<Held*> OpImport::held(size_t i) {
  if (!has(i)) return invalid_model(str("input ", i, " is not there"));
  return importer_.held(op_.inputs[i]);
}

Result<Value*> OpImport::last(size_t i) {
  RK_ASSIGN(Held* const held, this->held(i));
  return as_last(builder(), *held);
}

Result<Value*> OpImport::first(size_t i) {
  RK_ASSIGN(Held* const held, this->held(i));
  if (!can_be_first(held->shape().rank())) {
    return invalid_model(str("input ", i, " '", input(i).name, "' is ", to_string(held->shape()),
                             "; a tensor of rank 4 is expected"));
  }
  return as_first(builder(), *held);
}

Result<Order> OpImport::together(const std::vector<size_t>& which, std::vector<Value*>& values) {
  int rank = 0;
  for (const size_t i : which) {
    RK_ASSIGN(const Held* const held, this->held(i));
    rank = std::max(rank, held->shape().rank());
  }
  bool first = false;
  for (const size_t i : which) {
    RK_ASSIGN(const Held* const held, this->held(i));
    first = first || (held->is_first && held->shape().rank() == rank);
  }
  values.clear();
  for (const size_t i : which) {
    RK_ASSIGN(Held* const held, this->held(i));
    const Shape shape = held->shape();
    if (first && shape.rank() == rank) {
      RK_ASSIGN(Value* const value, as_first(builder(), *held));
      values.push_back(value);
      continue;
    }
    RK_ASSIGN(Value * value, as_last(builder(), *held));
    if (first && shape.elements() > 1) {
      std::vector<int64_t> dims(static_cast<size_t>(rank - shape.rank()), 1);
      dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
      RK_ASSIGN(value, reshaped(builder(), value, dims, "/broadcast"));
      RK_ASSIGN(value, transposed(builder(), value, to_first(rank), "/nchw"));
    }
    values.push_back(value);
  }
  return first ? Order::kFirst : Order::kFile;
}

Result<Value*> OpImport::weights(size_t i, const std::vector<int64_t>& perm) {
  if (!has(i)) return invalid_model(str("input ", i, " is not there"));
  const TfTensor& from = input(i);
  if (from.data.empty() || !from.is_quantized()) {
    RK_ASSIGN(Value* const value, last(i));
    if (value->shape().rank() != static_cast<int>(perm.size())) {
      return invalid_model(str("weights '", from.name, "' are ", to_string(value->shape()),
                               "; rank ", perm.size(), " is expected"));
    }
    return transposed(builder(), value, perm, "/moved");
  }
  RK_ASSIGN(Tensor data, importer_.constant_data(from));
  if (data.shape().rank() != static_cast<int>(perm.size())) {
    return invalid_model(str("weights '", from.name, "' are ", to_string(data.shape()), "; rank ",
                             perm.size(), " is expected"));
  }
  Value* const integers = builder().constant(from.name, std::move(data));
  RK_ASSIGN(Value* const moved, transposed(builder(), integers, perm, "/moved"));
  const auto axis = std::ranges::find(perm, from.axis);
  return importer_.dequantized(from, moved, axis - perm.begin());
}

Result<std::vector<int64_t>> OpImport::ints(size_t i, std::string_view what) {
  RK_ASSIGN(Value* const value, last(i));
  if (!value->is_constant()) {
    return unsupported(str(what, " '", input(i).name,
                           "' is computed at run time; it must be a constant"));
  }
  if (!is_integer(value->dtype())) {
    return invalid_model(str(what, " '", input(i).name, "' is ", to_string(value->type()),
                             "; integers are expected"));
  }
  return value->constant().to_i64();
}

Result<int64_t> OpImport::integer(size_t i, std::string_view what) {
  RK_ASSIGN(const std::vector<int64_t> values, ints(i, what));
  if (values.size() != 1) {
    return invalid_model(str(what, " '", input(i).name, "' has ", values.size(),
                             " elements; one is expected"));
  }
  return values[0];
}

Result<int64_t> OpImport::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) {
    return invalid_model(str("axis ", axis, " of a tensor of rank ", rank));
  }
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> OpImport::option_ints(int slot) const {
  if (!op_.options) return std::vector<int64_t>();
  RK_ASSIGN(const std::vector<int32_t> values, op_.options->vector<int32_t>(slot));
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<Value*> OpImport::emit(std::string_view op, std::string_view suffix,
                              std::vector<Value*> inputs, AttrMap attrs) {
  return builder().emit(draft(), op, suffix, std::move(inputs), std::move(attrs));
}

Result<std::vector<Value*>> OpImport::emit_many(std::string_view op, std::vector<Value*> inputs,
                                                size_t outputs, AttrMap attrs) {
  NodeDraft node = draft();
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(str(node.name, "/", i));
  return builder().emit(std::move(node));
}

Value* OpImport::ints_value(std::string_view suffix, const std::vector<int64_t>& values) {
  return builder().ints(draft(), suffix, values);
}

Value* OpImport::scalar(std::string_view suffix, float value) {
  return builder().scalar(draft(), suffix, value);
}

Result<Value*> OpImport::activated(Value* value, int8_t activation) {
  switch (activation) {
    case 0: return value;
    case 1: return emit("Relu", "/relu", {value});
    case 2: return emit("Clip", "/clip", {value, scalar("/min", -1), scalar("/max", 1)});
    case 3: return emit("Clip", "/clip", {value, scalar("/min", 0), scalar("/max", 6)});
    case 4: return emit("Tanh", "/tanh", {value});
    default: break;
  }
  return unsupported(str("fused activation function number ", static_cast<int>(activation),
                         " is not taken"));
}

bool OpImport::rounded_alike(const TfTensor& a, const TfTensor& b) const {
  return a.dtype == b.dtype && a.scale == b.scale && a.zero_point == b.zero_point;
}

Status OpImport::bind_held(size_t i, Held held) {
  if (i >= op_.outputs.size()) return invalid_model(str("output ", i, " is not there"));
  importer_.held_[op_.outputs[i]] = held;
  return ok_status();
}

Status OpImport::bind(size_t i, Value* value, Order order, Rounding rounding) {
  if (i >= op_.outputs.size()) return invalid_model(str("output ", i, " is not there"));
  const TfTensor& to = output(i);
  const bool rounds = to.is_quantized() && to.dtype != DType::kI32 && is_float(value->dtype());
  if (rounds) {
    RK_ASSIGN(value, importer_.rounded(to, value, rounding));
  }
  Graph& graph = builder().graph();
  if (value->producer() != nullptr && value->name() != to.name && graph.find(to.name) == nullptr) {
    graph.rename(value, to.name);
  }
  return bind_held(i, order == Order::kFirst ? Held::channels_first(value)
                                             : Held::in_file_order(value));
}

Status OpImport::bind_moved(size_t i, Value* value, Order order, size_t from) {
  if (i < op_.outputs.size() && rounded_alike(input(from), output(i))) {
    return bind_held(i, order == Order::kFirst ? Held::channels_first(value)
                                               : Held::in_file_order(value));
  }
  return bind(i, value, order);
}

}  // namespace rk::frontends::tflite
