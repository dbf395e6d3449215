// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/cosine_window.h"

#include <cmath>
#include <numbers>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status cosine_window_infer(InferCall& call) {
  RK_ASSIGN(const int64_t size, constant_int(call, 0));
  const auto dtype = dtype_from_onnx(call.node.i64("output_datatype"));
  if (!dtype || *dtype == DType::kBool) {
    return refuse("attribute 'output_datatype' is ", call.node.i64("output_datatype"),
                  ", expected the number of a float or integer dtype");
  }
  return set_output(call, 0, *dtype, std::array{size});
}

}  // namespace

OpDef cosine_window_def(std::string_view name, std::string_view doc,
                        Status (*reference)(const EvalCall& call)) {
  return {
      .name = name,
      .doc = doc,
      .inputs = {{"size", integers()}},
      .outputs = {{"y"}},
      .attrs = {{"output_datatype", int64_t{1}, "ONNX number of the dtype"},
                {"periodic", int64_t{1},
                 "1: the next window begins where this ends; 0: symmetric"}},
      .infer = cosine_window_infer,
      .reference = reference,
      .cost = elementwise_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

Status fill_cosine_window(const EvalCall& call, const std::array<double, 3>& a) {
  Tensor& out = call.output(0);
  const int64_t size = out.elements();
  const int64_t period = call.node.i64("periodic") != 0 ? size : size - 1;
  const size_t step = byte_size(out.dtype());
  for (int64_t n = 0; n < size; ++n) {
    // A symmetric window of one element has no period; it is the middle of any.
    const double part = period == 0 ? 0.5 : static_cast<double>(n) / static_cast<double>(period);
    const double turn = 2 * std::numbers::pi * part;
    store_f64(out.dtype(), out.mutable_data<uint8_t>() + static_cast<size_t>(n) * step,
              a[0] - a[1] * std::cos(turn) + a[2] * std::cos(2 * turn));
  }
  return ok_status();
}

}  // namespace rk::ops
