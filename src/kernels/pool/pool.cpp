// SPDX-License-Identifier: Apache-2.0
// Checks, units and dispatch of the pooling family.
#include "kernels/pool/pool.h"

#include <algorithm>

#include "kernels/dispatch.h"

namespace rk::kernels {

namespace {

constexpr int32_t kMaxExtent = 1 << 24;
// A window of more taps could overflow the int32 sum of int8 values.
constexpr int64_t kMaxTaps = 1 << 24;

bool legal(int32_t extent) { return extent >= 1 && extent <= kMaxExtent; }
bool legal(Extent2 extent) { return legal(extent.h) && legal(extent.w); }

// Every window along one axis has a tap inside the input. A window can only miss a contiguous input by lying before it,
// after it or, dilated, around it, so each one is tried.
bool windows_touch_input(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                         int64_t pad) {
  for (int64_t o = 0; o < out; ++o) {
    const int64_t start = o * stride - pad;
    const int64_t tap = start >= 0 ? 0 : (-start + dilation - 1) / dilation;  // first with at >= 0
    if (tap >= kernel || start + tap * dilation >= in) return false;
  }
  return true;
}

}  // namespace

Status check_pool_shape(const PoolShape& s) {
  const bool legal_pads =
      std::min({s.pad_before.h, s.pad_before.w, s.pad_after.h, s.pad_after.w}) >= 0 &&
      std::max({s.pad_before.h, s.pad_before.w, s.pad_after.h, s.pad_after.w}) <= kMaxExtent;
  if (!legal(s.batch) || !legal(s.channels) || !legal(s.in) || !legal(s.out) || !legal(s.kernel) ||
      !legal(s.stride) || !legal(s.dilation) || !legal_pads) {
    return invalid_argument(str("pooling: input ", s.in.h, "x", s.in.w, ", output ", s.out.h, "x",
                                s.out.w, ", kernel ", s.kernel.h, "x", s.kernel.w, ", stride ",
                                s.stride.h, "x", s.stride.w, ", dilation ", s.dilation.h, "x",
                                s.dilation.w, ": extents must be in 1..", kMaxExtent,
                                " and padding not negative"));
  }
  if (int64_t{s.kernel.h} * s.kernel.w > kMaxTaps) {
    return invalid_argument(
        str("pooling: kernel ", s.kernel.h, "x", s.kernel.w, " has more than ", kMaxTaps, " taps"));
  }
  if (!windows_touch_input(s.in.h, s.out.h, s.kernel.h, s.stride.h, s.dilation.h, s.pad_before.h) ||
      !windows_touch_input(s.in.w, s.out.w, s.kernel.w, s.stride.w, s.dilation.w, s.pad_before.w)) {
    return invalid_argument(str("pooling: a window of kernel ", s.kernel.h, "x", s.kernel.w,
                                " lies wholly in the padding: input ", s.in.h, "x", s.in.w,
                                ", output ", s.out.h, "x", s.out.w, ", padding before ",
                                s.pad_before.h, ",", s.pad_before.w));
  }
  return ok_status();
}

Status check_average_pool_i8(const AveragePoolI8Args& args) {
  RK_TRY(check_pool_shape(args.shape));
  const int64_t taps = int64_t{args.shape.kernel.h} * args.shape.kernel.w;
  int64_t largest_v = 0;
  for (int64_t count = 1; count <= taps; ++count) {
    // Padding that is counted adds nothing to the sum, so the window size bounds every sum.
    const int64_t v =
        scaled_bound(taps * input_bound(args.input_zero_point), args.scale_by_count[count]);
    if (v < 0) {
      return unsupported(str("average pooling: scale ", args.scale_by_count[count].scale, " / 2^",
                             args.scale_by_count[count].shift, " for ", count,
                             " taps is outside what 64-bit arithmetic holds; shifts are 0..62"));
    }
    largest_v = std::max(largest_v, v);
  }
  if (scaled_bound(largest_v, args.output_stage.scale) < 0) {
    return unsupported(str("average pooling: output scale ", args.output_stage.scale.scale, " / 2^",
                           args.output_stage.scale.shift,
                           " is outside what 64-bit arithmetic holds; shifts are 0..62"));
  }
  return ok_status();
}

int64_t pool_units_blocked(const PoolShape& shape) {
  return int64_t{shape.batch} * channel_blocks(shape.channels) * shape.out.h;
}

int64_t pool_units_plain(const PoolShape& shape) {
  return int64_t{shape.batch} * shape.channels * shape.out.h;
}

void max_pool_i8(const PoolArgs<int8_t>& args, IndexRange units) {
  RK_DISPATCH(max_pool_i8, args, units);
}
void average_pool_i8(const AveragePoolI8Args& args, IndexRange units) {
  RK_DISPATCH(average_pool_i8, args, units);
}
void max_pool_f16(const PoolArgs<uint16_t>& args, IndexRange units) {
  RK_DISPATCH(max_pool_f16, args, units);
}
void average_pool_f16(const PoolArgs<uint16_t>& args, IndexRange units) {
  RK_DISPATCH(average_pool_f16, args, units);
}
void max_pool_f32(const PoolArgs<float>& args, IndexRange units) {
  RK_DISPATCH(max_pool_f32, args, units);
}
void average_pool_f32(const PoolArgs<float>& args, IndexRange units) {
  RK_DISPATCH(average_pool_f32, args, units);
}

}  // namespace rk::kernels
