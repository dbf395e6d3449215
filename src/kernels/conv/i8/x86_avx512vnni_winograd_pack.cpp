// SPDX-License-Identifier: Apache-2.0
// Packing for conv_i8__avx512vnni_winograd: see x86_avx512vnni_winograd.h for the idea and the layout.
#if defined(__x86_64__)

#include <algorithm>

#include "base/checked_math.h"
#include "kernels/conv/i8/x86_avx512vnni_winograd.h"

namespace rk::kernels {
namespace vnni::winograd {

void run(const ConvI8Args& args, IndexRange units);

namespace {

constexpr int64_t kMaxTransformed = 1280
                                    << 10;  // bytes; more would be read from the third-level cache

bool accepts_packed(const PackedConvI8& packed) {
  return accepts(packed) && packed.params.filter.in_channels <= kMaxChannels &&
         accepts_stages(packed);
}

// Whether the layer takes less time than by the direct tile, by cycles per pair of input and output channel as measured
// on a Zen 4: products, transformations of activations, and those of weights once per band.
bool pays(const ConvI8Params& params) {
  constexpr double kDirectTap = 1 / 58.9, kPoint = 1 / 28.8, kInput = 0.29, kOutput = 0.38;
  constexpr double kWeight = 3.7;
  const ConvFilter& f = params.filter;
  const Extent2 out = params.usual_output;
  if (f.in_channels < 32 || f.out_channels < 32 || out.h <= 0 || out.w <= 0) return false;
  const auto points_along = [](int64_t outputs) {
    return patches_along(outputs) * kPatch - (ends_in_half(outputs) ? 2 : 0);
  };
  const auto points = static_cast<double>(points_along(out.h) * points_along(out.w));
  const int64_t bands = ceil_div(patches_along(out.h) * patches_along(out.w), patches_of_band(f));
  const double transformations = points * (kInput / f.out_channels + kOutput / f.in_channels);
  return points * kPoint + transformations + kWeight * static_cast<double>(bands) <
         kDirectTap * kTaps * out.h * out.w;
}

int64_t units(const ConvI8Args& args) {
  return PatchUnits(args.packed->params.filter, args.extents).count();
}

// Where (output channel, input channel) lies among the vectors of its tile, in units of 16 x 2, and there.
int64_t vector_at(const ConvFilter& f, int32_t oc, int32_t ic) {
  return int64_t{ic} / 2 * vectors_of(f, oc / kTile) + oc % kTile / kVector;
}
int64_t lane_at(int32_t oc, int32_t ic) { return oc % kVector * 2 + ic % 2; }

void pack_channel(const ConvI8Params& source, int32_t oc, int8_t* tile) {
  const ConvFilter& f = source.filter;
  for (int32_t ic = 0; ic < f.in_channels; ++ic) {
    int8_t* const to = tile + vector_at(f, oc, ic) * kTaps * kPair + lane_at(oc, ic);
    for (int32_t tap = 0; tap < kTaps; ++tap)
      to[tap * kPair] = source.weights[plain_weight_index(f, source.order, oc, ic, tap)];
  }
}

// Weights and offsets as bytes.
Result<Buffer> pack_bytes(const ConvI8Params& source) {
  const ConvFilter& f = source.filter;
  const int64_t tiles = ceil_div(f.out_channels, kTile);
  RK_ASSIGN(Buffer packed,
            Buffer::try_make(static_cast<uint64_t>(offset_bytes(f) + tiles * tile_bytes(f)),
                             kMaxObjectBytes));
  auto* const offsets = reinterpret_cast<int16_t*>(packed.data());
  auto* const weights = reinterpret_cast<int8_t*>(packed.data()) + offset_bytes(f);
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int16_t offset = source.weight_offset != nullptr ? source.weight_offset[oc] : int16_t{0};
    if (!accepts_offset(offset))
      return unsupported("weights with their offsets need more than 9 bits");
    offsets[oc * 2] = offsets[oc * 2 + 1] = offset;
    pack_channel(source, oc, weights + oc / kTile * tile_bytes(f));
  }
  return packed;
}

Result<Buffer> transform(const ConvFilter& f, const Buffer& bytes) {
  const int64_t tiles = ceil_div(f.out_channels, kTile);
  RK_ASSIGN(Buffer points,
            Buffer::try_make(static_cast<uint64_t>(tiles * tile_elements(f)) * 2, kMaxObjectBytes));
  for (int32_t tile = 0; tile < tiles; ++tile) {
    const int32_t vectors = vectors_of(f, tile);
    transform_weights(
        {reinterpret_cast<const int8_t*>(bytes.data()) + offset_bytes(f) + tile * tile_bytes(f),
         reinterpret_cast<const int16_t*>(bytes.data()) + int64_t{tile} * 4 * kPair,
         channel_pairs(f), vectors,
         reinterpret_cast<int16_t*>(points.data()) + tile * tile_elements(f),
         channel_pairs(f) * vectors * kPair});
  }
  return points;
}

Status pack(const ConvI8Params& source, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  const int64_t points = ceil_div(f.out_channels, kTile) * tile_elements(f) * 2;
  const bool transformed = points <= std::min(kMaxTransformed, source.spare_bytes);
  RK_TRY(pack_constants(source, {.transformed = transformed}, packed));
  RK_ASSIGN(packed.weights, pack_bytes(source));
  if (transformed) {
    RK_ASSIGN(packed.weights, transform(f, packed.weights));
  }
  return ok_status();
}

// w + o from its points: g0 = u0 / 6, g1 = (u1 - u2) / 2, g2 = u5 / 6 along each axis.
template <typename Point>
int32_t weight_of_points(int32_t tap, const Point& point) {
  const auto along = [](int32_t g, const auto& u) {
    return g == 0 ? u(0) / 6 : g == 1 ? (u(1) - u(2)) / 2 : u(5) / 6;
  };
  return along(tap / 3, [&](int32_t row) {
    return along(tap % 3, [&](int32_t column) { return point(row * kPatch + column); });
  });
}

void unpack(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain) {
  const ConvFilter& f = packed.params.filter;
  const bool transformed = reinterpret_cast<const Constants*>(packed.constants.data())->transformed;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int32_t tile = oc / kTile;
    const int64_t step = channel_pairs(f) * vectors_of(f, tile) * kPair;
    for (int32_t ic = 0; ic < f.in_channels; ++ic) {
      const int64_t vector = vector_at(f, oc, ic), lane = lane_at(oc, ic);
      for (int32_t tap = 0; tap < kTaps; ++tap) {
        int8_t& weight = plain[plain_weight_index(f, packed.params.order, oc, ic, tap)];
        if (!transformed) {
          const auto* const bytes = reinterpret_cast<const int8_t*>(packed.weights.data());
          weight =
              bytes[offset_bytes(f) + tile * tile_bytes(f) + (vector * kTaps + tap) * kPair + lane];
          continue;
        }
        const auto* const points = reinterpret_cast<const int16_t*>(packed.weights.data()) +
                                   tile * tile_elements(f) + vector * kPair + lane;
        const int32_t sum =
            weight_of_points(tap, [&](int32_t point) { return int32_t{points[point * step]}; });
        weight = static_cast<int8_t>(sum - (weight_offset != nullptr ? weight_offset[oc] : 0));
      }
    }
  }
}

}  // namespace
}  // namespace vnni::winograd

extern const ConvI8Kernel conv_i8__avx512vnni_winograd;
const ConvI8Kernel conv_i8__avx512vnni_winograd = {
    "conv_i8__avx512vnni_winograd", vnni::kTile,          vnni::winograd::accepts_packed,
    vnni::winograd::pack,           vnni::winograd::run,  vnni::winograd::unpack,
    vnni::winograd::pays,           vnni::winograd::units};

}  // namespace rk::kernels

#endif  // x86-64
