// SPDX-License-Identifier: Apache-2.0
#include "compiler/builder.h"

#include <algorithm>

#include "base/crc32.h"
#include "base/fixed_point.h"
#include "base/log.h"

namespace rk::compiler {
namespace {

using program::ProgramTensor;
using program::TensorKind;

std::vector<uint8_t> copy_of(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

// What the chip holds of int16 weights, as the real numbers they stand for.
Tensor rounded_to_i16(const Tensor& constant, const QuantParams& quant) {
  int64_t inner = 1;
  for (int i = quant.axis + 1; quant.per_channel() && i < constant.shape().rank(); ++i)
    inner *= constant.shape()[i];
  Tensor out = constant.clone();
  auto* values = out.mutable_data<float>();
  for (int64_t i = 0; i < out.elements(); ++i) {
    const auto c = quant.per_channel() ? static_cast<size_t>(i / inner) % quant.scale.size() : 0;
    const double zero = quant.zero_point[c];
    const double stored = round_even(values[i] / double{quant.scale[c]}) + zero;
    values[i] = static_cast<float>((std::clamp(stored, -32768.0, 32767.0) - zero) * quant.scale[c]);
  }
  return out;
}

constexpr float kLeastF16 = 0x1p-24f;

// What keeps a sum or a bound away from 0 (the epsilon of a logarithm or a quotient) and is less than half of the least
// number of float16: stored, the result would be 0 after all.
bool is_vanishing_guard(const Value& value) {
  if (value.dtype() != DType::kF32 || value.constant().elements() == 0) return false;
  const auto guards = [](const Use& use) {
    const std::string_view op = use.node->op();
    const bool adds = op == "Add" || op == "Sum" || op == "Max" || (op == "Clip" && use.index == 1);
    const Value& result = use.node->output();
    return adds && !is_i8(result) && !is_i16(result);
  };
  const bool vanishes = std::ranges::all_of(value.constant().span<float>(),
                                            [](float x) { return x > 0 && x <= kLeastF16 / 2; });
  return vanishes && std::ranges::all_of(value.uses(), guards);
}

Tensor filled_with(const Tensor& like, float number) {
  Tensor out = like.clone();
  std::ranges::fill(std::span(out.mutable_data<float>(), static_cast<size_t>(out.elements())),
                    number);
  return out;
}

}  // namespace

bool is_i8(const Value& value) {
  return value.quantized() && !value.quant.per_channel() && value.quant.scale.size() == 1 &&
         (value.quant.dtype == DType::kI8 || value.quant.dtype == DType::kU8);
}

bool is_i16(const Value& value) {
  return value.quantized() && value.quant.scale.size() == 1 && value.quant.dtype == DType::kI16;
}

Affine affine_of(const Value& value) {
  const QuantParams& quant = value.quant;
  const int32_t zero_point = quant.zero_point.empty() ? 0 : quant.zero_point[0];
  return {quant.scale[0], quant.dtype == DType::kU8 ? zero_point - 128 : zero_point};
}

int32_t WeightTable::add(std::vector<uint8_t> bytes) {
  const uint32_t checksum = crc32(bytes);
  const auto [begin, end] = by_checksum_.equal_range(checksum);
  for (auto found = begin; found != end; ++found) {
    const ByteSpan held = program_.weights[static_cast<size_t>(found->second)].bytes;
    if (std::ranges::equal(held, bytes)) return found->second;
  }
  const auto index = static_cast<int32_t>(program_.weights.size());
  program_.weights.push_back(program::make_blob(std::move(bytes)));
  by_checksum_.emplace(checksum, index);
  return index;
}

Builder::Builder(const Graph& graph, const target::Target& target, const CompileOptions& options,
                 WeightTable& weights)
    : graph_(graph), target_(target), options_(options), weights_(weights) {
  variant_.tensors.resize(1);
  for (const Value* input : graph.inputs()) variant_.inputs.push_back(home(*input));
}

bool Builder::may_use_integers(const Node& node) const {
  return std::ranges::none_of(node.outputs(), [&](const Value* value) {
    return value != nullptr && options_.float_layers.contains(value->name());
  });
}

int32_t Builder::add_tensor(ProgramTensor tensor) {
  variant_.tensors.push_back(std::move(tensor));
  return static_cast<int32_t>(variant_.tensors.size() - 1);
}

int32_t Builder::home(const Value& value) {
  if (const auto found = homes_.find(&value); found != homes_.end()) return found->second;
  int32_t index = 0;
  if (value.is_constant()) {
    const bool wide = value.quant.dtype == DType::kI16 && value.quantized();
    const bool guard = !wide && is_vanishing_guard(value);
    if (guard) {
      log(LogLevel::kInfo, str("'", value.name(), "' (", value.constant().span<float>()[0],
                               ") would be 0 in float16: it is raised to ", kLeastF16));
    }
    const Tensor held = wide    ? rounded_to_i16(value.constant(), value.quant)
                        : guard ? filled_with(value.constant(), kLeastF16)
                                : value.constant();
    index = add_constant({.name = value.name(),
                          .dtype = value.dtype(),
                          .shape = value.shape(),
                          .bytes = copy_of(held.bytes()),
                          .kind = TensorKind::kCpuConstant});
  } else {
    const bool affine = is_i8(value) || is_i16(value);
    const DType dtype = is_i8(value)              ? DType::kI8
                        : is_i16(value)           ? DType::kI16
                        : is_float(value.dtype()) ? DType::kF16
                                                  : value.dtype();
    index = add_internal(value.name(), dtype, value.shape(), affine ? affine_of(value) : Affine{});
    ProgramTensor& tensor = variant_.tensors[static_cast<size_t>(index)];
    if (affine && !value.quant.min.empty() && !value.quant.max.empty()) {
      tensor.min = value.quant.min[0];
      tensor.max = value.quant.max[0];
    }
    if (graph_.is_output(value)) tensor.kind = TensorKind::kOutput;
    if (graph_.is_input(value)) tensor.kind = TensorKind::kInput;
  }
  homes_.emplace(&value, index);
  return index;
}

int32_t Builder::as_f16(const Value& value) {
  const int32_t from = home(value);
  if (!variant_.tensors[static_cast<size_t>(from)].quantized()) return from;
  if (const auto found = f16_copies_.find(&value); found != f16_copies_.end()) return found->second;
  const int32_t to = add_internal(value.name() + "__float16", DType::kF16, value.shape());
  convert(from, to);
  f16_copies_.emplace(&value, to);
  return to;
}

int32_t Builder::as_i16(const Value& value) {
  const int32_t from = home(value);
  if (value.is_constant() || !is_i8(value)) return from;
  const auto [place, is_new] = i16_copies_.emplace(&value, from);
  if (is_new) {
    place->second =
        add_internal(value.name() + "__int16", DType::kI16, value.shape(), affine_of(value));
    convert(from, place->second);
  }
  return place->second;
}

int32_t Builder::output(const Value& value, DType form) {
  const int32_t index = home(value);
  if (variant_.tensors[static_cast<size_t>(index)].dtype == form) return index;
  return add_internal(value.name() + "__float16", form, value.shape());
}

void Builder::finish_output(const Value& value, int32_t written) {
  const int32_t index = home(value);
  if (index != written) convert(written, index);
}

void Builder::convert(int32_t from, int32_t to) {
  const auto name = [&](int32_t i) { return variant_.tensors[static_cast<size_t>(i)].name; };
  // The runtime brings an operator's inputs to float and its output to the tensor's own type, so
  // the identity is a conversion.
  add_step({.type = "exDataConvert",
            .name = str("exDataConvert:", name(from), "_to_", name(to)),
            .inputs = {from},
            .outputs = {to},
            .params = program::OpParams{.op = "Identity"}});
}

int32_t Builder::add_constant(ConstantSpec spec) {
  ProgramTensor tensor;
  tensor.name = std::move(spec.name);
  tensor.dtype = spec.dtype;
  tensor.kind = spec.kind;
  tensor.layout = spec.layout;
  tensor.shape = spec.shape;
  tensor.native_shape = std::move(spec.native_shape);
  if (tensor.native_shape.empty()) {
    for (const int64_t extent : spec.shape.dims()) {
      tensor.native_shape.push_back(static_cast<int32_t>(extent));
    }
  }
  tensor.size_bytes = spec.bytes.size();
  tensor.weight = weights_.add(std::move(spec.bytes));
  return add_tensor(std::move(tensor));
}

int32_t Builder::add_internal(std::string name, DType dtype, const Shape& shape,
                              const Affine& affine) {
  ProgramTensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.scale = affine.scale;
  tensor.zero_point = affine.zero_point;
  if (affine.scale != 0) {
    const int32_t least = dtype == DType::kI16 ? -32768 : -128;
    tensor.min = affine.scale * static_cast<float>(least - affine.zero_point);
    tensor.max = affine.scale * static_cast<float>(-1 - least - affine.zero_point);
  }
  return add_tensor(std::move(tensor));
}

void Builder::add_step(program::Step step) {
  step.processor = processor_;
  variant_.steps.push_back(std::move(step));
}

}  // namespace rk::compiler
