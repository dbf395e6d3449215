// SPDX-License-Identifier: Apache-2.0
// One walk over windows serves every pooling kernel: a pooling is a struct that says how a window starts, takes a tap and
// ends. Blocked layouts have 16 lanes per pixel, the plain one has 1.
//
// In an anonymous namespace on purpose: each variant includes this under its own compiler flags, after pool.h.
#pragma once

namespace rk::kernels {
namespace {

// Taps of one window along one axis that lie inside the input, and how many the average counts.
struct Span {
  int64_t begin;  // first tap
  int64_t end;
  int64_t start;    // coordinate of tap 0
  int64_t counted;  // taps for count_include_pad
};

// The number of taps with start + tap * dilation < limit, at most kernel.
int64_t taps_below(int64_t limit, int64_t start, int64_t dilation, int64_t kernel) {
  if (start >= limit) return 0;
  const int64_t count = (limit - start + dilation - 1) / dilation;
  return count < kernel ? count : kernel;
}

Span span_of(int64_t out, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
             int64_t pad_before, int64_t pad_after) {
  const int64_t start = out * stride - pad_before;
  return {taps_below(0, start, dilation, kernel), taps_below(in, start, dilation, kernel), start,
          taps_below(in + pad_after, start, dilation, kernel)};
}

// Where one unit reads and writes.
template <typename T>
struct UnitPlace {
  int64_t oy;
  const T* input;  // the plane
  T* output;       // the row
};

template <int kLanes, typename T>
UnitPlace<T> place_of(const PoolArgs<T>& args, int64_t planes, int64_t unit) {
  const PoolShape& s = args.shape;
  const int64_t in_plane = int64_t{s.in.h} * s.in.w * kLanes;
  const int64_t out_row = int64_t{s.out.w} * kLanes;
  const int64_t in_stride =
      args.input_batch_stride != 0 ? args.input_batch_stride : planes * in_plane;
  const int64_t out_stride =
      args.output_batch_stride != 0 ? args.output_batch_stride : planes * s.out.h * out_row;
  const int64_t oy = unit % s.out.h, plane = unit / s.out.h % planes;
  const int64_t n = unit / s.out.h / planes;
  return {oy, args.input + n * in_stride + plane * in_plane,
          args.output + n * out_stride + (plane * s.out.h + oy) * out_row};
}

// Calls pooling.start(), take(pixel) for each tap inside, finish(count, pixel) for each output pixel of the units.
template <int kLanes, typename T, typename Pooling>
void walk(const PoolArgs<T>& args, int64_t planes, IndexRange units, Pooling&& pooling) {
  const PoolShape& s = args.shape;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const auto [oy, input, output] = place_of<kLanes>(args, planes, unit);
    const Span y =
        span_of(oy, s.in.h, s.kernel.h, s.stride.h, s.dilation.h, s.pad_before.h, s.pad_after.h);
    for (int64_t ox = 0; ox < s.out.w; ++ox) {
      const Span x =
          span_of(ox, s.in.w, s.kernel.w, s.stride.w, s.dilation.w, s.pad_before.w, s.pad_after.w);
      pooling.start();
      for (int64_t ky = y.begin; ky < y.end; ++ky) {
        const T* const row = input + (y.start + ky * s.dilation.h) * s.in.w * kLanes;
        for (int64_t kx = x.begin; kx < x.end; ++kx) {
          pooling.take(row + (x.start + kx * s.dilation.w) * kLanes);
        }
      }
      const int64_t inside = (y.end - y.begin) * (x.end - x.begin);
      pooling.finish(inside, s.count_include_pad ? y.counted * x.counted : inside,
                     output + ox * kLanes);
    }
  }
}

}  // namespace
}  // namespace rk::kernels
