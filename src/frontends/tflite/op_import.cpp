// SPDX-License-Identifier: Apache-2.0
// How an operator of the file reads and binds its tensors.
#include <algorithm>

#include "frontends/tflite/importer.h"

namespace rk::frontends::tflite {

Result<Held*> OpImport::held(size_t i) {
  if (!has(i)) return invalid_model(str("input ", i, " is not there"));
  return importer_.held(op_.inputs[i]);
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

Result<std::vector<int64_t>> OpImport::option_ints(int slot) const {
  if (!op_.options) return std::vector<int64_t>();
  RK_ASSIGN(const std::vector<int32_t> values, op_.options->vector<int32_t>(slot));
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<Fused> OpImport::fused(int slot) const {
  RK_ASSIGN(const auto number, option<int8_t>(slot, 0));
  constexpr Fused kKnown[] = {Fused::kNone, Fused::kRelu, Fused::kReluN1To1, Fused::kRelu6,
                              Fused::kTanh};
  if (number >= 0 && number < 5) return kKnown[number];
  return unsupported(
      str("fused activation function number ", static_cast<int>(number), " is not taken"));
}

bool OpImport::rounded_alike(size_t from, size_t i) const {
  const TfTensor& a = input(from);
  const TfTensor& b = output(i);
  return a.dtype == b.dtype && a.scale == b.scale && a.zero_point == b.zero_point;
}

Status OpImport::bind_held(size_t i, Held held) {
  if (i >= op_.outputs.size()) return invalid_model(str("output ", i, " is not there"));
  importer_.held_[op_.outputs[i]] = held;
  return ok_status();
}

Status OpImport::bind_rounded(size_t i, Value* value, Order order, Rounding rounding) {
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
  return bind_held(
      i, order == Order::kFirst ? Held::channels_first(value) : Held::in_file_order(value));
}

}  // namespace rk::frontends::tflite
