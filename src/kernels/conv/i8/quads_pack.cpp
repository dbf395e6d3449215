// SPDX-License-Identifier: Apache-2.0
// Packing for quads.h: which quads of weights may share an int16 sum.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/conv/common/bands.h"
#include "kernels/conv/i8/exact_stages.h"
#include "kernels/conv/i8/pack_lanes.h"
#include "kernels/conv/i8/quads.h"
#include "kernels/conv/i8/winograd_form.h"

namespace rk::kernels::quads {
namespace {

constexpr int32_t kSums = 2 * kHostBlock;  // 16-bit sums of a step: two per output channel

// A step and how much of kSafe its sums use, per sign.
struct Step {
  uint16_t place = 0;
  std::array<int8_t, kStepBytes> weights{};
  std::array<uint8_t, kSums> positive{}, negative{};
  int32_t heaviest = 0;

  bool empty() const { return heaviest == 0; }
  // Fills the sums. False where one pair alone could saturate.
  bool weigh() {
    heaviest = 0;
    for (int32_t i = 0; i < kSums; ++i) {
      int32_t more = 0, less = 0;
      for (int32_t k = 0; k < 2; ++k) {
        const int32_t w = weights[static_cast<size_t>(2 * i + k)];
        (w > 0 ? more : less) += w > 0 ? w : -w;
      }
      if (more > kSafe || less > kSafe) return false;
      positive[static_cast<size_t>(i)] = static_cast<uint8_t>(more);
      negative[static_cast<size_t>(i)] = static_cast<uint8_t>(less);
      heaviest = std::max({heaviest, more, less});
    }
    return true;
  }
  bool fits_with(const Step& other) const {
    bool fits = true;
    for (size_t i = 0; i < kSums; ++i) {
      fits &= positive[i] + other.positive[i] <= kSafe && negative[i] + other.negative[i] <= kSafe;
    }
    return fits;
  }
};

// Where the two weights of a pair are too heavy, what is too much of them goes to a second step, which is light.
void add_step(const Step& step, std::vector<Step>& steps) {
  Step whole = step;
  if (!whole.weigh()) {
    Step rest;
    rest.place = step.place;
    for (size_t i = 0; i < kStepBytes; i += 2) {
      const int32_t a = whole.weights[i], b = whole.weights[i + 1];
      // A pair of one sign: its second weight keeps what the first leaves.
      const int32_t kept = a + b > kSafe ? kSafe - a : a + b < -kSafe ? -kSafe - a : b;
      if ((a > 0) != (b > 0) || kept == b) continue;
      whole.weights[i + 1] = static_cast<int8_t>(kept);
      rest.weights[i + 1] = static_cast<int8_t>(b - kept);
    }
    whole.weigh();
    rest.weigh();
    steps.push_back(rest);
  }
  if (!whole.empty()) steps.push_back(whole);
}

// Indices of steps, the heaviest first.
std::vector<uint32_t> by_weight(const std::vector<Step>& steps) {
  std::array<uint32_t, kSafe + 2> begin{};
  for (const Step& s : steps) ++begin[static_cast<size_t>(kSafe - s.heaviest + 1)];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<uint32_t> order(steps.size());
  for (uint32_t i = 0; i < steps.size(); ++i)
    order[begin[static_cast<size_t>(kSafe - steps[i].heaviest)]++] = i;
  return order;
}

// An untaken step behind `at` that may be added to it: first among those of complementary weight, then the lightest.
// Its place in `order`, or the end.
size_t find_partner(const std::vector<Step>& steps, const std::vector<uint32_t>& order,
                    const std::vector<bool>& taken, size_t at) {
  constexpr int32_t kUsual = 190;  // sums of two steps are seldom heaviest in the same lane
  constexpr int kTries = 24, kLastTries = 8;
  const Step& step = steps[order[at]];
  const auto first = std::partition_point(
      order.begin() + static_cast<ptrdiff_t>(at) + 1, order.end(),
      [&](uint32_t i) { return steps[i].heaviest > kUsual - step.heaviest; });
  int tries = 0;
  for (auto i = static_cast<size_t>(first - order.begin()); i < order.size() && tries < kTries; ++i) {
    if (taken[i]) continue;
    if (step.fits_with(steps[order[i]])) return i;
    ++tries;
  }
  tries = 0;
  for (size_t i = order.size(); i-- > at + 1 && tries < kLastTries;) {
    if (taken[i]) continue;
    if (step.fits_with(steps[order[i]])) return i;
    ++tries;
  }
  return order.size();
}

// The order of steps: doubles first, then what stays alone.
struct Arranged {
  BlockSteps counts;
  std::vector<uint32_t> order;
};
Arranged arrange(const std::vector<Step>& steps) {
  const std::vector<uint32_t> order = by_weight(steps);
  std::vector<uint32_t> doubles, singles;
  std::vector<bool> taken(steps.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (taken[i]) continue;
    taken[i] = true;
    const size_t partner = find_partner(steps, order, taken, i);
    if (partner == order.size()) {
      singles.push_back(order[i]);
      continue;
    }
    taken[partner] = true;
    doubles.push_back(order[i]);
    doubles.push_back(order[partner]);
  }
  const BlockSteps counts = {0, static_cast<uint32_t>(doubles.size() / 2),
                             static_cast<uint32_t>(singles.size())};
  doubles.insert(doubles.end(), singles.begin(), singles.end());
  return {counts, std::move(doubles)};
}

bool offsets_fold(const ConvI8Params& source) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int32_t offset = weight_offset_of(source, oc);
    if (offset == 0) continue;
    for (int32_t i = 0; i < f.in_channels; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int32_t w =
            source.weights[plain_weight_index(f, source.order, oc, i, tap)] + offset;
        if (w < -128 || w > 127) return false;
      }
    }
  }
  return true;
}

std::vector<Step> steps_of_block(const ConvI8Params& source, bool fold, int32_t block,
                                 int32_t* sums) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  const int32_t lanes = lanes_of_block(f.out_channels, block);
  // From one input channel or output channel to the next; without groups these are constant.
  const bool output_first = source.order == WeightOrder::kOihw;
  const int64_t in_step = output_first ? taps : f.out_channels * taps;
  const int64_t out_step = output_first ? f.in_channels * taps : taps;
  std::vector<Step> steps;
  steps.reserve(static_cast<size_t>((f.in_channels + 3) / 4 * taps));
  for (int32_t in = 0; in < f.in_channels; in += 4) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      Step step;
      step.place = static_cast<uint16_t>((in / kHostBlock * taps + tap) * 4 + in % kHostBlock / 4);
      for (int32_t lane = 0; lane < lanes; ++lane) {
        const int32_t oc = block * kHostBlock + lane;
        const int32_t offset = fold ? weight_offset_of(source, oc) : 0;
        for (int32_t k = 0; k < 4 && in + k < f.in_channels; ++k) {
          const int32_t w = source.weights[oc * out_step + (in + k) * in_step + tap] + offset;
          step.weights[static_cast<size_t>(lane * 4 + k)] = static_cast<int8_t>(w);
          sums[lane] += w;
        }
      }
      add_step(step, steps);
    }
  }
  return steps;
}

// Multiplications beside those of int16 factors, judged by one block of output channels.
double products_per_int16(const ConvI8Params& params) {
  const ConvFilter& f = params.filter;
  int32_t sums[kHostBlock] = {};
  const int32_t block = channel_blocks(f.out_channels) / 2;
  const BlockSteps counts =
      arrange(steps_of_block(params, offsets_fold(params), block, sums)).counts;
  const double quads = static_cast<double>((f.in_channels + 3) / 4) * f.kernel.h * f.kernel.w;
  return (3.0 * counts.doubles + 2.0 * counts.singles) / (2.0 * quads);
}

}  // namespace

bool accepts(const PackedConvI8& packed) {
  const ConvI8Params& p = packed.params;
  const ConvFilter& f = p.filter;
  const int64_t blocks = channel_blocks(f.in_channels);
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  return !packed.wide && f.groups == 1 && p.output.zero_point >= -128 &&
         p.output.zero_point <= 127 && taps <= kMaxPlaces && blocks <= kMaxPlaces &&
         blocks * taps * 4 <= kMaxPlaces && fits_bands(f, kScratchPixels / blocks);
}

// Not where Winograd's form takes a quarter of the products, nor where weights are too heavy.
bool pays(const ConvI8Params& params) {
  const ConvFilter& f = params.filter;
  const auto is = [](Extent2 extent, int32_t value) {
    return extent.h == value && extent.w == value;
  };
  // Measured on Zen 3: int16 factors take twice the loads and more scratch, which weighs most in short sums.
  const double worth = int64_t{f.in_channels} * f.kernel.h * f.kernel.w <= 256 ? 1.8 : 1.45;
  if (f.groups != 1 || products_per_int16(params) > worth) return false;
  if (!is(f.kernel, 3) || !is(f.stride, 1) || !is(f.dilation, 1) || f.transposed) return true;
  const Extent2 out = params.usual_output;
  if (out.h == 0 || out.w == 0) return f.in_channels < 32;
  // Its weights are 36 numbers of 16 bits; small pictures wait for them where they exceed the second-level cache.
  constexpr int64_t kWeightBytes = 72, kCacheBytes = 4 << 20, kSmall = 256;
  if (kWeightBytes * f.in_channels * f.out_channels > kCacheBytes && out.h * out.w <= kSmall)
    return true;
  const auto patches =
      static_cast<double>(winograd::patches_along(out.h) * winograd::patches_along(out.w));
  const double cost =
      patches * winograd::kPoints * (1 + 20.0 / f.out_channels + 30.0 / f.in_channels);
  return cost >= 0.7 * winograd::kTaps * out.h * out.w;
}

Status pack(const ConvI8Params& source, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  const ExactRoutes routes = exact_routes(packed);
  if (!routes.in_double) {
    return unsupported("a stage could leave the range of exact doubles");
  }
  const bool fold = offsets_fold(source);
  const int32_t blocks = channel_blocks(f.out_channels);
  const auto channels = static_cast<size_t>(align_up(f.out_channels, kTile));
  std::vector<BlockSteps> counts;
  std::vector<uint16_t> all_places;
  std::vector<uint8_t> all_weights;
  std::vector<int32_t> sums(channels);
  for (int32_t block = 0; block < blocks; ++block) {
    const std::vector<Step> steps =
        steps_of_block(source, fold, block, sums.data() + block * kHostBlock);
    const Arranged arranged = arrange(steps);
    counts.push_back(arranged.counts);
    counts.back().first = static_cast<uint32_t>(all_places.size());
    for (const uint32_t i : arranged.order) {
      all_places.push_back(steps[i].place);
      const auto* const bytes = reinterpret_cast<const uint8_t*>(steps[i].weights.data());
      all_weights.insert(all_weights.end(), bytes, bytes + kStepBytes);
    }
  }
  const uint64_t total = all_places.size();
  // Header, offsets and scales and starts per channel, counts per block, places per step.
  constexpr uint64_t kHeader = 128;
  static_assert(sizeof(Constants) <= kHeader);
  const uint64_t bytes = kHeader + channels * 12 + counts.size() * sizeof(BlockSteps) + total * 2;
  RK_ASSIGN(packed.constants, Buffer::try_make(bytes, kMaxObjectBytes));
  RK_ASSIGN(packed.weights, Buffer::try_make(total * kStepBytes, kMaxObjectBytes));
  uint8_t* at = packed.constants.data() + kHeader;
  auto* const scale = reinterpret_cast<float*>(at);
  auto* const offset = reinterpret_cast<int32_t*>(at + channels * 4);
  auto* const start = reinterpret_cast<int32_t*>(at + channels * 8);
  auto* const block_steps = reinterpret_cast<BlockSteps*>(at + channels * 12);
  auto* const places =
      reinterpret_cast<uint16_t*>(at + channels * 12 + counts.size() * sizeof(BlockSteps));
  Constants constants;
  constants.lanes.weight_bytes = 1;
  constants.lanes.float_route = routes.in_float;
  constants.lanes.scale = scale;
  constants.lanes.stages = stage_constants(packed);
  constants.lanes.totals = fold ? nullptr : offset;
  constants.blocks = block_steps;
  constants.places = places;
  constants.start = start;
  const auto* const bias = reinterpret_cast<const int32_t*>(packed.bias.data());
  const bool bias_first = fold && constants.lanes.float_route;  // else the stages add it
  for (int32_t c = 0; c < f.out_channels; ++c) {
    const auto i = static_cast<size_t>(c);
    scale[i] = std::ldexp(static_cast<float>(multiplier[i]), -source.multiplier_shift);
    offset[i] = weight_offset_of(source, c);
    // Modulo 2^32, which the true sum fits.
    start[i] = static_cast<int32_t>((bias_first ? static_cast<uint32_t>(bias[i]) : 0u) -
                                    128u * static_cast<uint32_t>(sums[i]));
  }
  std::copy(counts.begin(), counts.end(), block_steps);
  std::copy(all_places.begin(), all_places.end(), places);
  std::copy(all_weights.begin(), all_weights.end(), packed.weights.data());
  std::memcpy(packed.constants.data(), &constants, sizeof constants);
  return ok_status();
}

void unpack(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain) {
  const ConvI8Params& p = packed.params;
  const ConvFilter& f = p.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  Constants constants;
  std::memcpy(&constants, packed.constants.data(), sizeof constants);
  const bool folded = constants.lanes.totals == nullptr;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int32_t added = folded && weight_offset != nullptr ? weight_offset[oc] : 0;
    for (int32_t i = 0; i < f.in_channels; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap)
        plain[plain_weight_index(f, p.order, oc, i, tap)] = static_cast<int8_t>(-added);
    }
  }
  for (int32_t block = 0; block < channel_blocks(f.out_channels); ++block) {
    const BlockSteps& counts = constants.blocks[block];
    const uint64_t end = counts.first + 2 * uint64_t{counts.doubles} + counts.singles;
    for (uint64_t step = counts.first; step < end; ++step) {
      const int64_t place = constants.places[step];
      const auto* const w =
          reinterpret_cast<const int8_t*>(packed.weights.data()) + step * kStepBytes;
      const auto in = static_cast<int32_t>(place / 4 / taps * kHostBlock + place % 4 * 4);
      for (int32_t lane = 0; lane < lanes_of_block(f.out_channels, block); ++lane) {
        for (int32_t k = 0; k < 4 && in + k < f.in_channels; ++k) {
          int8_t& to = plain[plain_weight_index(f, p.order, block * kHostBlock + lane, in + k,
                                                place / 4 % taps)];
          to = static_cast<int8_t>(to + w[lane * 4 + k]);
        }
      }
    }
  }
}

}  // namespace rk::kernels::quads
