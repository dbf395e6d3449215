// SPDX-License-Identifier: Apache-2.0
// Packing for conv_i8__avx512vnni_6x64: see x86_avx512vnni.h for the idea.
//   dense:     [tile of 64][input block][plane][ky][kx][quad of 4 ic][vector of 16 oc][16 oc][4 ic]
//              where a block has only as many quads and a tile only as many vectors as it has channels for
//   depthwise: [block][ky][group of 4 taps][plane][16 channels][4 taps]; plane 1, if there, is 1 where a tap is
#if defined(__x86_64__)

#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/x86_avx512vnni.h"

namespace rk::kernels {
namespace vnni {

void run(const ConvI8Args& args, IndexRange units);

namespace {

// The kernel's magic-number rounding holds integers below these.
constexpr int64_t kFloatLimit = int64_t{1} << 22;
constexpr int64_t kDoubleLimit = int64_t{1} << 51;

int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }

// Every value of every stage stays below the limit, for any input.
bool stages_below(const PackedConvI8& packed, const int32_t* multiplier, int64_t limit) {
  const ConvI8Params& p = packed.params;
  if (packed.acc_bound >= limit || magnitude(p.output.zero_point) >= kFloatLimit) return false;
  int64_t v = 0;
  for (int32_t c = 0; c < p.filter.out_channels; ++c) {
    const int64_t bound = scaled_bound(packed.acc_bound, {multiplier[c], 14});
    v = bound > v ? bound : v;
  }
  if (v >= limit) return false;
  if (p.activation == Activation::kClip && magnitude(p.clip) >= limit) return false;
  if (p.has_residual) {
    const int64_t residual = scaled_bound(input_bound(p.residual_offset), p.residual_scale);
    if (input_bound(p.residual_offset) >= limit || residual >= limit) return false;
    if (magnitude(p.residual_scale.scale) >= 1 << 24) return false;
    v += residual;
  }
  if (magnitude(p.output.scale.scale) >= 1 << 24) return false;
  const int64_t last = scaled_bound(v, p.output.scale);
  return v < limit && last >= 0 && last < limit;
}

bool accepts(const PackedConvI8& packed) {
  const ConvFilter& f = packed.params.filter;
  if (packed.wide || packed.acc_bound > INT32_MAX) return false;
  const int64_t rows = axis_plan(f, true).reach();
  const int64_t columns = axis_plan(f, false).span(kMinBandColumns) + 3;
  return rows <= kScratchPixels && columns <= kScratchPixels && rows * columns <= kScratchPixels;
}

// What byte number `plane` holds of a weight: the bytes add up to it.
int8_t part(int32_t weight, int32_t plane) {
  const auto clamped = [](int32_t w) { return w < -128 ? -128 : w > 127 ? 127 : w; };
  for (int32_t i = 0; i < plane; ++i) weight -= clamped(weight);
  return static_cast<int8_t>(clamped(weight));
}

int32_t offset_of(const ConvI8Params& source, int32_t channel) {
  return source.weight_offset != nullptr ? source.weight_offset[channel] : 0;
}

// Bytes that hold every w + o. Offsets are large where all weights of a channel have one sign.
Result<int32_t> planes_of_sums(const ConvI8Params& source) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  int32_t planes = 1;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    for (int32_t i = 0; i < f.in_per_group(); ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t at = plain_weight_index(f, source.order, oc, i, tap);
        const int32_t sum = source.weights[at] + offset_of(source, oc);
        const int32_t needed = sum < 0 ? (127 - sum) / 128 : (126 + sum) / 127;
        planes = std::max(planes, needed);
      }
    }
  }
  if (planes > kMaxPlanes) return unsupported("weights with their offsets need too many planes");
  return planes;
}

void pack_dense(const ConvI8Params& source, bool offset_apart, int32_t planes, int64_t tile_bytes,
                int8_t* packed) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  for (int32_t tile = 0; tile * kTile < f.out_channels; ++tile) {
    const BlockRange blocks = tile_input_blocks(f, tile, kTile);
    const int32_t channels = std::min(kTile, f.out_channels - tile * kTile);
    const int32_t vectors = (channels + kVector - 1) / kVector;
    int8_t* out = packed + tile * tile_bytes;
    for (int32_t block = blocks.begin; block < blocks.end; ++block) {
      const int32_t quads = (lanes_of_block(f.in_channels, block) + 3) / 4;
      for (int32_t plane = 0; plane < planes; ++plane) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          for (int32_t quad = 0; quad < quads; ++quad) {
            for (int32_t lane = 0; lane < vectors * kVector; ++lane) {
              for (int32_t k = 0; k < 4; ++k, ++out) {
                const int32_t oc = tile * kTile + lane;
                const int32_t ic = block * kHostBlock + quad * 4 + k;
                if (oc >= f.out_channels || ic >= f.in_channels) continue;
                const int32_t in_of_group = ic - oc / f.out_per_group() * f.in_per_group();
                if (in_of_group < 0 || in_of_group >= f.in_per_group()) continue;
                const int32_t w =
                    source.weights[plain_weight_index(f, source.order, oc, in_of_group, tap)];
                *out = part(offset_apart ? w : w + offset_of(source, oc), plane);
              }
            }
          }
        }
      }
    }
  }
}

void pack_depthwise(const ConvI8Params& source, int32_t planes, int8_t* packed) {
  const ConvFilter& f = source.filter;
  const AxisPlan y = axis_plan(f, true), x = axis_plan(f, false);
  const int64_t groups = tap_groups(f);
  for (int32_t c = 0; c < f.out_channels; ++c) {
    for (int64_t ky = 0; ky < f.kernel.h; ++ky) {
      for (int64_t kx = 0; kx < f.kernel.w; ++kx) {
        const int64_t plain = plain_weight_index(f, source.order, c, 0, ky * f.kernel.w + kx);
        const int64_t row = y.tap(ky) / f.dilation.h;
        const int64_t column = x.tap(kx);
        const int64_t group = (c / kHostBlock * f.kernel.h + row) * groups + column / 4;
        int8_t* const out = packed + group * planes * 64 + c % kHostBlock * 4 + column % 4;
        out[0] = source.weights[plain];
        if (planes == 2) out[64] = 1;
      }
    }
  }
}

bool has_offsets(const ConvI8Params& source) {
  for (int32_t c = 0; c < source.filter.out_channels; ++c) {
    if (offset_of(source, c) != 0) return true;
  }
  return false;
}

// Planes of weights: see Constants.
Result<int32_t> planes_of(const ConvI8Params& source) {
  if (source.filter.depthwise()) return has_offsets(source) ? 2 : 1;
  if (source.filter.groups == 1) return 1;
  return planes_of_sums(source);
}

// bias - 128 * sum(w + o) modulo 2^32: the kernel's sums wrap too, and the true result fits.
uint32_t base_of(const ConvI8Params& source, int32_t oc) {
  const ConvFilter& f = source.filter;
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  int64_t sum = 0;
  for (int32_t i = 0; i < f.in_per_group(); ++i) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      sum +=
          source.weights[plain_weight_index(f, source.order, oc, i, tap)] + offset_of(source, oc);
    }
  }
  const int64_t bias = source.bias != nullptr ? source.bias[oc] : 0;
  return static_cast<uint32_t>(bias - 128 * sum);
}

Status pack_constants(const ConvI8Params& source, bool offset_apart, int32_t planes,
                      PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  if (!stages_below(packed, multiplier, kDoubleLimit)) {
    return unsupported("a stage could leave the range of exact doubles");
  }
  const uint64_t lanes = static_cast<uint64_t>(align_up(f.out_channels, kTile));
  RK_ASSIGN(packed.constants, Buffer::try_make(64 + lanes * 12, kMaxObjectBytes));
  Constants constants;
  constants.planes = planes;
  constants.float_route = stages_below(packed, multiplier, kFloatLimit);
  auto* const base = reinterpret_cast<int32_t*>(packed.constants.data() + 64);
  auto* const offset = base + lanes;
  auto* const scale = reinterpret_cast<float*>(offset + lanes);
  for (int32_t c = 0; c < f.out_channels; ++c) {
    base[c] = static_cast<int32_t>(base_of(source, c));
    offset[c] = offset_apart ? offset_of(source, c) : 0;
    scale[c] = std::ldexp(static_cast<float>(multiplier[c]), -14);  // exact: 16 bits
    constants.sums |= offset[c] != 0;
  }
  constants.base = base;
  constants.offset = offset;
  constants.multiplier = scale;
  static_assert(sizeof(Constants) <= 64);
  std::memcpy(packed.constants.data(), &constants, sizeof constants);
  return ok_status();
}

Status pack(const ConvI8Params& source, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  const bool offset_apart = f.groups == 1 || f.depthwise();
  RK_ASSIGN(const int32_t planes, planes_of(source));
  RK_TRY(pack_constants(source, offset_apart, planes, packed));
  if (f.depthwise()) {
    const int64_t extents[] = {channel_blocks(f.out_channels), f.kernel.h, tap_groups(f), planes,
                               64};
    const auto bytes = checked_product(extents);
    if (!bytes) return out_of_memory("convolution: the weights do not fit the address space");
    RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
    pack_depthwise(source, planes, reinterpret_cast<int8_t*>(packed.weights.data()));
    return ok_status();
  }
  const int64_t tile_extents[] = {max_tile_input_blocks(f, kTile), planes, f.kernel.h, f.kernel.w,
                                  kHostBlock * kTile};
  const auto tile_bytes = checked_product(tile_extents);
  const auto bytes =
      tile_bytes ? checked_mul(*tile_bytes, static_cast<uint64_t>(ceil_div(f.out_channels, kTile)))
                 : std::nullopt;
  if (!bytes) return out_of_memory("convolution: the weights do not fit the address space");
  RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
  pack_dense(source, offset_apart, planes, static_cast<int64_t>(*tile_bytes),
             reinterpret_cast<int8_t*>(packed.weights.data()));
  return ok_status();
}

}  // namespace
}  // namespace vnni

extern const ConvI8Kernel conv_i8__avx512vnni_6x64;
const ConvI8Kernel conv_i8__avx512vnni_6x64 = {"conv_i8__avx512vnni_6x64", vnni::kTile,
                                               vnni::accepts, vnni::pack, vnni::run};

}  // namespace rk::kernels

#endif  // x86-64
