// SPDX-License-Identifier: Apache-2.0
// Packing for conv_i8__avx512vnni_6x64: see x86_avx512vnni.h for the idea.
//   dense:     [tile][input block][plane][ky][kx][quad of 4 ic][vector][16 oc][4 ic]
//              where a block has only as many quads and a tile only as many vectors as it has channels for
//              or, of few input channels, [tile][ky][kx x ic in fours][vector][16 oc][4]
//              or, of patches, [tile][ky x kx x ic in fours][vector][16 oc][4]
//   depthwise: [block][ky][group of 4 taps][plane][16 channels][4 taps]
#if defined(__x86_64__)

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/i8/exact_stages.h"
#include "kernels/conv/i8/x86_avx512vnni.h"
#include "kernels/cpu_features.h"

namespace rk::kernels {
namespace vnni {

void run(const ConvI8Args& args, IndexRange units);

namespace {

bool accepts(const PackedConvI8& packed) {
  const ConvI8Params& p = packed.params;
  return accepts_stages(packed) && fits_bands(p.filter, kScratchPixels) &&
         int64_t{p.filter.kernel.h} * p.filter.kernel.w <= kMaxTaps;
}

int32_t offset_of(const ConvI8Params& source, int32_t channel) {
  return source.weight_offset != nullptr ? source.weight_offset[channel] : 0;
}

// Bytes that hold every w + o of a channel. Offsets are large where all weights of a channel have one sign.
struct PlanesOfChannel {
  int32_t plain = 1;
  int32_t negated = 1;  // of -(w + o)
};
PlanesOfChannel planes_of_channel(const ConvI8Params& source, int32_t oc) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  int32_t low = 0, high = 0;
  for (int32_t i = 0; i < f.in_per_group(); ++i) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t at = plain_weight_index(f, source.order, oc, i, tap);
      low = std::min(low, source.weights[at] + offset_of(source, oc));
      high = std::max(high, source.weights[at] + offset_of(source, oc));
    }
  }
  return {std::max((127 - low) / 128, (126 + high) / 127),
          std::max((126 - low) / 127, (127 + high) / 128)};
}

// A depthwise channel is stored with the opposite sign where that saves a byte, as for a weight of 255; its multiplier
// turns the sum around again. (Rounding to nearest even knows no sign.)
bool is_negated(const ConvI8Params& source, int32_t channel) {
  if (!source.filter.depthwise()) return false;
  const PlanesOfChannel planes = planes_of_channel(source, channel);
  return planes.negated < planes.plain;
}

}  // namespace

Result<int32_t> planes_of_weights(const ConvI8Params& source) {
  int32_t most = 1;
  for (int32_t oc = 0; oc < source.filter.out_channels; ++oc) {
    const PlanesOfChannel planes = planes_of_channel(source, oc);
    most = std::max(
        most, source.filter.depthwise() ? std::min(planes.plain, planes.negated) : planes.plain);
  }
  if (most > kMaxPlanes) return unsupported("weights with their offsets need too many planes");
  return most;
}

int8_t part(int32_t weight, int32_t plane) {
  const auto clamped = [](int32_t w) { return w < -128 ? -128 : w > 127 ? 127 : w; };
  for (int32_t i = 0; i < plane; ++i) weight -= clamped(weight);
  return static_cast<int8_t>(clamped(weight));
}

namespace {

// One output channel of a tile.
template <typename Byte>
struct LaneOfTile {
  Byte* bytes;        // the tile, at the lane
  BlockRange blocks;  // of the tile
  int32_t planes;
  int32_t vectors;
  int64_t kernel_row;
};

// visit(byte, plane, i, tap) for each byte of the channel's weights; i counts the input channels of its group, the first
// of which is `first_in`.
template <typename Byte, typename Visit>
inline void visit_lane(const ConvFilter& f, const LaneOfTile<Byte>& lane, int32_t first_in,
                       const Visit& visit) {
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  const int64_t quad_bytes = lane.vectors * kVector * 4;
  if (lane.kernel_row != 0) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int32_t ic = 0; ic < f.in_channels; ++ic) {
        const int64_t i =
            tap / f.kernel.w * lane.kernel_row + tap % f.kernel.w * f.in_channels + ic;
        visit(lane.bytes[i / 4 * quad_bytes + i % 4], 0, ic, tap);
      }
    }
    return;
  }
  Byte* at = lane.bytes;
  for (int32_t block = lane.blocks.begin; block < lane.blocks.end; ++block) {
    const int32_t quads = (lanes_of_block(f.in_channels, block) + 3) / 4;
    const int32_t begin = std::max(first_in, block * kHostBlock);
    const int32_t end = std::min(first_in + f.in_per_group(), (block + 1) * kHostBlock);
    for (int32_t plane = 0; plane < lane.planes; ++plane) {
      for (int32_t ic = begin; ic < end; ++ic) {
        Byte* byte = at + (ic - block * kHostBlock) / 4 * quad_bytes + ic % 4;
        for (int64_t tap = 0; tap < taps; ++tap, byte += quads * quad_bytes) {
          visit(*byte, plane, ic - first_in, tap);
        }
      }
      at += taps * quads * quad_bytes;
    }
  }
}

// Bytes from one row of a kernel to the next where pixels are squeezed, else 0.
int64_t kernel_row(const ConvFilter& f, const Constants& constants) {
  if (!constants.squeezed) return 0;
  return constants.patches ? int64_t{f.kernel.w} * f.in_channels : squeezed_quads(f) * 4;
}

// visit(lane, oc, first_in) for each output channel of dense weights.
template <typename Byte, typename Visit>
void visit_dense(const ConvFilter& f, const Constants& constants, Byte* packed,
                 const Visit& visit) {
  const int32_t planes = constants.planes;
  for (int32_t index = 0; index * kTile < f.out_channels; ++index) {
    const Tile tile = tile_of(f, index);
    Byte* const bytes = packed + tile.first_block * block_weights(f, planes);
    for (int32_t i = 0; i < tile.vectors * kVector; ++i) {
      const int32_t oc = tile.first_block * kHostBlock + i;
      if (oc >= f.out_channels) break;
      const LaneOfTile<Byte> lane = {bytes + i * 4, tile_input_blocks(f, index, kTile), planes,
                                     tile.vectors, kernel_row(f, constants)};
      visit(lane, oc, oc / f.out_per_group() * f.in_per_group());
    }
  }
}

// The common case of visit_lane, four input channels at a time: one group, one plane, bytes as they are in `row`.
void pack_row(const ConvFilter& f, const LaneOfTile<int8_t>& lane, const int8_t* row) {
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  const int64_t quad_bytes = lane.vectors * kVector * 4;
  int8_t* to = lane.bytes;
  for (int32_t block = lane.blocks.begin; block < lane.blocks.end; ++block) {
    const int32_t lanes = lanes_of_block(f.in_channels, block);
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int32_t c = 0; c < lanes; c += 4, to += quad_bytes) {
        const int8_t* const from = row + (block * kHostBlock + c) * taps + tap;
        int8_t four[4] = {};
        for (int32_t i = 0; i < 4 && c + i < lanes; ++i) four[i] = from[i * taps];
        std::memcpy(to, four, sizeof four);
      }
    }
  }
}

void pack_dense(const ConvI8Params& source, const ConstantsPlan& plan, const Constants& constants,
                int8_t* packed) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  visit_dense(f, constants, packed, [&](const auto& lane, int32_t oc, int32_t first_in) {
    const int32_t offset = plan.offset_apart ? 0 : offset_of(source, oc);
    if (source.order == WeightOrder::kOihw && plan.planes == 1 && offset == 0) {
      const int8_t* const row = source.weights + oc * f.in_per_group() * taps;
      if (f.groups == 1 && !plan.squeezed) return pack_row(f, lane, row);
      visit_lane(f, lane, first_in, [=](int8_t& byte, int32_t, int64_t ic, int64_t tap) {
        byte = row[ic * taps + tap];
      });
      return;
    }
    visit_lane(f, lane, first_in, [&](int8_t& byte, int32_t plane, int64_t ic, int64_t tap) {
      byte = part(source.weights[plain_weight_index(f, source.order, oc, ic, tap)] + offset, plane);
    });
  });
}

void pack_depthwise(const ConvI8Params& source, int32_t planes, int8_t* packed) {
  const ConvFilter& f = source.filter;
  const AxisPlan y = axis_plan(f, true), x = axis_plan(f, false);
  const int64_t groups = tap_groups(f);
  for (int32_t c = 0; c < f.out_channels; ++c) {
    const int32_t sign = is_negated(source, c) ? -1 : 1;
    for (int64_t ky = 0; ky < f.kernel.h; ++ky) {
      for (int64_t kx = 0; kx < f.kernel.w; ++kx) {
        const int64_t plain = plain_weight_index(f, source.order, c, 0, ky * f.kernel.w + kx);
        const int64_t row = y.tap(ky) / f.dilation.h;
        const int64_t column = x.tap(kx);
        const int64_t group = (c / kHostBlock * f.kernel.h + row) * groups + column / 4;
        int8_t* const out = packed + group * planes * 64 + c % kHostBlock * 4 + column % 4;
        const int32_t weight = sign * (source.weights[plain] + offset_of(source, c));
        for (int32_t plane = 0; plane < planes; ++plane) out[plane * 64] = part(weight, plane);
      }
    }
  }
}

// The offset can be applied to the sum of inputs: all channels share that sum, it has 22 bits, and 128 * o has 16.
bool offsets_apart(const ConvI8Params& source) {
  const ConvFilter& f = source.filter;
  if (f.groups != 1) return false;
  const int64_t k = int64_t{f.in_channels} * f.kernel.h * f.kernel.w;
  for (int32_t c = 0; c < f.out_channels; ++c) {
    if (magnitude(offset_of(source, c)) > 255) return false;
  }
  return k * 255 < int64_t{1} << 22;
}

// bias - 128 * sum(w + o) modulo 2^32: the kernel's sums wrap too, and the true result fits.
uint32_t base_of(const ConvI8Params& source, int32_t oc) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  const int64_t count = f.in_per_group() * taps;
  int64_t sum = count * offset_of(source, oc);
  if (source.order == WeightOrder::kOihw) {
    const int8_t* const row = source.weights + oc * count;
    for (int64_t i = 0; i < count; ++i) sum += row[i];
  } else {
    for (int32_t i = 0; i < f.in_per_group(); ++i) {
      for (int64_t tap = 0; tap < taps; ++tap)
        sum += source.weights[plain_weight_index(f, source.order, oc, i, tap)];
    }
  }
  const int64_t bias = source.bias != nullptr ? source.bias[oc] : 0;
  return static_cast<uint32_t>(bias - 128 * sum);
}

void set_clamps(const ConvI8Params& p, Constants& constants) {
  constants.clip_first = p.has_residual && p.activation != Activation::kNone;
  const ByteClamps clamps = byte_clamps(p);
  constants.low = clamps.low, constants.high = clamps.high;
}

// Whether the second rounding may start from `first` + v as it is; sets what it adds. Both are numbers of halves, of which
// a float holds those of 24 bits.
bool set_direct(const ConvI8Params& p, int64_t first, Constants& constants) {
  const ScaleShift s = p.output.scale;
  if (s.shift < 1 || first * s.scale % (int64_t{1} << (s.shift - 1)) != 0) return false;
  const int64_t halves = 2 * int64_t{kDirect} - (first * s.scale >> (s.shift - 1));
  if (magnitude(halves) > 1 << 24) return false;
  constants.direct_addend = static_cast<float>(halves) / 2;
  constants.direct = true;
  return true;
}

// The way of a lookup or a slope; the rows of its table of steps, if it has one.
std::vector<uint8_t> set_stages(const StageConstants& stages, Constants& constants) {
  std::vector<uint8_t> rows;
  constants.stages = &stages;
  constants.ends = stages.is_lookup ? Ends::kLookup : Ends::kSlope;
  if (stages.is_lookup) {
    const std::span bytes(stages.bytes, static_cast<size_t>(stages.highest - stages.lowest + 1));
    make_step_table(bytes, stages.lowest, rows, constants.steps);
  }
  return rows;
}

// What the first rounding adds to v. Below 2^23 it would round to halves, which is as good as integers for a v that ends
// in the lowest result like 0 does.
double first_rounding(const ConvI8Params& p, Constants& constants) {
  constexpr auto kUsual = static_cast<int64_t>(kMagic), kLowest = int64_t{1} << 23;
  if (p.has_residual || constants.ends != Ends::kFloat) return kMagic;
  if (set_direct(p, kUsual, constants)) return kMagic;
  const bool positive = to_output(0, p.output) <= constants.low;
  return static_cast<double>(positive && set_direct(p, kLowest, constants) ? kLowest : kUsual);
}

}  // namespace

bool accepts_stages(const PackedConvI8& packed) {
  const ConvI8Params& p = packed.params;
  // Activations become clamps of the result, which a negative scale would turn around.
  return !packed.wide && packed.acc_bound <= INT32_MAX && (p.lookup || p.output.scale.scale >= 0) &&
         p.output.zero_point >= -128 && p.output.zero_point <= 127;
}

Status pack_constants(const ConvI8Params& source, const ConstantsPlan& plan, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  const StageConstants* const stages = stage_constants(packed);
  if (stages != nullptr && !(stages->is_lookup ? stages->float_route : stages->double_route))
    return unsupported("a lookup or a slope is not exact in floating point");
  // The zero point is added to the integer result.
  if (stages == nullptr &&
      !stages_below(packed, multiplier, {kDoubleLimits.stage, kDoubleLimits.result - 128})) {
    return unsupported("a stage could leave the range of exact doubles");
  }
  Constants constants;
  std::vector<uint8_t> rows;
  if (stages != nullptr) rows = set_stages(*stages, constants);
  const uint64_t lanes = static_cast<uint64_t>(align_up(f.out_channels, kTile));
  constexpr uint64_t kHeader = 256;
  static_assert(sizeof(Constants) <= kHeader);
  RK_ASSIGN(packed.constants,
            Buffer::try_make(kHeader + lanes * 32 + rows.size(), kMaxObjectBytes));
  if (!rows.empty()) {
    uint8_t* const to = packed.constants.data() + kHeader + lanes * 32;
    std::copy(rows.begin(), rows.end(), to);
    constants.steps.rows = to;
  }
  constants.planes = plan.planes;
  constants.transformed = plan.transformed;
  constants.squeezed = plan.squeezed;
  constants.wide = (allowed_features() & cpu::kWide512) != 0;
  if (stages == nullptr && stages_below(packed, multiplier, kFloatLimits))
    constants.ends = Ends::kFloat;
  set_clamps(packed.params, constants);
  const double first_v = first_rounding(packed.params, constants);
  constants.patches = constants.squeezed && constants.direct && constants.wide && takes_patches(f);
  auto* const wide_scale = reinterpret_cast<double*>(packed.constants.data() + kHeader);
  double* const wide_addend = wide_scale + lanes;
  auto* const start = reinterpret_cast<int32_t*>(wide_addend + lanes);
  int32_t* const pair = start + lanes;
  auto* const scale = reinterpret_cast<float*>(pair + lanes);
  float* const addend = scale + lanes;
  const auto first = static_cast<uint32_t>(first_bits(constants));
  // Padding lanes: a sum of 0 times 0.
  std::fill_n(start, lanes, static_cast<int32_t>(first));
  std::fill_n(addend, lanes, static_cast<float>(first_v));
  std::fill_n(wide_addend, lanes, kWideMagic);
  for (int32_t c = 0; c < f.out_channels; ++c) {
    const int32_t offset = plan.offset_apart ? offset_of(source, c) : 0;
    const bool negated = is_negated(source, c);
    // Exact, as all below: few bits.
    const double m = std::ldexp(negated ? -multiplier[c] : multiplier[c], -source.multiplier_shift);
    const uint32_t base = base_of(source, c);
    start[c] = static_cast<int32_t>((negated ? -base : base) + first);
    pair[c] = static_cast<int32_t>(static_cast<uint32_t>(offset & 0xffff) |
                                   static_cast<uint32_t>(offset * 128) << 16);
    scale[c] = static_cast<float>(m);
    addend[c] = static_cast<float>(first_v - kMagic * m);
    const int64_t i = c % 16;
    const int64_t unpacked = c - i + i / 4 * 2 + i % 2 + (i % 4 >= 2 ? 8 : 0);
    if (constants.ends == Ends::kSlope) {
      wide_scale[c] = negated ? -multiplier[c] : multiplier[c];
      wide_addend[c] = stages->negative_scale[c];
    } else {
      wide_scale[unpacked] = m;
      wide_addend[unpacked] = kWideMagic - kWideStart * m;
    }
    constants.sums |= offset != 0;
  }
  constants.start = start;
  constants.offset_pair = pair;
  constants.multiplier = scale;
  constants.addend = addend;
  (constants.ends == Ends::kSlope ? constants.slope_multiplier : constants.wide_multiplier) =
      wide_scale;
  (constants.ends == Ends::kSlope ? constants.slope_below : constants.wide_addend) = wide_addend;
  std::memcpy(packed.constants.data(), &constants, sizeof constants);
  return ok_status();
}

namespace {

Status pack(const ConvI8Params& source, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  const bool offset_apart = offsets_apart(source);
  RK_ASSIGN(const int32_t planes, offset_apart ? Result<int32_t>(1) : planes_of_weights(source));
  if (int64_t{planes} * f.kernel.h * f.kernel.w > kMaxTaps)
    return unsupported("the kernel has too many taps");
  const ConstantsPlan plan = {
      .planes = planes, .offset_apart = offset_apart, .squeezed = planes == 1 && takes_squeezed(f)};
  RK_TRY(pack_constants(source, plan, packed));
  if (f.depthwise()) {
    const int64_t extents[] = {channel_blocks(f.out_channels), f.kernel.h, tap_groups(f), planes,
                               64};
    const auto bytes = checked_product(extents);
    if (!bytes) return out_of_memory("convolution: the weights do not fit the address space");
    RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
    pack_depthwise(source, planes, reinterpret_cast<int8_t*>(packed.weights.data()));
    return ok_status();
  }
  const int64_t extents[] = {channel_blocks(f.out_channels),
                             max_tile_input_blocks(f, kTile),
                             planes,
                             f.kernel.h,
                             f.kernel.w,
                             kHostBlock * kVector};
  const auto bytes = checked_product(extents);
  if (!bytes) return out_of_memory("convolution: the weights do not fit the address space");
  RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
  pack_dense(source, plan, *reinterpret_cast<const Constants*>(packed.constants.data()),
             reinterpret_cast<int8_t*>(packed.weights.data()));
  return ok_status();
}

bool takes_interleaved(const PackedConvI8& packed) {
  return reinterpret_cast<const Constants*>(packed.constants.data())->squeezed;
}

void unpack(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain) {
  const ConvFilter& f = packed.params.filter;
  const auto& constants = *reinterpret_cast<const Constants*>(packed.constants.data());
  const auto* const bytes = reinterpret_cast<const int8_t*>(packed.weights.data());
  visit_dense(f, constants, bytes, [&](const auto& lane, int32_t oc, int32_t in) {
    // What is not applied to the sum of inputs is part of the bytes.
    const int32_t apart = static_cast<int16_t>(constants.offset_pair[oc] & 0xffff);
    const int32_t added = (weight_offset != nullptr ? weight_offset[oc] : 0) - apart;
    visit_lane(f, lane, in, [&](int8_t byte, int32_t plane, int64_t ic, int64_t tap) {
      int8_t& weight = plain[plain_weight_index(f, packed.params.order, oc, ic, tap)];
      // Modulo 256: the planes add up to w + o.
      weight = static_cast<int8_t>((plane == 0 ? -added : weight) + byte);
    });
  });
}

}  // namespace
}  // namespace vnni

extern const ConvI8Kernel conv_i8__avx512vnni_6x64;
const ConvI8Kernel conv_i8__avx512vnni_6x64 = {"conv_i8__avx512vnni_6x64",
                                               vnni::kTile,
                                               vnni::accepts,
                                               vnni::pack,
                                               vnni::run,
                                               vnni::unpack,
                                               nullptr,
                                               nullptr,
                                               vnni::takes_interleaved};

}  // namespace rk::kernels

#endif  // x86-64
