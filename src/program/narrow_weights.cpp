// SPDX-License-Identifier: Apache-2.0
#include "program/narrow_weights.h"

#include <algorithm>
#include <cmath>

#include "base/fixed_point.h"

namespace rk::program {
namespace {

// Where a weight's scale stands: weights of one channel come in order, so a counter per channel finds the run.
class GroupOf {
 public:
  GroupOf(int64_t channels, int64_t per_channel, int64_t groups)
      : seen_(static_cast<size_t>(channels)),
        groups_(static_cast<size_t>(groups)),
        run_(static_cast<size_t>((per_channel + groups - 1) / groups)) {}
  size_t operator()(int32_t channel) {
    const auto c = static_cast<size_t>(channel);
    return c * groups_ + std::min(seen_[c]++ / run_, groups_ - 1);
  }

 private:
  std::vector<size_t> seen_;
  size_t groups_, run_;
};

}  // namespace

uint64_t narrow_size_bytes(DType dtype, int64_t count) {
  const auto n = static_cast<uint64_t>(count);
  return dtype == DType::kI4 ? (n + 1) / 2 : n;
}

NarrowWeights narrow_weights(std::span<const float> weights, std::span<const int32_t> channel_of,
                             int64_t channels, const NarrowSpec& spec) {
  NarrowWeights out;
  out.dtype = spec.bits == 4 ? DType::kI4 : DType::kI8;
  const auto count = static_cast<int64_t>(weights.size());
  const int64_t per_channel = std::max<int64_t>(count / std::max<int64_t>(channels, 1), 1);
  if (spec.group > 0 && !spec.per_layer) out.groups = (per_channel + spec.group - 1) / spec.group;
  const auto runs = static_cast<size_t>(channels * out.groups);
  std::vector<double> low(runs), high(runs);
  GroupOf group_of(channels, per_channel, out.groups);
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t g = group_of(channel_of[i]);
    if (!std::isfinite(weights[i])) continue;
    low[g] = std::min<double>(low[g], weights[i]);
    high[g] = std::max<double>(high[g], weights[i]);
  }
  if (spec.per_layer) {
    std::ranges::fill(low, *std::ranges::min_element(low));
    std::ranges::fill(high, *std::ranges::max_element(high));
  }
  const bool symmetric = spec.bits == 4;
  const int least = symmetric ? -8 : -128, most = symmetric ? 7 : 127;
  out.constants.resize(2 * runs);
  for (size_t g = 0; g < runs; ++g) {
    const double range = symmetric ? std::max(-low[g], high[g]) / most : (high[g] - low[g]) / 255;
    const double scale = range > 0 ? range : 1;
    out.constants[g] = static_cast<float>(scale);
    const double zero =
        symmetric ? 0 : std::clamp<double>(round_even(least - low[g] / scale), least, most);
    out.constants[runs + g] = static_cast<float>(zero);
  }
  out.bytes.assign(narrow_size_bytes(out.dtype, count), 0);
  GroupOf again(channels, per_channel, out.groups);
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t g = again(channel_of[i]);
    const double x = std::isfinite(weights[i]) ? weights[i] : 0;
    const double stored = round_even(x / out.constants[g]) + out.constants[runs + g];
    const int q = static_cast<int>(std::clamp<double>(stored, least, most));
    if (out.dtype == DType::kI8) {
      out.bytes[i] = static_cast<uint8_t>(q);
    } else {
      out.bytes[i / 2] |= static_cast<uint8_t>((q & 15) << (i % 2 * 4));
    }
  }
  return out;
}

std::vector<float> widen_weights(DType dtype, ByteSpan bytes, std::span<const float> constants,
                                 std::span<const int32_t> channel_of, int64_t channels) {
  const size_t runs = constants.size() / 2;
  const auto count = static_cast<int64_t>(channel_of.size());
  GroupOf group_of(channels, std::max<int64_t>(count / channels, 1),
                   static_cast<int64_t>(runs) / channels);
  std::vector<float> out(channel_of.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t g = group_of(channel_of[i]);
    int q = 0;
    if (dtype == DType::kI8) {
      q = static_cast<int8_t>(bytes[i]);
    } else {
      q = bytes[i / 2] >> (i % 2 * 4) & 15;
      if (q >= 8) q -= 16;
    }
    out[i] = (static_cast<float>(q) - constants[runs + g]) * constants[g];
  }
  return out;
}

std::vector<int32_t> output_channels(const Shape& weight, const ConvParams& params,
                                     int64_t in_channels, int64_t out_channels) {
  const int64_t taps = weight[2] * weight[3], second = weight[1];
  const int64_t in_per_group = in_channels / params.group,
                out_per_group = out_channels / params.group;
  std::vector<int32_t> out(static_cast<size_t>(weight.elements()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / taps;
    const int64_t channel = params.transposed
                                ? row / second / in_per_group * out_per_group + row % second
                                : row / second;
    out[i] = static_cast<int32_t>(channel);
  }
  return out;
}

}  // namespace rk::program
