// SPDX-License-Identifier: Apache-2.0
// Matrices, control flow that is known, and quantized numbers.
#include <algorithm>
#include <cmath>

#include "frontends/tensorflow/importer.h"

namespace rk::frontends::tensorflow {
namespace {

// Rows from the order H, W, C of a flattened picture to C, H, W; null where the matrix is not a
// constant.
Result<Value*> reordered_rows(NodeImport& op, Value* weights, const Shape& picture) {
  if (!weights->is_constant() || weights->shape().rank() != 2 ||
      weights->shape()[0] != picture[1] * picture[2] * picture[3]) {
    return nullptr;
  }
  const int64_t columns = weights->shape()[1];
  RK_ASSIGN(Value * moved, reshaped(op.builder(), weights,
                                    {picture[1], picture[2], picture[3], columns}, "/picture"));
  RK_ASSIGN(moved, transposed(op.builder(), moved, {2, 0, 1, 3}, "/moved"));
  return reshaped(op.builder(), moved, {weights->shape()[0], columns}, "/rows");
}

}  // namespace

Status matmul(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  const bool turned_a = op.attr_bool("transpose_a"), turned_b = op.attr_bool("transpose_b");
  RK_ASSIGN(Held* const held, op.held(0));
  RK_ASSIGN(Value * weights, op.last(1));
  Value* matrix = nullptr;
  if (held->flat != nullptr && held->last == nullptr && !turned_a && !turned_b) {
    RK_ASSIGN(Value* const moved, reordered_rows(op, weights, held->picture));
    if (moved != nullptr) {
      matrix = held->flat;
      weights = moved;
    }
  }
  if (matrix == nullptr) {
    RK_ASSIGN(matrix, op.last(0));
  }
  if (matrix->shape().rank() != 2 || weights->shape().rank() != 2) {
    return invalid_model(str("multiplies ", rk::to_string(matrix->shape()), " by ",
                             rk::to_string(weights->shape()), "; matrices are expected"));
  }
  RK_ASSIGN(Value* const value,
            op.emit("Gemm", "/result", {matrix, weights},
                    {{"transA", int64_t{turned_a}}, {"transB", int64_t{turned_b}}}));
  return op.bind(0, value, Order::kFile);
}

// Inputs: data, condition. Outputs: for false, for true.
Status switched(NodeImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const Value* const condition, op.last(1));
  if (!condition->is_constant() || condition->constant().elements() != 1) {
    return unsupported(str("its condition '", op.input_name(1),
                           "' is computed at run time; freeze the graph for inference"));
  }
  const bool taken = condition->constant().at_f64(0) != 0;
  RK_ASSIGN(const Held* const held, op.held(0));
  const Held data = *held;
  op.mark_dead(taken ? 0 : 1);
  return op.bind_held(taken ? 1 : 0, data);
}

Status merged(NodeImport& op) {
  for (size_t i = 0; i < op.input_count(); ++i) {
    if (op.is_dead(i)) continue;
    RK_ASSIGN(const Held* const held, op.held(i));
    const Held data = *held;
    Value* const index = op.constant("/index", Tensor::i64({}, {static_cast<int64_t>(i)}));
    RK_TRY(op.bind_held(1, Held::in_file_order(index)));
    return op.bind_held(0, data);
  }
  op.mark_dead(0);
  return ok_status();
}

// Inputs: integers, the numbers their lowest and highest stand for. Constants become the real
// numbers: weights of a network that computes in float.
Status dequantize(NodeImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(const Value* const integers, op.last(0));
  RK_ASSIGN(const std::vector<float> low, op.floats(1, "min_range"));
  RK_ASSIGN(const std::vector<float> high, op.floats(2, "max_range"));
  if (!integers->is_constant()) {
    return unsupported(
        "of what is computed at run time is not taken; only weights may be quantized");
  }
  const DType dtype = integers->dtype();
  if (low.size() != 1 || high.size() != 1 || (dtype != DType::kU8 && dtype != DType::kI8)) {
    return unsupported(str("of ", rk::to_string(integers->type()), " with ", low.size(),
                           " ranges; qint8 and quint8 with one range are taken"));
  }
  const bool is_signed = dtype == DType::kI8;
  const std::string mode = op.attr_string("mode", "MIN_COMBINED");
  const float span = high[0] - low[0];
  float step = span / 255.0f, start = low[0];
  double lowest = is_signed ? -128 : 0;
  if (mode == "MIN_FIRST") {
    // The lowest number is itself a whole number of steps from zero.
    if (span != 0) start = std::round(low[0] / step) * step;
  } else if (mode == "SCALED") {
    step = is_signed ? std::max(low[0] / (op.attr_bool("narrow_range") ? -127.0f : -128.0f),
                                high[0] / 127.0f)
                     : high[0] / 255.0f;
    start = 0;
    lowest = 0;
  } else if (mode != "MIN_COMBINED") {
    return invalid_model(str("mode '", mode, "'"));
  }
  if (!std::isfinite(step) || !std::isfinite(start)) {
    return invalid_model(str("from ", low[0], " to ", high[0], " is not a range"));
  }
  const Tensor& data = integers->constant();
  std::vector<float> values(static_cast<size_t>(data.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((data.at_f64(static_cast<int64_t>(i)) - lowest) * double{step} +
                                   double{start});
  }
  Value* const value = op.constant("", Tensor::f32(data.shape(), values));
  return op.bind(0, value, Order::kFile);
}

Status fake_quant(NodeImport& op, bool is_constant_range) {
  layers::FakeQuant steps;
  steps.bits = op.attr_int("num_bits", 8);
  steps.narrow = op.attr_bool("narrow_range");
  if (is_constant_range) {
    steps.low = {op.attr_float("min", -6)};
    steps.high = {op.attr_float("max", 6)};
  } else {
    RK_TRY(op.need_inputs(3));
    RK_ASSIGN(steps.low, op.floats(1, "min"));
    RK_ASSIGN(steps.high, op.floats(2, "max"));
  }
  return layers::fake_quant(op, steps);
}

// Inputs: numbers, the range. Signed ranges are symmetric around zero.
Status quantize_and_dequantize(NodeImport& op) {
  RK_TRY(op.need_inputs(3));
  RK_ASSIGN(std::vector<float> low, op.floats(1, "input_min"));
  RK_ASSIGN(std::vector<float> high, op.floats(2, "input_max"));
  const AttrValue* const given = op.attr("range_given");
  const AttrValue* const is_signed = op.attr("signed_input");
  if (given == nullptr || !given->b() || low.size() != 1 || high.size() != 1 ||
      op.attr_int("num_bits", 8) != 8 || op.attr_int("axis", -1) != -1) {
    return unsupported("other than 8 bits with one given range is not taken");
  }
  const bool symmetric = is_signed == nullptr || is_signed->b();
  const bool narrow = op.attr_bool("narrow_range");
  const float lowest = symmetric ? (narrow ? -127.0f : -128.0f) : 0.0f;
  const float highest = symmetric ? 127.0f : 255.0f;
  const float step = std::max(symmetric ? low[0] / lowest : 0.0f, high[0] / highest);
  return layers::fake_quant(op, {{step * lowest}, {step * highest}, 8, narrow && symmetric});
}

}  // namespace rk::frontends::tensorflow
