// SPDX-License-Identifier: Apache-2.0
// ConvInteger: convolution of 8-bit integers less their zero points, summed in i32. Padding stands
// for the zero point, so it adds nothing.
#include "ops/nn/conv.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

bool is_byte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

Status conv_integer_infer(InferCall& call) {
  for (size_t i = 0; i < 2; ++i) {
    if (is_byte(call.input(i).dtype)) continue;
    return refuse("input ", i, " ('", input_name(call, i), "') is ", rk::to_string(call.input(i)),
                  ", expected dtype i8 or u8");
  }
  RK_ASSIGN(const ConvAttrs attrs, resolve_conv(call.node));
  for (size_t i = 2; i < 4; ++i) {
    if (!call.has_input(i)) continue;
    RK_TRY(require_same_dtype(call, i - 2, i));
    const Shape& shape = call.input(i).shape;
    const bool per_channel = i == 3 && shape == Shape{attrs.out_channels};
    if (shape.elements() != 1 && !per_channel) {
      return refuse("input ", i, " ('", input_name(call, i), "') is ", rk::to_string(shape),
                    ", expected one number", i == 3 ? " or one per output channel" : "");
    }
  }
  RK_ASSIGN(const Shape shape, conv_output_shape(call.input(0).shape, attrs));
  return set_output(call, 0, DType::kI32, shape);
}

// The integers less their zero points, exact in f32.
Tensor centered(const EvalCall& call, size_t input) {
  const Tensor& from = call.input(input);
  Tensor out = Tensor::make({DType::kF32, from.shape()});
  const std::vector<int64_t> zero_points =
      call.has_input(input + 2) ? call.input(input + 2).to_i64() : std::vector<int64_t>{0};
  const int64_t per_zero_point =
      std::max<int64_t>(1, from.elements() / static_cast<int64_t>(zero_points.size()));
  float* to = out.mutable_data<float>();
  for (int64_t i = 0; i < from.elements(); ++i) {
    to[i] =
        static_cast<float>(from.at_i64(i) - zero_points[static_cast<size_t>(i / per_zero_point)]);
  }
  return out;
}

Status conv_integer_reference(const EvalCall& call) {
  const Tensor x = centered(call, 0), w = centered(call, 1);
  const Tensor* const inputs[] = {&x, &w};
  const int64_t plane = spatial_extent(call.output(0).shape()).product();
  int32_t* y = call.output(0).mutable_data<int32_t>();
  conv_sums({call.node, inputs, call.outputs, call.pool}, conv_attrs(call.node),
            [&](int64_t index, std::span<const double> sums) {
              for (int64_t i = 0; i < plane; ++i) {
                // At most 2^31 products of 17 bits: exact in double; the chip's accumulator wraps.
                y[index * plane + i] =
                    static_cast<int32_t>(static_cast<int64_t>(sums[static_cast<size_t>(i)]));
              }
            });
  return ok_status();
}

}  // namespace

OpDef conv_integer() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.push_back({"group", int64_t{1}, "channels are split into this many independent groups"});
  return {
      .name = "ConvInteger",
      .doc = "y = convolution of x - x_zero_point with w - w_zero_point in i32",
      .inputs = {{"x", ArgRule{{DType::kI8, DType::kU8}, "dtype i8 or u8"}},
                 {"w", ArgRule{{DType::kI8, DType::kU8}, "dtype i8 or u8"}},
                 {"x_zero_point", ArgRule{{DType::kI8, DType::kU8}, "dtype i8 or u8"}.like(0),
                  ArgDef::kOptional},
                 {"w_zero_point", ArgRule{{DType::kI8, DType::kU8}, "dtype i8 or u8"}.like(1),
                  ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = conv_integer_infer,
      .reference = conv_integer_reference,
      .cost = conv_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
