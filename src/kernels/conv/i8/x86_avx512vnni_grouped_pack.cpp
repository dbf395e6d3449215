// SPDX-License-Identifier: Apache-2.0
// Packing for conv_i8__avx512vnni_grouped: see x86_avx512vnni_grouped.h for the layout.
#if defined(__x86_64__)

#include "base/checked_math.h"
#include "kernels/conv/i8/x86_avx512vnni_grouped.h"

namespace rk::kernels {
namespace vnni::grouped {

void run(const ConvI8Args& args, IndexRange units);

namespace {

bool accepts(const PackedConvI8& packed) {
  const ConvFilter& f = packed.params.filter;
  return f.groups > 1 && f.in_per_group() % kQuad == 0 && f.in_per_group() / kQuad <= kMaxQuads &&
         groups_suit_quads(f) && int64_t{f.kernel.h} * f.kernel.w <= kMaxTaps &&
         fits_bands(f, kScratchPixels / most_input_blocks(f)) && accepts_stages(packed);
}

// visit(at, oc, i, tap) with the place of plane 0 of each weight; planes are 64 bytes apart.
template <typename Visit>
void visit_weights(const ConvFilter& f, int32_t planes, const Visit& visit) {
  const int64_t taps = int64_t{f.kernel.h} * f.kernel.w;
  const int64_t quads = f.in_per_group() / kQuad;
  for (int32_t oc = 0; oc < f.out_channels; ++oc) {
    const int64_t block = oc / kVector * block_vectors(f, planes);
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int32_t i = 0; i < f.in_per_group(); ++i) {
        const int64_t vector = block + (tap * quads + i / kQuad) * planes;
        visit(vector * 64 + oc % kVector * kQuad + i % kQuad, oc, i, tap);
      }
    }
  }
}

Status pack(const ConvI8Params& source, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  RK_ASSIGN(const int32_t planes, planes_of_weights(source));
  RK_TRY(pack_constants(source, {.planes = planes}, packed));
  const int64_t extents[] = {channel_blocks(f.out_channels), block_vectors(f, planes), 64};
  const auto bytes = checked_product(extents);
  if (!bytes) return out_of_memory("convolution: the weights do not fit the address space");
  RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
  auto* const to = reinterpret_cast<int8_t*>(packed.weights.data());
  visit_weights(f, planes, [&](int64_t at, int32_t oc, int32_t i, int64_t tap) {
    const int32_t offset = source.weight_offset != nullptr ? source.weight_offset[oc] : 0;
    const int32_t weight = source.weights[plain_weight_index(f, source.order, oc, i, tap)] + offset;
    for (int32_t plane = 0; plane < planes; ++plane) to[at + plane * 64] = part(weight, plane);
  });
  return ok_status();
}

void unpack(const PackedConvI8& packed, const int16_t* weight_offset, int8_t* plain) {
  const ConvFilter& f = packed.params.filter;
  const int32_t planes = reinterpret_cast<const Constants*>(packed.constants.data())->planes;
  const auto* const from = reinterpret_cast<const int8_t*>(packed.weights.data());
  visit_weights(f, planes, [&](int64_t at, int32_t oc, int32_t i, int64_t tap) {
    int32_t weight = weight_offset != nullptr ? -weight_offset[oc] : 0;
    for (int32_t plane = 0; plane < planes; ++plane) weight += from[at + plane * 64];
    plain[plain_weight_index(f, packed.params.order, oc, i, tap)] = static_cast<int8_t>(weight);
  });
}

}  // namespace
}  // namespace vnni::grouped

extern const ConvI8Kernel conv_i8__avx512vnni_grouped;
const ConvI8Kernel conv_i8__avx512vnni_grouped = {
    "conv_i8__avx512vnni_grouped", vnni::kTile,        vnni::grouped::accepts,
    vnni::grouped::pack,           vnni::grouped::run, vnni::grouped::unpack};

}  // namespace rk::kernels

#endif  // x86-64
