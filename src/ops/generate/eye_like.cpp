// SPDX-License-Identifier: Apache-2.0
// EyeLike: ones on a diagonal, zeros elsewhere, in the shape of x. The values of x play no part.
#include <algorithm>
#include <cstring>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status eye_like_infer(InferCall& call) {
  DType dtype = call.input(0).dtype;
  if (call.node.has_attr("dtype")) {
    const auto named = dtype_from_onnx(call.node.i64("dtype"));
    if (!named)
      return unsupported(
          str("attribute 'dtype' is ", call.node.i64("dtype"), ", which is no supported dtype"));
    dtype = *named;
  }
  return set_output(call, 0, dtype, call.input(0).shape);
}

Status eye_like_reference(const EvalCall& call) {
  Tensor& out = call.output(0);
  if (out.size_bytes() == 0) return ok_status();
  const size_t element = byte_size(out.dtype());
  uint8_t* y = out.mutable_data<uint8_t>();
  std::memset(y, 0, out.size_bytes());
  const int64_t rows = out.shape()[0];
  const int64_t columns = out.shape()[1];
  const int64_t k = call.node.i64("k");
  if (k >= columns || k <= -rows) return ok_status();
  for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row) {
    store_f64(out.dtype(), y + static_cast<size_t>(row * columns + row + k) * element, 1);
  }
  return ok_status();
}

}  // namespace

OpDef eye_like() {
  return {
      .name = "EyeLike",
      .doc = "y = ones on a diagonal, in the shape of x",
      .inputs = {{"x", anything().rank(2)}},
      .outputs = {{"y"}},
      .attrs = {{"dtype", int64_t{1}, "dtype of y, numbered as in ONNX; x's where not given",
                 AttrDef::kOptional},
                {"k", int64_t{0}, "how far the diagonal lies to the right"}},
      .infer = eye_like_infer,
      .reference = eye_like_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
      .shape_only = true,
  };
}

}  // namespace rk::ops
