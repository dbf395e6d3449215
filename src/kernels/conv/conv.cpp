// SPDX-License-Identifier: Apache-2.0
// Checks, packing and dispatch of conv_i8. Everything that depends on a file's numbers is proved
// here, once, so that the kernels need no checks.
#include "kernels/conv/conv.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/checked_math.h"
#include "kernels/conv/common/blocking.h"
#include "kernels/conv/i8/stages.h"
#include "kernels/dispatch.h"

namespace rk::kernels {

namespace {

// Far beyond any picture or kernel, and small enough that products of two extents are far from
// overflow.
constexpr int32_t kMaxExtent = 1 << 24;

bool legal(int32_t extent) { return extent >= 1 && extent <= kMaxExtent; }
bool legal(Extent2 extent) { return legal(extent.h) && legal(extent.w); }
bool legal_pad(int32_t pad) { return pad >= -kMaxExtent && pad <= kMaxExtent; }

// Sum of |w + o| of one output channel.
uint64_t weight_magnitude(const ConvI8Params& params, int32_t channel, int64_t offset) {
  const ConvFilter& filter = params.filter;
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  uint64_t sum = 0;
  if (params.order == WeightOrder::kOihw && offset > -(1 << 20) && offset < 1 << 20) {
    const int64_t count = filter.in_per_group() * taps;
    const int8_t* const row = params.weights + channel * count;
    const auto small = static_cast<int32_t>(offset);
    // In pieces whose sum fits 32 bits: that is what compilers vectorize well.
    for (int64_t begin = 0; begin < count; begin += 1024) {
      const int64_t end = std::min(count, begin + 1024);
      uint32_t part = 0;
      for (int64_t i = begin; i < end; ++i) part += static_cast<uint32_t>(std::abs(row[i] + small));
      sum += part;
    }
    return sum;
  }
  for (int32_t i = 0; i < filter.in_per_group(); ++i) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t index = plain_weight_index(filter, params.order, channel, i, tap);
      const int64_t weight = params.weights[index] + offset;
      sum += static_cast<uint64_t>(weight < 0 ? -weight : weight);
    }
  }
  return sum;
}

// Decides the accumulator's width and proves that no later stage can leave int64.
Status prove_bounds(const ConvI8Params& params, PackedConvI8& packed) {
  const ConvFilter& filter = params.filter;
  int64_t largest_v = 0;
  for (int32_t c = 0; c < filter.out_channels; ++c) {
    const int64_t offset = params.weight_offset != nullptr ? params.weight_offset[c] : 0;
    // At most 2^30 weights (they are in memory), so this is below 2^53.
    const int64_t acc = static_cast<int64_t>(weight_magnitude(params, c, offset)) * 128;
    const int64_t bias = params.bias != nullptr ? params.bias[c] : 0;
    const int64_t bound = acc + (bias < 0 ? -bias : bias);
    if (acc > std::numeric_limits<int32_t>::max() || offset > 32767 - 127 ||
        offset < -32768 + 128) {
      packed.wide = true;  // the sum needs int64, or w + o does not fit int16
    }
    packed.acc_bound = std::max(packed.acc_bound, bound);
    const int64_t v = stages_bound(params, bound, params.multiplier[c]);
    if (v < 0) {
      return unsupported(str("convolution: output channel ", c,
                             " can overflow 64 bits: sum |w + o| * 128 + |bias| is ", bound,
                             " with multiplier ", params.multiplier[c], " / 2^",
                             params.multiplier_shift,
                             ". The weight offsets or the bias of the file are damaged"));
    }
    largest_v = std::max(largest_v, v);
  }
  if (params.has_residual) {
    const int64_t residual =
        scaled_bound(input_bound(params.residual_offset), params.residual_scale);
    if (residual < 0) {
      return unsupported(str("convolution: residual scale ", params.residual_scale.scale, " / 2^",
                             params.residual_scale.shift, " with offset ", params.residual_offset,
                             " is outside what 64-bit arithmetic holds; shifts are 0..62"));
    }
    largest_v += residual;  // both below 2^62
  }
  if (scaled_bound(largest_v, params.output.scale) < 0) {
    return unsupported(str("convolution: output scale ", params.output.scale.scale, " / 2^",
                           params.output.scale.shift, " on values up to ", largest_v,
                           " is outside what 64-bit arithmetic holds; shifts are 0..62"));
  }
  return ok_status();
}

Status fill_constants(const ConvI8Params& params, int32_t tile, PackedConvI8& packed) {
  const int32_t padded = align_up(params.filter.out_channels, tile);
  const uint64_t bytes = static_cast<uint64_t>(padded) * sizeof(int32_t);
  RK_ASSIGN(packed.bias, Buffer::try_make(bytes, kMaxObjectBytes));
  RK_ASSIGN(packed.multiplier, Buffer::try_make(bytes, kMaxObjectBytes));
  auto* const bias = reinterpret_cast<int32_t*>(packed.bias.data());
  auto* const multiplier = reinterpret_cast<int32_t*>(packed.multiplier.data());
  for (int32_t c = 0; c < params.filter.out_channels; ++c) {
    bias[c] = params.bias != nullptr ? params.bias[c] : 0;
    multiplier[c] = params.multiplier[c];
  }
  return ok_status();
}

// All but the variant's own weights.
Result<PackedConvI8> prepare(const ConvI8Params& params) {
  RK_TRY(check_conv_filter(params.filter));
  if (params.weights == nullptr || params.multiplier == nullptr) {
    return invalid_argument("convolution: weights and multipliers are required");
  }
  if (params.input_zero_point < -128 || params.input_zero_point > 127) {
    return invalid_argument(
        str("convolution: input zero point ", params.input_zero_point, " is not an int8"));
  }
  RK_TRY(check_stages(params));
  PackedConvI8 packed;
  RK_TRY(prove_bounds(params, packed));
  packed.params = params;
  packed.params.weights = nullptr;
  packed.params.weight_offset = nullptr;
  packed.params.bias = nullptr;
  packed.params.multiplier = nullptr;
  packed.params.pool = nullptr;
  if (!params.has_residual) {
    // Not proven above, and vector kernels prepare both stages whether they are used or not.
    packed.params.residual_offset = 0;
    packed.params.residual_scale = {};
  }
  return packed;
}

Status finish(const ConvI8Params& params, const ConvI8Kernel& kernel, PackedConvI8& packed) {
  packed.kernel = &kernel;
  RK_TRY(fill_constants(params, kernel.channel_tile, packed));
  RK_TRY(pack_stages(packed));
  RK_TRY(kernel.pack(params, packed));
  note_chosen(static_cast<const void*>(&kernel));
  return ok_status();
}

}  // namespace

Status check_conv_filter(const ConvFilter& filter) {
  if (!legal(filter.in_channels) || !legal(filter.out_channels) || !legal(filter.groups) ||
      !legal(filter.kernel) || !legal(filter.stride) || !legal(filter.dilation)) {
    return invalid_argument(str("convolution: channels ", filter.in_channels, " -> ",
                                filter.out_channels, ", groups ", filter.groups, ", kernel ",
                                filter.kernel.h, "x", filter.kernel.w, ", stride ", filter.stride.h,
                                "x", filter.stride.w, ", dilation ", filter.dilation.h, "x",
                                filter.dilation.w, ": each must be in 1..", kMaxExtent));
  }
  if (filter.in_channels % filter.groups != 0 || filter.out_channels % filter.groups != 0) {
    return invalid_argument(str("convolution: ", filter.groups, " groups do not divide ",
                                filter.in_channels, " input and ", filter.out_channels,
                                " output channels"));
  }
  return ok_status();
}

Status check_conv_extents(const ConvExtents& extents) {
  if (!legal(extents.batch) || !legal(extents.in) || !legal(extents.out) ||
      !legal_pad(extents.pad_before.h) || !legal_pad(extents.pad_before.w)) {
    return invalid_argument(str("convolution: batch ", extents.batch, ", input ", extents.in.h, "x",
                                extents.in.w, ", output ", extents.out.h, "x", extents.out.w,
                                ", padding ", extents.pad_before.h, ",", extents.pad_before.w,
                                ": extents must be in 1..", kMaxExtent));
  }
  return ok_status();
}

Result<PackedConvI8> pack_conv_i8(const ConvI8Params& params) {
  RK_ASSIGN(PackedConvI8 packed, prepare(params));
  for (const ConvI8Kernel* const kernel : allowed_tables<ConvI8Kernel>("conv_i8")) {
    if (!kernel->accepts(packed) || (kernel->pays != nullptr && !kernel->pays(params))) continue;
    const Status status = finish(params, *kernel, packed);
    if (status.code() == Code::kUnsupported) continue;
    RK_TRY(status);
    return packed;
  }
  return unsupported("convolution: no kernel variant accepts it");
}

Result<PackedConvI8> pack_conv_i8(const ConvI8Params& params, const ConvI8Kernel& kernel) {
  RK_ASSIGN(PackedConvI8 packed, prepare(params));
  if (!kernel.accepts(packed)) {
    return unsupported(str("convolution: ", kernel.name, " does not accept it"));
  }
  RK_TRY(finish(params, kernel, packed));
  return packed;
}

bool takes_interleaved_input(const PackedConvI8& packed) {
  return packed.kernel->takes_interleaved != nullptr && packed.kernel->takes_interleaved(packed);
}

std::optional<RepeatedBytes> repeated_bytes(const PackedConvI8& packed) {
  const ConvFilter& f = packed.params.filter;
  constexpr int32_t kSide = 16, kMostTaps = 16, kMostChannels = 4096;
  // Taps that do not overlap: each result depends on one byte. Padding lanes would not be repeated.
  if (!f.transposed || !f.depthwise() || packed.params.has_residual || f.kernel != f.stride ||
      f.dilation != Extent2{1, 1} || f.out_channels % kHostBlock != 0 ||
      f.out_channels > kMostChannels || f.kernel.h > kMostTaps || f.kernel.w > kMostTaps ||
      f.kernel.h * f.kernel.w > kMostTaps) {
    return std::nullopt;
  }
  // So a picture of all bytes shows what becomes of each.
  const Extent2 in = {kSide, kSide}, out = {kSide * f.kernel.h, kSide * f.kernel.w};
  const ActivationShape from = {1, f.in_channels, in}, to = {1, f.out_channels, out};
  std::vector<int8_t> input(static_cast<size_t>(blocked_elements(from)));
  std::vector<int8_t> output(static_cast<size_t>(blocked_elements(to)));
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<int8_t>(static_cast<int32_t>(i / kHostBlock % 256) - 128);
  const ConvI8Args args = {&packed, {1, in, out, {0, 0}}, input.data(), nullptr, output.data()};
  conv_i8(args, {0, conv_i8_units(args)});
  const auto pixel_of = [&](size_t i) {
    const auto pixel = static_cast<int32_t>(i / kHostBlock % static_cast<size_t>(to.pixels()));
    return static_cast<size_t>(pixel / out.w / f.kernel.h * kSide + pixel % out.w / f.kernel.w);
  };
  RepeatedBytes bytes = {};
  for (size_t i = 0; i < static_cast<size_t>(to.pixels()) * kHostBlock; i += kHostBlock)
    bytes[pixel_of(i)] = output[i];
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] != bytes[pixel_of(i)]) return std::nullopt;
  }
  return bytes;
}

bool can_unpack_conv_i8(const PackedConvI8& packed) {
  return packed.kernel->unpack != nullptr && !packed.params.filter.depthwise();
}

void unpack_conv_i8(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain) {
  packed.kernel->unpack(packed, weight_offset, plain);
}

std::vector<ConvI8Variant> conv_i8_variants() {
  std::vector<ConvI8Variant> variants;
  for (const KernelVariant& variant : kernel_variants()) {
    if (variant.family == "conv_i8" && variant.runs_here())
      variants.push_back({variant.name, static_cast<const ConvI8Kernel*>(variant.object)});
  }
  return variants;
}

int64_t conv_i8_units(const ConvI8Args& args) {
  const ConvI8Kernel& kernel = *args.packed->kernel;
  if (kernel.units != nullptr) return kernel.units(args);
  return ConvUnits(args.packed->params.filter, args.extents, kernel.channel_tile).count();
}

void conv_i8(const ConvI8Args& args, IndexRange units) { args.packed->kernel->run(args, units); }

}  // namespace rk::kernels
