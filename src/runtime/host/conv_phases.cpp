// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/conv_phases.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "kernels/layout/blocked.h"

namespace rk::runtime::host {
namespace {

// From here on the zeros between the pixels cost more than placing the results.
constexpr int64_t kLongSteps = 8;
// A kernel shorter than its stride has phases without a tap.
constexpr int64_t kMostGrowth = 3;
constexpr int64_t kMostChannels = 1 << 20;

int32_t taps_of_phase(int32_t kernel, int32_t stride) { return ceil_div(kernel, stride); }

// Calls visit(output channel of the plain form, channel, row, column, tap of the given kernel or -1).
template <typename Visit>
void for_each_tap(const ConvPhases& p, Visit visit) {
  const kernels::Extent2 kernel = p.given.kernel, stride = p.given.stride, taps = p.filter.kernel;
  for (int32_t rh = 0; rh < stride.h; ++rh) {
    for (int32_t rw = 0; rw < stride.w; ++rw) {
      for (int32_t oc = 0; oc < p.given.out_channels; ++oc) {
        const int32_t channel = (rh * stride.w + rw) * p.phase_channels + oc;
        for (int32_t y = 0; y < taps.h; ++y) {
          for (int32_t x = 0; x < taps.w; ++x) {
            // The first tap of the plain kernel reads the pixel that lies furthest before.
            const int32_t kh = rh + (taps.h - 1 - y) * stride.h;
            const int32_t kw = rw + (taps.w - 1 - x) * stride.w;
            const bool exists = kh < kernel.h && kw < kernel.w;
            visit(channel, oc, y, x, exists ? kh * kernel.w + kw : -1);
          }
        }
      }
    }
  }
}

// Plain weights [channel][in][y][x]; `from` is [in][out][kernel]. Channels that only fill a block stay as they are.
template <typename T, typename Empty>
void spread_weights(const ConvPhases& p, const T* from, Empty empty, std::vector<T>& to) {
  const int64_t taps = int64_t{p.filter.kernel.h} * p.filter.kernel.w;
  const int64_t kernel = int64_t{p.given.kernel.h} * p.given.kernel.w;
  const int64_t in = p.given.in_channels, out = p.given.out_channels;
  to.assign(static_cast<size_t>(p.filter.out_channels * in * taps), T{0});
  for_each_tap(p, [&](int32_t channel, int32_t oc, int32_t y, int32_t x, int32_t tap) {
    for (int64_t ic = 0; ic < in; ++ic) {
      T& at = to[static_cast<size_t>((channel * in + ic) * taps + y * p.filter.kernel.w + x)];
      at = tap < 0 ? empty(oc) : from[(ic * out + oc) * kernel + tap];
    }
  });
}

template <typename T>
std::vector<T> repeated(const ConvPhases& p, const T* from) {
  std::vector<T> to(static_cast<size_t>(p.filter.out_channels), T{0});
  for (int32_t phase = 0; phase < p.given.stride.h * p.given.stride.w; ++phase) {
    std::copy_n(from, p.given.out_channels,
                to.begin() + static_cast<std::ptrdiff_t>(phase) * p.phase_channels);
  }
  return to;
}

// One row of blocks of the output: picks each pixel's lanes from its phase.
template <typename T>
void place_row(const ConvPhases& p, const T* from, T* to, int64_t picture, int64_t block,
               int32_t y) {
  constexpr int32_t kLanes = kernels::kHostBlock;
  const kernels::ConvExtents& e = p.target;
  const int64_t blocks = kernels::channel_blocks(p.given.out_channels);
  const int64_t held = kernels::channel_blocks(p.filter.out_channels);
  const kernels::Extent2 stride = p.given.stride, made = p.extents.out;
  const int32_t at_y = y + e.pad_before.h;
  const int32_t phase_y = at_y % stride.h, row = at_y / stride.h - p.first.h;
  const auto lanes = std::min<int64_t>(kLanes, p.given.out_channels - block * kLanes);
  T* out = to + ((picture * blocks + block) * e.out.h + y) * e.out.w * kLanes;
  const T* const base = from + picture * held * made.h * made.w * kLanes;
  for (int32_t x = 0; x < e.out.w; ++x, out += kLanes) {
    const int32_t at_x = x + e.pad_before.w;
    const int32_t phase = phase_y * stride.w + at_x % stride.w;
    const int64_t pixel = int64_t{row} * made.w + at_x / stride.w - p.first.w;
    const int64_t channel = int64_t{phase} * p.phase_channels + block * kLanes;
    const auto at = [&](int64_t c) {
      return base + ((c / kLanes) * made.h * made.w + pixel) * kLanes + c % kLanes;
    };
    if (channel % kLanes == 0) {
      std::memcpy(out, at(channel), kLanes * sizeof(T));
      continue;
    }
    for (int64_t lane = 0; lane < lanes; ++lane) out[lane] = *at(channel + lane);
    std::fill(out + lanes, out + kLanes, T{0});
  }
}

template <typename T>
void place(const ConvPhases& p, const T* from, T* to, const StepCall& call) {
  const int64_t blocks = kernels::channel_blocks(p.given.out_channels);
  const int64_t rows = p.target.out.h;
  call.parallel(p.target.batch * blocks * rows, int64_t{p.target.out.w} * 4, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i)
      place_row(p, from, to, i / rows / blocks, i / rows % blocks, static_cast<int32_t>(i % rows));
  });
}

int64_t made_elements(const ConvPhases& p) {
  return kernels::blocked_elements({p.extents.batch, p.filter.out_channels, p.extents.out});
}

int64_t unit_cost(const ConvPhases& p, int64_t units, double rate) {
  const double products = static_cast<double>(p.extents.batch) * p.extents.out.h * p.extents.out.w *
                          p.filter.in_channels * p.filter.out_channels * p.filter.kernel.h *
                          p.filter.kernel.w;
  return static_cast<int64_t>(std::min(products / (rate * static_cast<double>(units)), 1e9)) + 1;
}

template <typename T, typename Args, typename Packed>
StepFunction run_as(const ConvPhases& phases, DType dtype, double rate,
                    std::shared_ptr<const Packed> packed, int32_t input, int32_t output,
                    int64_t (*count)(const Args&), void (*convolve)(const Args&, IndexRange)) {
  return [=](const StepCall& call) -> Status {
    RK_ASSIGN(Tensor made, call.scratch->take({dtype, {made_elements(phases)}}));
    Args args;
    args.packed = packed.get();
    args.extents = phases.extents;
    args.input = call.data<T>(input);
    args.output = made.mutable_data<T>();
    const int64_t units = count(args);
    call.parallel(units, unit_cost(phases, units, rate),
                  [&](IndexRange range) { convolve(args, range); });
    place<T>(phases, args.output, call.data<T>(output), call);
    call.scratch->give(std::move(made));
    return ok_status();
  };
}

}  // namespace

std::optional<ConvPhases> find_phases(const kernels::ConvFilter& filter,
                                      const kernels::ConvExtents& extents, bool has_residual) {
  const kernels::Extent2 stride = filter.stride, kernel = filter.kernel;
  // What is not legal is refused where it is packed.
  if (!kernels::check_conv_filter(filter).ok() || !kernels::check_conv_extents(extents).ok() ||
      extents.pad_before.h < 0 || extents.pad_before.w < 0)
    return std::nullopt;
  if (!filter.transposed || filter.groups != 1 || has_residual ||
      filter.dilation != kernels::Extent2{1, 1})
    return std::nullopt;
  const int64_t count = int64_t{stride.h} * stride.w;
  if (count < kLongSteps || count > kMostChannels) return std::nullopt;
  ConvPhases p{.filter = filter, .extents = extents, .given = filter, .target = extents};
  p.filter.transposed = false;
  p.filter.stride = {1, 1};
  p.filter.kernel = {taps_of_phase(kernel.h, stride.h), taps_of_phase(kernel.w, stride.w)};
  const bool whole_blocks = filter.out_channels >= kernels::kHostBlock;
  p.phase_channels =
      whole_blocks ? align_up(filter.out_channels, kernels::kHostBlock) : filter.out_channels;
  const int64_t channels = count * p.phase_channels;
  if (channels > kMostChannels) return std::nullopt;
  p.filter.out_channels = static_cast<int32_t>(channels);
  const int64_t taps = int64_t{p.filter.kernel.h} * p.filter.kernel.w;
  const int64_t given = int64_t{filter.out_channels} * kernel.h * kernel.w;
  if (channels * taps > kMostGrowth * given) return std::nullopt;

  const auto fit = [](int32_t pad, int32_t out, int32_t step, int32_t reach, int32_t& first,
                      int32_t& extent, int32_t& before) {
    // Pixels before the first that the kernel reaches would be a negative pad.
    first = std::min(pad / step, reach - 1);
    const int64_t last = (int64_t{out} - 1 + pad) / step;
    extent = static_cast<int32_t>(last - first + 1);
    before = reach - 1 - first;
  };
  fit(extents.pad_before.h, extents.out.h, stride.h, p.filter.kernel.h, p.first.h, p.extents.out.h,
      p.extents.pad_before.h);
  fit(extents.pad_before.w, extents.out.w, stride.w, p.filter.kernel.w, p.first.w, p.extents.out.w,
      p.extents.pad_before.w);
  return p;
}

void to_phases(const ConvPhases& phases, kernels::ConvF16Params& params, PhaseConstantsF16& held) {
  if (params.weights_f16 != nullptr) {
    spread_weights(
        phases, params.weights_f16, [](int32_t) { return uint16_t{0}; }, held.half);
    params.weights_f16 = held.half.data();
  } else {
    spread_weights(
        phases, params.weights_f32, [](int32_t) { return 0.0f; }, held.whole);
    params.weights_f32 = held.whole.data();
  }
  if (params.bias != nullptr) {
    held.bias = repeated(phases, params.bias);
    params.bias = held.bias.data();
  }
  params.filter = phases.filter;
  params.order = kernels::WeightOrder::kOihw;
  params.output_pixels =
      int64_t{phases.extents.batch} * phases.extents.out.h * phases.extents.out.w;
}

bool to_phases(const ConvPhases& phases, kernels::ConvI8Params& params, PhaseConstantsI8& held) {
  const auto channels = static_cast<size_t>(phases.given.out_channels);
  std::vector<int16_t> offset(channels, 0);
  if (params.weight_offset != nullptr) std::copy_n(params.weight_offset, channels, offset.begin());
  // A tap that a phase does not have multiplies by w + o = 0.
  for (const int16_t o : offset) {
    if (-o < -128 || -o > 127) return false;
  }
  spread_weights(
      phases, params.weights,
      [&](int32_t oc) { return static_cast<int8_t>(-offset[static_cast<size_t>(oc)]); },
      held.weights);
  // The bias counts on a zero point under every tap of the kernel; those of other phases are added here.
  std::vector<int32_t> bias(channels, 0);
  if (params.bias != nullptr) std::copy_n(params.bias, channels, bias.begin());
  const int64_t in = phases.given.in_channels, out = phases.given.out_channels;
  const int64_t kernel = int64_t{phases.given.kernel.h} * phases.given.kernel.w;
  std::vector<int64_t> all(channels, 0);
  const auto sum_of = [&](int64_t oc, int64_t tap) {
    int64_t sum = 0;
    for (int64_t ic = 0; ic < in; ++ic)
      sum += params.weights[(ic * out + oc) * kernel + tap] + offset[static_cast<size_t>(oc)];
    return sum;
  };
  for (int64_t oc = 0; oc < out; ++oc) {
    for (int64_t tap = 0; tap < kernel; ++tap) all[static_cast<size_t>(oc)] += sum_of(oc, tap);
  }
  std::vector<int64_t> own(static_cast<size_t>(phases.filter.out_channels), 0);
  for_each_tap(phases, [&](int32_t channel, int32_t oc, int32_t, int32_t, int32_t tap) {
    if (tap >= 0) own[static_cast<size_t>(channel)] += sum_of(oc, tap);
  });
  held.bias = repeated(phases, bias.data());
  for (int32_t phase = 0; phase < phases.given.stride.h * phases.given.stride.w; ++phase) {
    for (int32_t oc = 0; oc < phases.given.out_channels; ++oc) {
      const auto channel = static_cast<size_t>(phase * phases.phase_channels + oc);
      const int64_t missing = all[static_cast<size_t>(oc)] - own[channel];
      const int64_t full = held.bias[channel] + params.input_zero_point * missing;
      if (full != static_cast<int32_t>(full)) return false;
      held.bias[channel] = static_cast<int32_t>(full);
    }
  }
  held.offset = repeated(phases, offset.data());
  held.multiplier = repeated(phases, params.multiplier);
  params.weights = held.weights.data();
  params.weight_offset = held.offset.data();
  params.bias = held.bias.data();
  params.multiplier = held.multiplier.data();
  params.filter = phases.filter;
  params.order = kernels::WeightOrder::kOihw;
  params.usual_output = phases.extents.out;
  return true;
}

StepFunction run_phases(const ConvPhases& phases,
                        std::shared_ptr<const kernels::PackedConvF16> packed, int32_t input,
                        int32_t output) {
  return run_as<uint16_t, kernels::ConvF16Args>(phases, DType::kF16, 16, std::move(packed), input,
                                                output, kernels::conv_f16_units, kernels::conv_f16);
}

StepFunction run_phases(const ConvPhases& phases,
                        std::shared_ptr<const kernels::PackedConvI8> packed, int32_t input,
                        int32_t output) {
  return run_as<int8_t, kernels::ConvI8Args>(phases, DType::kI8, 64, std::move(packed), input,
                                             output, kernels::conv_i8_units, kernels::conv_i8);
}

}  // namespace rk::runtime::host
