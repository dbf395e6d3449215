// SPDX-License-Identifier: Apache-2.0
// DeformConv: a 2-D convolution whose taps are moved by offsets that are an input, read between
// pixels linearly, and optionally scaled by a mask. Offsets are [N, offset_group * KH * KW * 2, H,
// W] with the vertical one first; outside the picture lie zeros.
#include <algorithm>
#include <cmath>

#include "ops/nn/conv.h"
#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

enum Input : size_t { kX, kWeights, kOffset, kBias, kMask };

Status deform_conv_infer(InferCall& call) {
  for (const size_t i : {kWeights, kOffset, kBias, kMask}) {
    if (call.has_input(i)) RK_TRY(require_same_dtype(call, kX, i));
  }
  RK_ASSIGN(const ConvAttrs attrs, resolve_conv(call.node));
  const Shape& in = call.input(kX).shape;
  RK_ASSIGN(const Extent out, window_output(attrs.window, spatial_extent(in), false));
  const int64_t groups = call.node.i64("offset_group");
  if (groups < 1 || attrs.in_channels % groups != 0) {
    return refuse("attribute 'offset_group' is ", groups, ", expected a divisor of the ",
                  attrs.in_channels, " input channels");
  }
  const int64_t taps = attrs.window.kernel.product();
  RK_TRY(require_shape(call, kOffset, Shape{in[0], groups * taps * 2, out.h, out.w}));
  if (call.has_input(kBias)) RK_TRY(require_shape(call, kBias, Shape{attrs.out_channels}));
  if (call.has_input(kMask)) {
    RK_TRY(require_shape(call, kMask, Shape{in[0], groups * taps, out.h, out.w}));
  }
  return set_output(call, 0, call.input(kX).dtype,
                    picture_dims(in[0], attrs.out_channels, out, attrs.window.spatial_rank));
}

// The picture between its pixels; zeros around it.
double read_between(const float* plane, const Extent& in, double h, double w) {
  const auto rows = static_cast<double>(in.h);
  const auto columns = static_cast<double>(in.w);
  if (!(h > -1 && w > -1 && h < rows && w < columns)) return 0;
  const auto top = static_cast<int64_t>(std::floor(h));
  const auto left = static_cast<int64_t>(std::floor(w));
  const double dh = h - static_cast<double>(top);
  const double dw = w - static_cast<double>(left);
  const auto pixel = [&](int64_t row, int64_t column) -> double {
    if (row < 0 || row >= in.h || column < 0 || column >= in.w) return 0;
    return plane[row * in.w + column];
  };
  return (1 - dh) * ((1 - dw) * pixel(top, left) + dw * pixel(top, left + 1)) +
         dh * ((1 - dw) * pixel(top + 1, left) + dw * pixel(top + 1, left + 1));
}

// What each tap of each input channel sees at one output place: [in_channels, taps].
void gather_taps(const EvalCall& call, const ConvAttrs& attrs, int64_t n, int64_t place,
                 std::vector<double>& out) {
  const Extent in = spatial_extent(call.input(kX).shape());
  const Extent to = spatial_extent(call.output(0).shape());
  const Window& window = attrs.window;
  const int64_t taps = window.kernel.product();
  const int64_t groups = call.node.i64("offset_group");
  const float* offsets = call.input(kOffset).data<float>() + n * groups * taps * 2 * to.product();
  const float* mask = call.has_input(kMask)
                          ? call.input(kMask).data<float>() + n * groups * taps * to.product()
                          : nullptr;
  for (int64_t c = 0; c < attrs.in_channels; ++c) {
    const int64_t group = c / (attrs.in_channels / groups);
    const float* plane = call.input(kX).data<float>() + (n * attrs.in_channels + c) * in.product();
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t entry = group * taps + tap;
      const int64_t kh = tap / window.kernel.w;
      const int64_t kw = tap % window.kernel.w;
      const int64_t h = place / to.w * window.stride.h + kh * window.dilation.h - window.pads.top;
      const int64_t w = place % to.w * window.stride.w + kw * window.dilation.w - window.pads.left;
      const double value = read_between(
          plane, in, static_cast<double>(h) + offsets[2 * entry * to.product() + place],
          static_cast<double>(w) + offsets[(2 * entry + 1) * to.product() + place]);
      out[static_cast<size_t>(c * taps + tap)] =
          mask == nullptr ? value : value * mask[entry * to.product() + place];
    }
  }
}

Status deform_conv_compute(const EvalCall& call) {
  if (call.output(0).elements() == 0) return ok_status();
  const ConvAttrs attrs = conv_attrs(call.node);
  const int64_t taps = attrs.window.kernel.product();
  const int64_t in_per_group = attrs.in_channels / attrs.group;
  const int64_t out_per_group = attrs.out_channels / attrs.group;
  const int64_t out_plane = spatial_extent(call.output(0).shape()).product();
  const float* weights = call.input(kWeights).data<float>();
  float* y = call.output(0).mutable_data<float>();
  call.parallel_for(call.input(kX).shape()[0] * out_plane, 16, [&](IndexRange range) {
    std::vector<double> seen(static_cast<size_t>(attrs.in_channels * taps));
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t n = i / out_plane;
      gather_taps(call, attrs, n, i % out_plane, seen);
      for (int64_t oc = 0; oc < attrs.out_channels; ++oc) {
        const float* w = weights + oc * in_per_group * taps;
        const double* from = seen.data() + oc / out_per_group * in_per_group * taps;
        double sum = call.has_input(kBias) ? call.input(kBias).data<float>()[oc] : 0.0;
        for (int64_t k = 0; k < in_per_group * taps; ++k) sum += w[k] * from[k];
        y[(n * attrs.out_channels + oc) * out_plane + i % out_plane] = static_cast<float>(sum);
      }
    }
  });
  return ok_status();
}

Status deform_conv_reference(const EvalCall& call) { return in_f32(call, deform_conv_compute); }

}  // namespace

OpDef deform_conv() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.push_back({"group", int64_t{1}, "channels are split into this many independent groups"});
  attrs.push_back({"offset_group", int64_t{1},
                   "input channels are split into this many groups "
                   "with offsets of their own"});
  return {
      .name = "DeformConv",
      .doc = "y = convolution of x with w, whose taps are moved by offsets and scaled by a mask",
      .inputs = {{"x", floats().rank(4)},
                 {"w", floats().like(0)},
                 {"offset", floats().like(0)},
                 {"b", floats().like(0), ArgDef::kOptional},
                 {"mask", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = deform_conv_infer,
      .reference = deform_conv_reference,
      .cost = conv_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
