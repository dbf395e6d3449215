// SPDX-License-Identifier: Apache-2.0
// Packing and dispatch of conv_f16, dispatch of conv_f32.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/checked_math.h"
#include "base/half.h"
#include "kernels/conv/common/avx2_dense_form.h"
#include "kernels/conv/common/blocking.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/conv/f16/half_weights.h"
#include "kernels/dispatch.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16_half;

namespace {

bool is_half(float value) {
  return std::bit_cast<uint32_t>(half_to_float(float_to_half(value))) ==
         std::bit_cast<uint32_t>(value);
}

// Whether this CPU has a variant that takes these weights as fp16.
bool packs_half(const ConvF16Params& params) {
  if (find_kernel("conv_f16_half") == nullptr || !takes_dense_tiles(params.filter) ||
      !wants_half_weights(params.filter, params.output_pixels)) {
    return false;
  }
  const ConvFilter& f = params.filter;
  const int64_t count = int64_t{f.out_channels} * f.in_per_group() * f.kernel.h * f.kernel.w;
  return params.weights_f16 != nullptr ||
         std::all_of(params.weights_f32, params.weights_f32 + count, is_half);
}

uint16_t plain_half(const ConvF16Params& params, int64_t index) {
  return params.weights_f16 != nullptr ? params.weights_f16[index]
                                       : float_to_half(params.weights_f32[index]);
}

float plain_weight(const ConvF16Params& params, int64_t index) {
  return params.weights_f16 != nullptr ? half_to_float(params.weights_f16[index])
                                       : params.weights_f32[index];
}

// visit(plain, packed) with the two indices of each weight.
template <typename Visit>
void visit_weights(const ConvFilter& filter, WeightOrder order, const Visit& visit) {
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const int64_t blocks = channel_blocks(filter.in_channels);
  const int64_t channels = filter.in_per_group();
  for (int32_t oc = 0; oc < filter.out_channels; ++oc) {
    const int64_t tile = oc / kHostBlock;
    for (int64_t i = 0; i < channels; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t row =
            filter.groups > 1
                ? (tile * taps + tap) * channels + i
                : ((tile * blocks + i / kHostBlock) * taps + tap) * kHostBlock + i % kHostBlock;
        visit(plain_weight_index(filter, order, oc, i, tap), row * kHostBlock + oc % kHostBlock);
      }
    }
  }
}

// The weights as they were packed.
template <typename Stored>
const Stored* packed_weights(const PackedConvF16& packed) {
  return reinterpret_cast<const Stored*>(packed.weights.data());
}

}  // namespace

Result<PackedConvF16> pack_conv_f16(const ConvF16Params& params) {
  RK_TRY(check_conv_filter(params.filter));
  if ((params.weights_f16 != nullptr) == (params.weights_f32 != nullptr)) {
    return invalid_argument("fp16 convolution: exactly one of fp16 and fp32 weights is required");
  }
  const ConvFilter& filter = params.filter;
  const bool grouped = filter.groups > 1;
  constexpr uint16_t kHalfInfinity = 0x7c00;
  PackedConvF16 packed;
  packed.half = packs_half(params);
  const int64_t extents[] = {channel_blocks(filter.out_channels),
                             grouped ? 1 : channel_blocks(filter.in_channels),
                             filter.kernel.h,
                             filter.kernel.w,
                             grouped ? filter.in_per_group() : kHostBlock,
                             kHostBlock,
                             packed.half ? int64_t{sizeof(uint16_t)} : int64_t{sizeof(float)}};
  const auto bytes = checked_product(extents);
  if (!bytes) return out_of_memory("fp16 convolution: the weights do not fit the address space");
  RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
  const uint64_t bias_bytes = uint64_t{sizeof(float)} * kHostBlock *
                              static_cast<uint64_t>(channel_blocks(filter.out_channels));
  RK_ASSIGN(packed.bias, Buffer::try_make(bias_bytes, kMaxObjectBytes));
  if (packed.half) {
    auto* const weights = reinterpret_cast<uint16_t*>(packed.weights.data());
    visit_weights(filter, params.order, [&](int64_t plain, int64_t at) {
      weights[at] = plain_half(params, plain);
      packed.moderate &= (weights[at] & kHalfInfinity) != kHalfInfinity;
    });
  } else {
    auto* const weights = reinterpret_cast<float*>(packed.weights.data());
    visit_weights(filter, params.order, [&](int64_t plain, int64_t at) {
      weights[at] = plain_weight(params, plain);
      packed.moderate &= std::abs(weights[at]) <= 0x1p96f;  // false of what is no number
    });
  }
  if (params.bias != nullptr) {
    auto* const bias = reinterpret_cast<float*>(packed.bias.data());
    for (int32_t c = 0; c < filter.out_channels; ++c) bias[c] = params.bias[c];
  }
  packed.params = params;
  packed.params.weights_f16 = nullptr;
  packed.params.weights_f32 = nullptr;
  packed.params.bias = nullptr;
  return packed;
}

void unpack_conv_f16(const PackedConvF16& packed, uint16_t* weights_f16) {
  visit_weights(packed.params.filter, packed.params.order, [&](int64_t plain, int64_t at) {
    weights_f16[plain] = packed.half ? packed_weights<uint16_t>(packed)[at]
                                     : float_to_half(packed_weights<float>(packed)[at]);
  });
}

void unpack_conv_f16(const PackedConvF16& packed, float* weights_f32) {
  visit_weights(packed.params.filter, packed.params.order, [&](int64_t plain, int64_t at) {
    weights_f32[plain] = packed.half ? half_to_float(packed_weights<uint16_t>(packed)[at])
                                     : packed_weights<float>(packed)[at];
  });
}

bool takes_interleaved_input(const PackedConvF16& packed) {
  const ConvFilter& filter = packed.params.filter;
  if (find_kernel("conv_f16_half") != nullptr) return is_few(filter);
  const KernelVariant* const variant = find_kernel("conv_f16");
  return variant != nullptr && variant->name == "conv_f16__avx2" &&
         avx2_dense::few_channels(filter);
}

// Where all tiles are whole, equal ranges take equal time. Boards have cores of two speeds; there pieces are dealt out.
bool takes_large_ranges(const PackedConvF16& packed) {
#if defined(__x86_64__)
  const ConvFilter& filter = packed.params.filter;
  return filter.groups == 1 && filter.out_channels % kConvF16Tile == 0;
#else
  static_cast<void>(packed);
  return false;
#endif
}

int64_t conv_f16_units(const ConvF16Args& args) {
  return ConvUnits(args.packed->params.filter, args.extents, kConvF16Tile).count();
}

void conv_f16_half(const ConvF16Args& args, IndexRange units) {
  RK_DISPATCH(conv_f16_half, args, units);
}

void conv_f16(const ConvF16Args& args, IndexRange units) {
  if (args.packed->half) return conv_f16_half(args, units);
  RK_DISPATCH(conv_f16, args, units);
}

void conv_f32(const ConvF32Args& args, IndexRange units) { RK_DISPATCH(conv_f32, args, units); }

}  // namespace rk::kernels
