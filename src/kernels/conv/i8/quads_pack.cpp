// SPDX-License-Identifier: Apache-2.0
// Packing for quads.h: which steps may share an int16 sum.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kernels/conv/common/bands.h"
#include "kernels/conv/i8/exact_stages.h"
#include "kernels/conv/i8/pack_lanes.h"
#include "kernels/conv/i8/quads.h"
#include "kernels/conv/i8/winograd_form.h"

namespace rk::kernels::quads {
namespace {

// Eight bytes at once: the weights of a step, [2 output channels][4 input channels], or what its four 16-bit sums carry,
// those of positive weights and of negative ones by turns.
// Invariant: no byte of a load exceeds kSafe, so that two of them add up without a carry and bit 7 tells what is too much.
using Bytes = uint64_t;
constexpr Bytes kEach = 0x0101010101010101, kTooMuch = 0x8080808080808080;
constexpr Bytes kWords = 0x00ff00ff00ff00ff;

struct Step {
  Bytes weights = 0, load = 0;
  uint16_t place = 0;
  uint8_t heaviest = 0;
};

// The sums of pairs of bytes, as words.
Bytes pair_sums(Bytes v) { return (v & kWords) + (v >> 8 & kWords); }
Bytes add_bytes(Bytes a, Bytes b) {
  return ((a & ~kTooMuch) + (b & ~kTooMuch)) ^ ((a ^ b) & kTooMuch);
}
// Of bytes up to kSafe.
[[maybe_unused]] Bytes larger_bytes(Bytes a, Bytes b) {
  const Bytes mask = ((((a | kTooMuch) - b) & kTooMuch) >> 7) * 0xff;
  return (a & mask) | (b & ~mask);
}

uint8_t largest_byte(Bytes v) {
#if defined(__SSE2__)
  __m128i most = _mm_cvtsi64_si128(static_cast<long long>(v));
  most = _mm_max_epu8(most, _mm_srli_epi64(most, 32));
  most = _mm_max_epu8(most, _mm_srli_epi64(most, 16));
  most = _mm_max_epu8(most, _mm_srli_epi64(most, 8));
  return static_cast<uint8_t>(_mm_cvtsi128_si32(most));
#else
  Bytes most = larger_bytes(v, v >> 32);
  most = larger_bytes(most & 0xffffffff, most >> 16 & 0xffff);
  return static_cast<uint8_t>(std::max(most & 0xff, most >> 8 & 0xff));
#endif
}

// Fills in what follows from the weights. False where a pair alone is too heavy.
bool weigh(Step& step) {
  const Bytes negative = (step.weights >> 7 & kEach) * 0xff;
  const Bytes more = pair_sums(step.weights & ~negative);
  const Bytes less = pair_sums((~step.weights & negative) + (negative & kEach));
  constexpr Bytes kHeavyWords = 0xff80ff80ff80ff80;
  static_assert(kSafe == 0x7f);
  if (((more | less) & kHeavyWords) != 0) return false;
  step.load = more | less << 8;
  step.heaviest = largest_byte(step.load);
  return true;
}

// Of one pair of channels in one chunk. A heavy step becomes two, a pair of -128 three.
struct Steps {
  std::array<Step, 3 * kChunkRows> step;
  uint32_t count = 0;
};

Bytes in_order(Bytes weights, const uint8_t (&order)[4]) {
  constexpr Bytes kFirst = 0x000000ff000000ff;  // of each output channel
  Bytes out = 0;
  for (size_t k = 0; k < 4; ++k) out |= (weights >> (8 * order[k]) & kFirst) << (8 * k);
  return out;
}

// What is too much of a pair of weights of one sign goes to another step.
void add_heavy_step(Step step, Steps& steps);
inline void add_step(Step& step, Steps& steps) {
  if (!weigh(step)) return add_heavy_step(step, steps);
  steps.step[steps.count] = step;
  steps.count += step.load != 0 ? 1 : 0;
}
void add_heavy_step(Step step, Steps& steps) {
  std::array<int8_t, kStepBytes> whole, over{};
  std::memcpy(whole.data(), &step.weights, kStepBytes);
  for (size_t i = 0; i < kStepBytes; i += 2) {
    for (const int32_t sign : {1, -1}) {
      const int32_t a = std::max(sign * whole[i], 0), b = std::max(sign * whole[i + 1], 0);
      const int32_t excess = a + b - kSafe;
      if (excess <= 0) continue;
      const int32_t from_b = std::min(excess, b), from_a = excess - from_b;
      over[i] = static_cast<int8_t>(sign * from_a);
      over[i + 1] = static_cast<int8_t>(sign * from_b);
      whole[i] = static_cast<int8_t>(whole[i] - sign * from_a);
      whole[i + 1] = static_cast<int8_t>(whole[i + 1] - sign * from_b);
    }
  }
  Step rest = step;
  std::memcpy(&step.weights, whole.data(), kStepBytes);
  std::memcpy(&rest.weights, over.data(), kStepBytes);
  add_step(step, steps);
  add_step(rest, steps);
}

// The step in the best of its orders, whose rows follow each other.
void add_lightest(Step& step, int64_t orders, Steps& steps) {
  if (orders == 1) return add_step(step, steps);
  Step best;
  best.heaviest = kSafe + 1;
  for (int64_t i = 0; i < orders; ++i) {
    Step other;
    other.weights = in_order(step.weights, kOrders[i]);
    other.place = static_cast<uint16_t>(step.place + i * kRowBytes);
    if (weigh(other) && other.heaviest < best.heaviest) best = other;
  }
  add_step(best.heaviest <= kSafe ? best : step, steps);
}

// Steps that share their 16-bit sums, of one pair of channels in one chunk.
struct Group {
  uint32_t count = 0;
  std::array<uint32_t, kMostInGroup> steps{};
};

// The heaviest first, each to the first group that has room.
void group(const Steps& steps, std::vector<Group>& groups) {
  constexpr size_t kTries = 32;  // groups that wait for more; what is older has little room
  std::array<uint32_t, kSafe + 2> begin{};
  for (uint32_t i = 0; i < steps.count; ++i)
    ++begin[static_cast<size_t>(kSafe - steps.step[i].heaviest) + 1];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::array<uint32_t, 3 * kChunkRows> order;
  for (uint32_t i = 0; i < steps.count; ++i)
    order[begin[static_cast<size_t>(kSafe - steps.step[i].heaviest)]++] = i;
  groups.clear();
  std::array<uint32_t, kTries> waiting;
  std::array<Bytes, kTries> loads;
  size_t end = 0;
  for (uint32_t n = 0; n < steps.count; ++n) {
    const uint32_t i = order[n];
    const Bytes load = steps.step[i].load;
    size_t at = 0;
    while (at < end && ((loads[at] + load) & kTooMuch) != 0) ++at;
    const auto drop = [&](size_t place) {
      --end;
      for (size_t k = place; k < end; ++k) waiting[k] = waiting[k + 1], loads[k] = loads[k + 1];
    };
    if (at == end) {
      if (end == kTries) drop(0);
      loads[end] = load;
      waiting[end++] = static_cast<uint32_t>(groups.size());
      groups.push_back({1, {i}});
      continue;
    }
    Group& group = groups[waiting[at]];
    loads[at] += load;
    group.steps[group.count++] = i;
    if (group.count == kMostInGroup) drop(at);
  }
}

// What one pair of channels has in one chunk.
struct PairSteps {
  Steps steps;
  std::vector<Group> groups;
  PairGroups counts;
};

// Writes the groups of a pair, the largest first.
void write_pair(const PairSteps& pair, uint16_t* places, uint8_t* weights) {
  for (uint32_t size = kMostInGroup; size > 0; --size) {
    for (const Group& group : pair.groups) {
      if (group.count != size) continue;
      for (uint32_t k = 0; k < size; ++k) {
        const Step& step = pair.steps.step[group.steps[k]];
        *places++ = step.place;
        std::memcpy(weights, &step.weights, kStepBytes);
        weights += kStepBytes;
      }
    }
  }
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
      for (int64_t k = 0; k < count; ++k)
        low = std::min(low, row[k]), high = std::max(high, row[k]);
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

// Of a row of a squeezed kernel: the bytes of one output channel from number `first` on.
Bytes squeezed_quad(const ConvI8Params& source, const Rows& rows, int32_t oc, int64_t ky,
                    int64_t first) {
  const ConvFilter& f = source.filter;
  Bytes four = 0;
  for (int64_t k = 0; k < 4 && first + k < rows.row_bytes; ++k) {
    const auto channel = static_cast<int32_t>((first + k) % f.in_channels);
    const int64_t tap = ky * f.kernel.w + (first + k) / f.in_channels;
    const auto byte =
        static_cast<uint8_t>(source.weights[plain_weight_index(f, source.order, oc, channel, tap)]);
    four |= Bytes{byte} << (8 * k);
  }
  return four;
}

// The steps of one pair of output channels in one chunk.
void steps_of_pair(const ConvI8Params& source, bool fold, int32_t first, int64_t chunk,
                   Steps& steps) {
  const ConvFilter& f = source.filter;
  const Rows rows(f);
  // From one input channel or output channel to the next; without groups these are constant.
  const bool output_first = source.order == WeightOrder::kOihw;
  const int64_t in_step = output_first ? rows.taps : f.out_channels * rows.taps;
  const int64_t out_step = output_first ? f.in_channels * rows.taps : rows.taps;
  const int32_t pair = std::min(kPair, f.out_channels - first);
  const int64_t end = std::min(rows.spots(), (chunk + 1) * kChunkSpots);
  const int64_t orders = rows.orders();
  steps.count = 0;
  int64_t block = chunk * kChunkSpots / rows.taps, tap = chunk * kChunkSpots % rows.taps;
  uint16_t place = 0;
  Bytes offsets = 0;  // of existing channels; those beyond the last stay 0
  for (int32_t lane = 0; lane < pair && fold; ++lane) {
    const auto offset = static_cast<uint8_t>(weight_offset_of(source, first + lane));
    offsets |= (kEach & 0xffffffff) * offset << (32 * lane);
  }
  // Bytes are put together in a register: storing them one by one to load eight would wait for memory.
  const auto byte = [](int8_t v) { return static_cast<Bytes>(static_cast<uint8_t>(v)); };
  for (int64_t spot = chunk * kChunkSpots; spot < end; ++spot) {
    const int64_t in = block * kHostBlock;
    const int8_t* const from = source.weights + first * out_step + in * in_step + tap;
    for (int64_t quad = 0; quad < rows.quads(spot); ++quad) {
      const int64_t channels =
          std::min<int64_t>(4, (rows.squeezed ? rows.row_bytes : f.in_channels - in) - 4 * quad);
      Step step;
      for (int32_t lane = 0; lane < pair; ++lane) {
        if (rows.squeezed) {
          step.weights |= squeezed_quad(source, rows, first + lane, tap, 4 * quad) << (32 * lane);
          continue;
        }
        const int8_t* const w = from + lane * out_step + 4 * quad * in_step;
        Bytes four = 0;
        if (channels == 4) {
          four = byte(w[0]) | byte(w[in_step]) << 8 | byte(w[2 * in_step]) << 16 |
                 byte(w[3 * in_step]) << 24;
        } else {
          for (int64_t k = 0; k < channels; ++k) four |= byte(w[k * in_step]) << (8 * k);
        }
        step.weights |= four << (32 * lane);
      }
      const Bytes there = channels == 4 ? ~Bytes{0} : (Bytes{1} << (8 * channels)) - 1;
      step.weights = add_bytes(step.weights, offsets & (there | there << 32));
      step.place = place;
      add_lightest(step, orders, steps);
      place = static_cast<uint16_t>(place + orders * kRowBytes);
    }
    if (++tap == rows.taps) tap = 0, ++block;
  }
}

using PackedBlock = std::vector<PairSteps>;
void pack_block(const ConvI8Params& source, bool fold, int32_t block, int64_t chunk,
                PackedBlock& packed) {
  const int32_t lanes = lanes_of_block(source.filter.out_channels, block);
  packed.resize(static_cast<size_t>((lanes + 1) / kPair));
  for (size_t i = 0; i < packed.size(); ++i) {
    PairSteps& pair = packed[i];
    steps_of_pair(source, fold, block * kHostBlock + static_cast<int32_t>(i) * kPair, chunk,
                  pair.steps);
    group(pair.steps, pair.groups);
    pair.counts = {};
    for (const Group& g : pair.groups) ++pair.counts.of[g.count];
  }
}

// A block in a chunk as it will lie.
struct PackedUnit {
  BlockSteps counts;
  std::vector<uint16_t> places;
  std::vector<uint8_t> weights;
};
void write_block(const PackedBlock& block, PackedUnit& unit) {
  size_t steps = 0;
  for (const PairSteps& pair : block) steps += pair.counts.steps();
  unit.places.resize(steps);
  unit.weights.resize(steps * kStepBytes);
  size_t at = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    unit.counts.pairs[i] = block[i].counts;
    write_pair(block[i], unit.places.data() + at, unit.weights.data() + at * kStepBytes);
    at += block[i].counts.steps();
  }
}

// Units are independent of each other.
void for_units(ThreadPool* pool, int64_t units, const std::function<void(IndexRange)>& work) {
  pool != nullptr ? pool->parallel_for(units, 1, work) : work({0, units});
}

// Multiplications beside those of int16 factors, judged by one block of output channels.
double products_per_int16(const ConvI8Params& params) {
  const ConvFilter& f = params.filter;
  const Rows rows(f);
  PackedBlock packed;
  pack_block(params, offsets_fold(params), (channel_blocks(f.out_channels) - 1) / 2, 0, packed);
  const int64_t spots = std::min<int64_t>(rows.spots(), kChunkSpots);
  const auto quads = static_cast<double>(rows.in_chunk(spots - 1) + rows.quads(spots - 1));
  uint32_t products = 0;
  for (const PairSteps& pair : packed) products += pair.counts.products();
  return products / (2.0 * quads * static_cast<double>(packed.size()));
}

}  // namespace

bool accepts(const PackedConvI8& packed) {
  const ConvI8Params& p = packed.params;
  const ConvFilter& f = p.filter;
  // Activations become clamps of the result, which a negative scale would turn around.
  return !packed.wide && f.groups == 1 && p.output.zero_point >= -128 &&
         p.output.zero_point <= 127 && p.output.scale.scale >= 0 &&
         int64_t{f.kernel.h} * f.kernel.w <= kMaxTaps;
}

bool takes_interleaved(const PackedConvI8& packed) { return takes_squeezed(packed.params.filter); }

// Not where Winograd's form takes a quarter of the products, where weights are too heavy or vectors of pixels too empty.
bool pays(const ConvI8Params& params) {
  const ConvFilter& f = params.filter;
  const auto is = [](Extent2 extent, int32_t value) {
    return extent.h == value && extent.w == value;
  };
  constexpr int64_t kFewPixels = 2;
  const Extent2 out = params.usual_output;
  if (out.h != 0 && out.w != 0 && int64_t{out.h} * out.w <= kFewPixels) return false;
  // Three colors would leave a quarter of each quad empty; pairs of int16 run over the row of a kernel without gaps.
  constexpr int32_t kColors = 3, kOneTile = 64;
  if (!takes_squeezed(f) && f.in_channels <= kColors && f.kernel.w > 1 && f.dilation.w == 1 &&
      !f.transposed && f.out_channels <= kOneTile)
    return false;
  // Measured on Zen 3: int16 factors take twice the loads and more scratch.
  constexpr double kWorth = 1.7;
  if (f.groups != 1 || products_per_int16(params) > kWorth) return false;
  if (!is(f.kernel, 3) || !is(f.stride, 1) || !is(f.dilation, 1) || f.transposed) return true;
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
  // The zero point is added to the integer result.
  if (!routes.in_double ||
      (stage_constants(packed) == nullptr &&
       !stages_below(packed, multiplier, {kDoubleLimits.stage, kDoubleLimits.result - 128}))) {
    return unsupported("a stage could leave the range of exact doubles");
  }
  const bool fold = offsets_fold(source);
  const Rows rows(f);
  const int32_t blocks = channel_blocks(f.out_channels);
  const auto channels = static_cast<size_t>(align_up(f.out_channels, kTile));
  std::vector<PackedUnit> units(static_cast<size_t>(rows.chunks() * blocks));
  for_units(source.pool, std::ssize(units), [&](IndexRange range) {
    PackedBlock work;
    for (int64_t i = range.begin; i < range.end; ++i) {
      pack_block(source, fold, static_cast<int32_t>(i % blocks), i / blocks, work);
      write_block(work, units[static_cast<size_t>(i)]);
    }
  });
  uint64_t total = 0;
  for (PackedUnit& unit : units) {
    unit.counts.first = static_cast<uint32_t>(total);
    total += unit.places.size();
  }
  // Header, scales, offsets, starts and addends per channel, counts per block, places per step.
  constexpr uint64_t kHeader = 128;
  static_assert(sizeof(Constants) <= kHeader);
  const uint64_t bytes = kHeader + channels * 16 + units.size() * sizeof(BlockSteps) + total * 2;
  RK_ASSIGN(packed.constants, Buffer::try_make(bytes, kMaxObjectBytes));
  RK_ASSIGN(packed.weights,
            Buffer::try_make(std::max<uint64_t>(total, 1) * kStepBytes, kMaxObjectBytes));
  uint8_t* at = packed.constants.data() + kHeader;
  auto* const scale = reinterpret_cast<float*>(at);
  auto* const offset = reinterpret_cast<int32_t*>(at + channels * 4);
  auto* const start = reinterpret_cast<int32_t*>(at + channels * 8);
  auto* const addend = reinterpret_cast<float*>(at + channels * 12);
  auto* const block_steps = reinterpret_cast<BlockSteps*>(at + channels * 16);
  auto* const places =
      reinterpret_cast<uint16_t*>(at + channels * 16 + units.size() * sizeof(BlockSteps));
  Constants constants;
  constants.lanes.weight_bytes = 1;
  constants.lanes.float_route = routes.in_float;
  constants.lanes.scale = scale;
  constants.lanes.stages = stage_constants(packed);
  constants.lanes.clamps = byte_clamps(packed.params);
  const bool usual = constants.lanes.stages == nullptr && !source.has_residual;
  // Padding lanes too: a sum of 0 times 0.
  for (size_t c = 0; c < channels && usual; ++c) {
    if (!start_addend(std::ldexp(multiplier[c], -source.multiplier_shift), addend[c]))
      constants.lanes.float_route = false;
  }
  constants.lanes.addend = addend;
  constants.lanes.totals = fold ? nullptr : offset;
  constants.blocks = block_steps;
  constants.places = places;
  constants.start = start;
  const auto* const bias = reinterpret_cast<const int32_t*>(packed.bias.data());
  const bool bias_first = fold && (constants.lanes.float_route || usual);  // else the stages add it
  const uint32_t first = fold && constants.lanes.float_route && usual ? uint32_t{kSumStart} : 0;
  for (int32_t c = 0; c < f.out_channels; ++c) {
    const auto i = static_cast<size_t>(c);
    scale[i] = std::ldexp(static_cast<float>(multiplier[i]), -source.multiplier_shift);
    offset[i] = weight_offset_of(source, c);
    // Modulo 2^32, which the true sum fits.
    start[i] = static_cast<int32_t>(first + (bias_first ? static_cast<uint32_t>(bias[i]) : 0u) -
                                    128u * static_cast<uint32_t>(sum_of_channel(source, fold, c)));
  }
  for_units(source.pool, std::ssize(units), [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const PackedUnit& unit = units[static_cast<size_t>(i)];
      block_steps[i] = unit.counts;
      std::copy(unit.places.begin(), unit.places.end(), places + unit.counts.first);
      std::copy(unit.weights.begin(), unit.weights.end(),
                packed.weights.data() + uint64_t{unit.counts.first} * kStepBytes);
    }
  });
  std::memcpy(packed.constants.data(), &constants, sizeof constants);
  return ok_status();
}

void unpack(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain) {
  const ConvI8Params& p = packed.params;
  const ConvFilter& f = p.filter;
  const Rows rows(f);
  Constants constants;
  std::memcpy(&constants, packed.constants.data(), sizeof constants);
  const bool folded = constants.lanes.totals == nullptr;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int32_t added = folded && weight_offset != nullptr ? weight_offset[oc] : 0;
    for (int32_t i = 0; i < f.in_channels; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap)
        plain[plain_weight_index(f, p.order, oc, i, tap)] = static_cast<int8_t>(-added);
    }
  }
  const auto* const weights = reinterpret_cast<const int8_t*>(packed.weights.data());
  const int32_t blocks = channel_blocks(f.out_channels);
  // The steps of one pair of output channels.
  const auto add = [&](int64_t chunk, int32_t first, uint64_t begin, uint64_t end) {
    for (uint64_t step = begin; step < end; ++step) {
      const int64_t place = constants.places[step] / kRowBytes;
      const uint8_t(&order)[4] = kOrders[place % rows.orders()];
      const int64_t row = rows.first(chunk * kChunkSpots) + place / rows.orders();
      const int64_t beyond = row - 4 * rows.full;
      const int64_t spot = beyond < 0 ? row / 4 : rows.full + beyond / rows.last;
      const int64_t quad = beyond < 0 ? row % 4 : beyond % rows.last;
      const int64_t in = spot / rows.taps * kHostBlock + quad * 4;
      for (int32_t lane = 0; lane < kPair && first + lane < f.out_channels; ++lane) {
        for (int64_t k = 0; k < 4; ++k) {
          int64_t channel = in + order[k], tap = spot % rows.taps;
          if (rows.squeezed) {
            const int64_t byte = 4 * quad + order[k];
            channel = byte < rows.row_bytes ? byte % f.in_channels : f.in_channels;
            tap = tap * f.kernel.w + byte / f.in_channels;
          }
          if (channel >= f.in_channels) continue;
          int8_t& to = plain[plain_weight_index(f, p.order, first + lane,
                                                static_cast<int32_t>(channel), tap)];
          to = add_bytes(to, weights[step * kStepBytes + static_cast<uint64_t>(lane * 4 + k)]);
        }
      }
    }
  };
  for (int64_t chunk = 0; chunk < rows.chunks(); ++chunk) {
    for (int32_t block = 0; block < blocks; ++block) {
      const BlockSteps& counts = constants.blocks[chunk * blocks + block];
      uint64_t at = counts.first;
      for (int32_t lane = 0; lane < lanes_of_block(f.out_channels, block); lane += kPair) {
        const uint32_t steps = counts.pairs[lane / kPair].steps();
        add(chunk, block * kHostBlock + lane, at, at + steps);
        at += steps;
      }
    }
  }
}

}  // namespace rk::kernels::quads
