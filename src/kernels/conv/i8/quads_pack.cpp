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

// A step and how much of kSafe its sums use, those of positive weights first.
struct Step {
  uint16_t place = 0;
  uint8_t heaviest = 0;
  std::array<int8_t, kStepBytes> weights{};
  std::array<uint8_t, 2 * kSums> used{};

  bool empty() const { return heaviest == 0; }
  // Fills the sums. False where one pair alone could saturate.
  bool weigh() {
    int16_t most = 0;
    for (size_t i = 0; i < kSums; ++i) {
      const int16_t a = weights[2 * i], b = weights[2 * i + 1];
      const auto more = static_cast<int16_t>((a > 0 ? a : 0) + (b > 0 ? b : 0));
      const auto less = static_cast<int16_t>(more - a - b);
      most = std::max(most, std::max(more, less));
      used[i] = static_cast<uint8_t>(more);
      used[kSums + i] = static_cast<uint8_t>(less);
    }
    heaviest = static_cast<uint8_t>(std::min<int16_t>(most, kSafe));
    return most <= kSafe;
  }
};

// Where the two weights of a pair are too heavy, what is too much of them goes to a second step, which is light.
void add_step(Step& step, std::vector<Step>& steps) {
  if (step.weigh()) {
    if (!step.empty()) steps.push_back(step);
    return;
  }
  Step whole = step, rest;
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
  steps.push_back(whole);
}

// Steps in the order of their weight, the heaviest first, and which of them still look for a partner.
class Waiting {
 public:
  explicit Waiting(const std::vector<Step>& steps)
      : order_(steps.size()), used_(steps.size()), next_(steps.size() + 1), previous_(steps.size() + 1) {
    for (const Step& s : steps) ++begin_[static_cast<size_t>(kSafe - s.heaviest) + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    std::array<uint32_t, kSafe + 2> place = begin_;
    for (uint32_t i = 0; i < steps.size(); ++i)
      order_[place[static_cast<size_t>(kSafe - steps[i].heaviest)]++] = i;
    for (size_t i = 0; i < order_.size(); ++i) used_[i] = steps[order_[i]].used;
    for (uint32_t i = 0; i < next_.size(); ++i) next_[i] = previous_[i] = i;
  }

  size_t size() const { return order_.size(); }
  uint32_t step(size_t at) const { return order_[at]; }
  void take(size_t at) { next_[at] = static_cast<uint32_t>(at) + 1, previous_[at + 1] = static_cast<uint32_t>(at); }
  // The first that waits from `at` on, or the end.
  size_t next(size_t at) { return find(next_, at); }

  // A step behind `at` that may be added to it: first among those of complementary weight, then the lightest. Or the end.
  size_t find_partner(size_t at, int32_t heaviest) {
    constexpr int32_t kUsual = 190;  // sums of two steps are seldom heaviest in the same lane
    constexpr int kTries = 24, kLastTries = 8;
    std::array<uint8_t, 2 * kSums> room;
    for (size_t i = 0; i < room.size(); ++i) room[i] = static_cast<uint8_t>(kSafe - used_[at][i]);
    // The first whose heaviest sum is at most kUsual - heaviest.
    const int32_t light = std::min(kSafe, kUsual - heaviest);
    size_t i = next(std::max<size_t>(at + 1, begin_[static_cast<size_t>(kSafe - light)]));
    for (int tries = 0; i < size() && tries < kTries; ++tries, i = next(i + 1)) {
      if (fits(i, room)) return i;
    }
    i = find(previous_, size());
    for (int tries = 0; i > at + 1 && tries < kLastTries; ++tries, i = find(previous_, i - 1)) {
      if (fits(i - 1, room)) return i - 1;
    }
    return size();
  }

 private:
  bool fits(size_t at, const std::array<uint8_t, 2 * kSums>& room) const {
    uint8_t excess = 0;
    for (size_t i = 0; i < room.size(); ++i)
      excess |= static_cast<uint8_t>(std::max(used_[at][i], room[i]) - room[i]);
    return excess == 0;
  }
  // Follows links to where they end and shortens them on the way.
  static size_t find(std::vector<uint32_t>& links, size_t at) {
    while (links[at] != at) {
      links[at] = links[links[at]];
      at = links[at];
    }
    return at;
  }

  std::vector<uint32_t> order_;
  std::vector<std::array<uint8_t, 2 * kSums>> used_;  // in that order
  std::array<uint32_t, kSafe + 2> begin_{};           // of the steps whose heaviest sum is kSafe - i
  // A taken place links to its neighbor; previous_ is one place further, so that 0 is an end too.
  std::vector<uint32_t> next_, previous_;
};

// The order of steps: doubles first, then what stays alone.
struct Arranged {
  BlockSteps counts;
  std::vector<uint32_t> order;
};
Arranged arrange(const std::vector<Step>& steps) {
  Waiting waiting(steps);
  std::vector<uint32_t> doubles, singles;
  doubles.reserve(steps.size());
  for (size_t i = waiting.next(0); i < waiting.size(); i = waiting.next(i)) {
    waiting.take(i);
    const uint32_t step = waiting.step(i);
    const size_t partner = waiting.find_partner(i, steps[step].heaviest);
    if (partner == waiting.size()) {
      singles.push_back(step);
      continue;
    }
    waiting.take(partner);
    doubles.push_back(step);
    doubles.push_back(waiting.step(partner));
  }
  const BlockSteps counts = {0, static_cast<uint32_t>(doubles.size() / 2),
                             static_cast<uint32_t>(singles.size())};
  doubles.insert(doubles.end(), singles.begin(), singles.end());
  return {counts, std::move(doubles)};
}

bool offsets_fold(const ConvI8Params& source) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  const bool output_first = source.order == WeightOrder::kOihw;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int32_t offset = weight_offset_of(source, oc);
    if (offset == 0) continue;
    // Rows of weights that lie together.
    const int64_t rows = output_first ? 1 : f.in_channels;
    const int64_t count = output_first ? f.in_channels * taps : taps;
    const int8_t* row = source.weights + (output_first ? oc * count : oc * taps);
    int8_t low = 0, high = 0;
    for (int64_t i = 0; i < rows; ++i, row += f.out_channels * taps) {
      for (int64_t k = 0; k < count; ++k) low = std::min(low, row[k]), high = std::max(high, row[k]);
    }
    if (low + offset < -128 || high + offset > 127) return false;
  }
  return true;
}

// Of bytes whose sum is one too.
int8_t add_bytes(int8_t a, int8_t b) {
  return static_cast<int8_t>(static_cast<uint8_t>(a) + static_cast<uint8_t>(b));
}

// The sum of a channel's weights, with the offset where it is folded.
int32_t sum_of_channel(const ConvI8Params& source, bool fold, int32_t oc) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w, count = f.in_channels * taps;
  const bool output_first = source.order == WeightOrder::kOihw;
  int32_t sum = 0;
  if (output_first) {
    const int8_t* const row = source.weights + oc * count;
    for (int64_t i = 0; i < count; ++i) sum += row[i];
  } else {
    for (int64_t i = 0; i < f.in_channels; ++i) {
      const int8_t* const row = source.weights + (i * f.out_channels + oc) * taps;
      for (int64_t tap = 0; tap < taps; ++tap) sum += row[tap];
    }
  }
  return sum + (fold ? weight_offset_of(source, oc) * static_cast<int32_t>(count) : 0);
}

std::vector<Step> steps_of_block(const ConvI8Params& source, bool fold, int32_t block) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  const int32_t lanes = lanes_of_block(f.out_channels, block);
  // From one input channel or output channel to the next; without groups these are constant.
  const bool output_first = source.order == WeightOrder::kOihw;
  const int64_t in_step = output_first ? taps : f.out_channels * taps;
  const int64_t out_step = output_first ? f.in_channels * taps : taps;
  std::vector<Step> steps, quad(static_cast<size_t>(taps));
  steps.reserve(static_cast<size_t>((f.in_channels + 3) / 4 * taps));
  for (int32_t in = 0; in < f.in_channels; in += 4) {
    const int32_t channels = std::min(4, f.in_channels - in);
    if (channels < 4) quad.assign(quad.size(), {});
    for (int32_t lane = 0; lane < lanes; ++lane) {
      const int32_t oc = block * kHostBlock + lane;
      const auto offset = static_cast<int8_t>(fold ? weight_offset_of(source, oc) : 0);
      const int8_t* const from = source.weights + oc * out_step + in * in_step;
      const auto at = static_cast<size_t>(lane) * 4;
      if (in_step == 1 && channels == 4) {
        for (size_t k = 0; k < 4; ++k) quad[0].weights[at + k] = add_bytes(from[k], offset);
        continue;
      }
      for (int32_t k = 0; k < channels; ++k) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          quad[static_cast<size_t>(tap)].weights[at + static_cast<size_t>(k)] =
              add_bytes(from[k * in_step + tap], offset);
        }
      }
    }
    for (int64_t tap = 0; tap < taps; ++tap) {
      Step& step = quad[static_cast<size_t>(tap)];
      step.place = static_cast<uint16_t>((in / kHostBlock * taps + tap) * 4 + in % kHostBlock / 4);
      add_step(step, steps);
    }
  }
  return steps;
}

// Multiplications beside those of int16 factors, judged by one block of output channels.
double products_per_int16(const ConvI8Params& params) {
  const ConvFilter& f = params.filter;
  const int32_t block = channel_blocks(f.out_channels) / 2;
  const BlockSteps counts = arrange(steps_of_block(params, offsets_fold(params), block)).counts;
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
  for (int32_t block = 0; block < blocks; ++block) {
    const std::vector<Step> steps = steps_of_block(source, fold, block);
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
                                    128u * static_cast<uint32_t>(sum_of_channel(source, fold, c)));
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
