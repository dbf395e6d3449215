// SPDX-License-Identifier: Apache-2.0
// Packing for the int8 kernels that go through lane_tiles.h.
#include <cmath>
#include <cstring>

#include "kernels/conv/common/bands.h"
#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/i8/exact_stages.h"
#include "kernels/conv/i8/pack_lanes.h"
#include "kernels/conv/i8/winograd_form.h"

namespace rk::kernels {
namespace {

Status pack_constants(const ConvI8Params& source, int32_t weight_bytes, bool offsets_apart,
                      PackedConvI8& packed) {
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  const ExactRoutes routes = exact_routes(packed);
  if (!routes.in_double) {
    return unsupported("a stage could leave the range of exact doubles");
  }
  constexpr uint64_t kHeader = 64;
  static_assert(sizeof(LaneConstants) <= kHeader);
  const int32_t lanes = align_up(source.filter.out_channels, kLaneTile);
  RK_ASSIGN(packed.constants,
            Buffer::try_make(kHeader + static_cast<uint64_t>(lanes) * 16, kMaxObjectBytes));
  LaneConstants constants;
  constants.weight_bytes = weight_bytes;
  constants.float_route = routes.in_float;
  auto* const scale = reinterpret_cast<float*>(packed.constants.data() + kHeader);
  for (int32_t c = 0; c < source.filter.out_channels; ++c)
    scale[c] = std::ldexp(static_cast<float>(multiplier[c]), -source.multiplier_shift);
  constants.scale = scale;
  constants.stages = stage_constants(packed);
  constants.winograd = weight_bytes == 2 && winograd::accepts(packed);
  for (int32_t c = 0; c < source.filter.out_channels; ++c)
    constants.winograd &= winograd::accepts_offset(weight_offset_of(source, c));
  if (offsets_apart) {
    auto* const offsets = reinterpret_cast<int32_t*>(scale + lanes);
    for (int32_t c = 0; c < source.filter.out_channels; ++c)
      offsets[c] = weight_offset_of(source, c);
    constants.totals = offsets;
  }
  std::memcpy(packed.constants.data(), &constants, sizeof constants);
  return ok_status();
}

template <typename Weight>
Status pack(const ConvI8Params& source, LaneSteps steps, bool with_offset, PackedConvI8& packed) {
  RK_TRY(pack_constants(source, sizeof(Weight), !with_offset, packed));
  const auto bytes = lane_weight_bytes(source.filter, steps, sizeof(Weight));
  if (!bytes) return out_of_memory("convolution: the weights do not fit the address space");
  RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
  pack_lanes(source, steps, with_offset, reinterpret_cast<Weight*>(packed.weights.data()));
  return ok_status();
}

bool sums_fit_bytes(const ConvI8Params& source) {
  const ConvFilter& f = source.filter;
  const int64_t count = int64_t{f.in_per_group()} * f.kernel.h * f.kernel.w;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int32_t offset = weight_offset_of(source, oc);
    if (offset == 0) continue;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
      const int64_t at =
          plain_weight_index(f, source.order, oc, static_cast<int32_t>(i / taps), i % taps);
      const int32_t sum = source.weights[at] + offset;
      if (sum < -128 || sum > 127) return false;
    }
  }
  return true;
}

}  // namespace

bool accepts_lanes(const PackedConvI8& packed) {
  const ConvI8Params& p = packed.params;
  return !packed.wide && p.output.zero_point >= -128 && p.output.zero_point <= 127 &&
         fits_bands(p.filter, kLaneScratchPixels) &&
         int64_t{p.filter.kernel.h} * p.filter.kernel.w <= kMaxLaneTaps;
}

void unpack_lanes_by_2(const PackedConvI8& packed, const int16_t* offset, int8_t* plain) {
  unpack_lanes<int16_t>(packed, {2, 2}, offset, plain);
}

void unpack_lanes_by_1(const PackedConvI8& packed, const int16_t* offset, int8_t* plain) {
  unpack_lanes<int16_t>(packed, {1, 1}, offset, plain);
}

namespace {

void unpack_bytes(const PackedConvI8& packed, int32_t step, const int16_t* offset, int8_t* plain) {
  const auto& constants = *reinterpret_cast<const LaneConstants*>(packed.constants.data());
  if (constants.weight_bytes != 1) return unpack_lanes_by_1(packed, offset, plain);
  unpack_lanes<int8_t>(packed, {step, 1}, constants.totals == nullptr ? offset : nullptr, plain);
}

}  // namespace

void unpack_lanes_by_4(const PackedConvI8& packed, const int16_t* offset, int8_t* plain) {
  unpack_bytes(packed, 4, offset, plain);
}

void unpack_lanes_by_8(const PackedConvI8& packed, const int16_t* offset, int8_t* plain) {
  unpack_bytes(packed, 8, offset, plain);
}

Status pack_lanes_by_2(const ConvI8Params& source, PackedConvI8& packed) {
  return pack<int16_t>(source, {2, 2}, true, packed);
}

Status pack_lanes_by_1(const ConvI8Params& source, PackedConvI8& packed) {
  return pack<int16_t>(source, {1, 1}, true, packed);
}

namespace {

Status pack_bytes(const ConvI8Params& source, int32_t step, PackedConvI8& packed) {
  const bool fits = sums_fit_bytes(source);
  if (source.filter.depthwise() || (!fits && source.filter.groups != 1)) {
    return pack_lanes_by_1(source, packed);
  }
  return pack<int8_t>(source, {step, 1}, fits, packed);
}

}  // namespace

Status pack_lanes_by_4(const ConvI8Params& source, PackedConvI8& packed) {
  return pack_bytes(source, 4, packed);
}

Status pack_lanes_by_8(const ConvI8Params& source, PackedConvI8& packed) {
  return pack_bytes(source, 8, packed);
}

Status pack_lanes_unsigned_by_4(const ConvI8Params& source, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  if (f.groups != 1) return unsupported("groups do not share a sum of inputs");
  RK_TRY(pack_bytes(source, 4, packed));
  auto& constants = *reinterpret_cast<LaneConstants*>(packed.constants.data());
  const int32_t lanes = align_up(f.out_channels, kLaneTile);
  auto* const addend = const_cast<float*>(constants.scale) + int64_t{lanes} * 2;
  auto* const start = reinterpret_cast<int32_t*>(addend + lanes);
  const auto* const bias = reinterpret_cast<const int32_t*>(packed.bias.data());
  bool direct = constants.float_route && constants.stages == nullptr && !source.has_residual &&
                source.output.scale.scale >= 0;
  // Also of channels that do not exist: their scale is 0.
  for (int32_t oc = 0; oc < lanes && direct; ++oc)
    direct = start_addend(static_cast<double>(constants.scale[oc]), addend[oc]);
  if (direct) {
    constants.addend = addend;
    constants.clamps = byte_clamps(source);
  }
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  for (int32_t oc = 0; oc < lanes; ++oc) {
    uint32_t sum = 0;  // modulo 2^32, as the sums of products
    for (int32_t i = 0; i < f.in_channels && oc < f.out_channels; ++i) {
      const int8_t* const row = source.weights + plain_weight_index(f, source.order, oc, i, 0);
      const int32_t offset = weight_offset_of(source, oc);
      for (int64_t tap = 0; tap < taps; ++tap) sum += static_cast<uint32_t>(row[tap] + offset);
    }
    const int32_t added = constants.float_route ? bias[oc] : 0;
    start[oc] = static_cast<int32_t>(static_cast<uint32_t>(added) +
                                     (direct ? uint32_t{kSumStart} : 0) - sum * 128u);
  }
  constants.start = start;
  return ok_status();
}

}  // namespace rk::kernels
