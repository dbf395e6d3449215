// SPDX-License-Identifier: Apache-2.0
// Int8 convolutions whose stages after the sum are not those of conv_i8: an activation by lookup table, a slope below
// zero, or channel multipliers of another unit than 2^-14. Files of the vendor's converter have them.
#include <algorithm>

#include "base/checked_math.h"
#include "kernels/conv/conv_sums.h"
#include "program/native_layout.h"
#include "runtime/host/staged_conv.h"
#include "runtime/host/stages.h"

namespace rk::runtime::host {
namespace {

using program::ConvParams;

constexpr int32_t kLanes = kernels::kHostBlock;

// Everything after the sums. All products fit int64: program::verify() has bounded them.
struct Finish {
  ConvParams p;
  program::BiasBlock channels;
  bool has_residual = false;

  int64_t look_up(int64_t v) const {
    const program::LookupStage& s = *p.lookup;
    const int64_t t = scale_round(v * s.multiplier + s.addend, 1, s.shift);
    if (t < s.start)
      return s.low.front() + scale_round(t - s.start, s.below.scale, s.below.shift);
    if (t > s.end) return s.high.back() + scale_round(t - s.end, s.above.scale, s.above.shift);
    const std::vector<int16_t>& table = t < 0 ? s.low : s.high;
    const int64_t distance = t < 0 ? t - s.start : t;
    const auto entry = static_cast<size_t>(distance >> s.entry_shift);
    if (entry + 1 >= table.size()) return table.back();
    const int64_t rest = distance & ((int64_t{1} << s.entry_shift) - 1);
    return table[entry] +
           scale_round(int64_t{table[entry + 1]} - table[entry], rest, s.entry_shift);
  }

  int64_t activate(int64_t product, size_t channel) const {
    if (p.slope && product < 0) {
      const program::SlopeStage& s = *p.slope;
      const int16_t factor = s.factor[s.factor.size() == 1 ? 0 : channel];
      return scale_round(scale_round(product, 1, s.negative_multiplier_shift), factor,
                         s.negative_shift);
    }
    const int64_t v = scale_round(product, 1, p.multiplier_shift);
    if (p.slope) return scale_round(v, 1, p.slope->positive_shift);
    if (p.lookup) return look_up(v);
    if (p.activation == program::Activation::kNone) return v;
    const int64_t positive = std::max<int64_t>(v, 0);
    return p.activation == program::Activation::kClip ? std::min(positive, p.clip_limit) : positive;
  }

  // 16 channels of one pixel.
  void operator()(const int32_t* sums, int32_t tile, const int8_t* residual, int8_t* out) const {
    for (int32_t lane = 0; lane < kLanes; ++lane) {
      const auto c = static_cast<size_t>(tile) * kLanes + static_cast<size_t>(lane);
      if (c >= channels.bias.size()) {
        out[lane] = 0;
        continue;
      }
      const int64_t product =
          (int64_t{sums[lane]} + channels.bias[c]) * channels.multiplier[c];
      int64_t v = activate(product, c);
      if (has_residual) {
        v += scale_round(int64_t{residual[lane]} + p.addend.offset, p.addend.scale.scale,
                         p.addend.scale.shift);
      }
      if (p.post_activation == program::Activation::kRelu) v = std::max<int64_t>(v, 0);
      out[lane] = saturate_i8(scale_round(v, p.output.scale.scale, p.output.scale.shift) +
                              p.output.zero_point);
    }
  }
};

}  // namespace

bool has_staged_form(const program::ConvParams& p) {
  constexpr int32_t kUsualShift = 14;  // of conv_i8
  return p.lookup || p.slope || p.multiplier_shift != kUsualShift;
}

Result<StepFunction> prepare_staged_conv(const StepContext& context, const ConvParams& p) {
  RK_ASSIGN(program::ConvConstants constants,
            program::unpack_conv_constants(context.program, context.variant, context.step));
  const Shape in = context.input(0).shape, out = context.output().shape;
  const kernels::ConvFilter filter = {.in_channels = static_cast<int32_t>(in[1]),
                                      .out_channels = static_cast<int32_t>(out[1]),
                                      .groups = p.group,
                                      .kernel = extent(p.kernel),
                                      .stride = extent(p.stride),
                                      .dilation = extent(p.dilation),
                                      .transposed = p.transposed};
  const kernels::ConvExtents extents = {
      .batch = static_cast<int32_t>(in[0]),
      .in = {static_cast<int32_t>(in[2]), static_cast<int32_t>(in[3])},
      .out = {static_cast<int32_t>(out[2]), static_cast<int32_t>(out[3])},
      .pad_before = {p.pads.top, p.pads.left}};
  RK_TRY(kernels::check_conv_extents(extents));
  const auto order =
      p.transposed ? kernels::WeightOrder::kIohw : kernels::WeightOrder::kOihw;
  RK_ASSIGN(kernels::ConvSums made,
            kernels::ConvSums::make(filter, order, constants.weights.data(),
                                    constants.channels.offset.data(), p.pad_value));
  const auto sums = std::make_shared<const kernels::ConvSums>(std::move(made));
  const auto finish = std::make_shared<const Finish>(
      Finish{p, std::move(constants.channels), context.has_input(3)});
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  const int32_t residual = context.has_input(3) ? context.step.inputs[3] : program::kNone;
  const int32_t tiles = kernels::channel_blocks(filter.out_channels);
  const int64_t rows = int64_t{extents.batch} * tiles * extents.out.h;
  const int64_t cost = int64_t{extents.out.w} *
                       (int64_t{filter.in_per_group()} * filter.kernel.h * filter.kernel.w + 64);
  return StepFunction([=](const StepCall& call) {
    call.parallel(
        rows, cost,
        [&](IndexRange range) {
          std::vector<int32_t> row(static_cast<size_t>(extents.out.w) * kLanes);
          for (int64_t unit = range.begin; unit < range.end; ++unit) {
            const int64_t oy = unit % extents.out.h, plane = unit / extents.out.h;
            const auto tile = static_cast<int32_t>(plane % tiles);
            sums->row(call.data<int8_t>(input), extents, plane / tiles, tile, oy, row.data());
            const int64_t at = unit * extents.out.w * kLanes;
            for (int64_t ox = 0; ox < extents.out.w; ++ox) {
              const int8_t* const e = residual == program::kNone
                                          ? nullptr
                                          : call.data<int8_t>(residual) + at + ox * kLanes;
              (*finish)(row.data() + ox * kLanes, tile, e,
                        call.data<int8_t>(output) + at + ox * kLanes);
            }
          }
        },
        1);
    return ok_status();
  });
}

}  // namespace rk::runtime::host
