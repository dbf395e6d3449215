// SPDX-License-Identifier: Apache-2.0
// Checks, units and dispatch of the resizing family.
#include "kernels/resize/resize.h"

#include "kernels/dispatch.h"

namespace rk::kernels {

namespace {

Status check_axis(const char* axis, const int32_t* index, int32_t count, int32_t in) {
  for (int32_t i = 0; i < count; ++i) {
    if (index[i] < 0 || index[i] >= in) {
      return invalid_argument(str("resize: ", axis, " index ", index[i], " of output ", i,
                                  " is outside the input's 0..", in - 1));
    }
  }
  return ok_status();
}

Status check_axis(const char* axis, const LinearTap* taps, int32_t count, int32_t in) {
  for (int32_t i = 0; i < count; ++i) {
    const LinearTap& tap = taps[i];
    if (tap.low < 0 || tap.low >= in || tap.high < 0 || tap.high >= in) {
      return invalid_argument(str("resize: ", axis, " indices ", tap.low, ", ", tap.high,
                                  " of output ", i, " are outside the input's 0..", in - 1));
    }
    if (tap.high_weight < 0 || tap.high_weight > kLinearOne) {
      return invalid_argument(str("resize: ", axis, " weight ", tap.high_weight, " of output ", i,
                                  " is outside 0..", kLinearOne));
    }
  }
  return ok_status();
}

}  // namespace

Status check_nearest_indices(const ResizeShape& shape, const int32_t* y_index,
                             const int32_t* x_index) {
  RK_TRY(check_axis("row", y_index, shape.out.h, shape.in.h));
  return check_axis("column", x_index, shape.out.w, shape.in.w);
}

Status check_linear_taps(const ResizeShape& shape, const LinearTap* y_taps,
                         const LinearTap* x_taps) {
  RK_TRY(check_axis("row", y_taps, shape.out.h, shape.in.h));
  return check_axis("column", x_taps, shape.out.w, shape.in.w);
}

Status check_linear_i8(const LinearI8Args& args) {
  RK_TRY(check_linear_taps(args.shape, args.y_taps, args.x_taps));
  const InputStage& input = args.input_stage;
  if (input.zero_point < -128 || input.zero_point > 127) {
    return invalid_argument(str("resize: input zero point ", input.zero_point, " is not an int8"));
  }
  const int64_t largest = int64_t{kLinearOne} * kLinearOne * input_bound(input.zero_point);
  const bool legal_shift = input.scale.shift >= 0 && input.scale.shift <= 62 - kLinearShift;
  const int64_t v =
      legal_shift ? scaled_bound(largest, {input.scale.scale, input.scale.shift + kLinearShift})
                  : -1;
  if (v < 0) {
    return unsupported(str("resize: input scale ", input.scale.scale, " / 2^", input.scale.shift,
                           " is outside what 64-bit arithmetic holds; shifts are 0..",
                           62 - kLinearShift));
  }
  if (scaled_bound(v, args.output_stage.scale) < 0) {
    return unsupported(str("resize: output scale ", args.output_stage.scale.scale, " / 2^",
                           args.output_stage.scale.shift,
                           " is outside what 64-bit arithmetic holds; shifts are 0..62"));
  }
  return ok_status();
}

int64_t resize_units(const ResizeShape& shape) {
  return int64_t{shape.batch} * channel_blocks(shape.channels) * shape.out.h;
}

void resize_nearest_i8(const NearestArgs<int8_t>& args, IndexRange units) {
  RK_DISPATCH(resize_nearest_i8, args, units);
}
void resize_nearest_f16(const NearestArgs<uint16_t>& args, IndexRange units) {
  RK_DISPATCH(resize_nearest_f16, args, units);
}
void resize_linear_i8(const LinearI8Args& args, IndexRange units) {
  RK_DISPATCH(resize_linear_i8, args, units);
}
void resize_linear_f16(const LinearArgs<uint16_t>& args, IndexRange units) {
  RK_DISPATCH(resize_linear_f16, args, units);
}

}  // namespace rk::kernels
