// SPDX-License-Identifier: Apache-2.0
// conv_i8 of groups of several channels with AVX512-VNNI: 8 pixels by 16 output channels, in bands (bands.h). Where the 16
// belong to one group, four channels of a pixel are spread over the vector; else a byte shuffle gives every four lanes
// those of their own group.
#if defined(__x86_64__)

#include "kernels/conv/i8/x86_avx512vnni_grouped.h"
#include "kernels/conv/i8/x86_avx512vnni_band.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni::grouped {

void run(const ConvI8Args& args, IndexRange units);

namespace {

constexpr int kPixels = 8;
constexpr int kSources = 2;  // blocks of the input that one step reads at most

// Where a step of each tap finds its four channels of all groups: in one or two blocks, by what shuffle. A byte that a
// block does not hold becomes 0 in its shuffle.
struct Quads {
  int64_t block[kSources];  // counted from the first that is loaded
  __m512i order[kSources];
};

Quads quads_of(const GroupLanes& lanes, int32_t at) {
  BlockRange two;
  lanes.pair(at, two);
  Quads quads;
  const int32_t blocks[kSources] = {two.begin, two.end};
  for (int s = 0; s < kSources; ++s) {
    alignas(64) uint8_t order[64];
    for (int32_t i = 0; i < 64; ++i) {
      const int32_t channel = lanes.first[i / kVector] + at + i % kQuad;
      const bool here = channel / kHostBlock == blocks[s] && (s == 0 || blocks[0] != blocks[1]);
      order[i] = static_cast<uint8_t>(here ? channel % kHostBlock : 0x80);
    }
    quads.block[s] = blocks[s] - lanes.blocks.begin;
    quads.order[s] = _mm512_load_si512(order);
  }
  return quads;
}

struct Pass {
  const uint8_t* pixels;
  const int32_t* places;   // of the pixels in scratch
  const int32_t* offsets;  // [tap]: bytes
  int64_t taps, quads, planes;
  const int64_t* block_bytes;  // uniform: [quad], from a pixel to the four channels
  const Quads* spread;         // else
  int64_t plane_bytes;         // of one block in scratch
  const int8_t* weights;
  __m512i start;
};

// kBlocks: 0 where all lanes read the same four channels, else how many blocks of the input hold them.
template <int kCount, int kBlocks>
void sum_pixels(const Pass& pass, int64_t pixel, int32_t* acc) {
  const uint8_t* x[kCount];
  __m512i sum[kCount];
  unroll<kCount>([&](auto p) RK_UNROLLED {
    x[p] = pass.pixels + int64_t{pass.places[pixel + p]} * kHostBlock;
    sum[p] = pass.start;
  });
  const int8_t* weights = pass.weights;
  const int64_t planes = pass.planes;
  for (int64_t tap = 0; tap < pass.taps; ++tap) {
    const int64_t offset = pass.offsets[tap];
    for (int64_t quad = 0; quad < pass.quads; ++quad) {
      __m512i v[kCount];
      if constexpr (kBlocks == 0) {
        const int64_t at = offset + pass.block_bytes[quad];
        unroll<kCount>([&](auto p) RK_UNROLLED {
          int32_t four;
          __builtin_memcpy(&four, x[p] + at, sizeof four);
          v[p] = _mm512_set1_epi32(four);
        });
      } else {
        const Quads& spread = pass.spread[quad];
        const int64_t first = offset + spread.block[0] * pass.plane_bytes;
        const int64_t second = offset + spread.block[1] * pass.plane_bytes;
        const auto all = [&](const uint8_t* from) RK_UNROLLED {
          return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
        };
        unroll<kCount>([&](auto p) RK_UNROLLED {
          v[p] = _mm512_shuffle_epi8(all(x[p] + first), spread.order[0]);
          if constexpr (kBlocks == 2) {
            v[p] = _mm512_or_si512(v[p], _mm512_shuffle_epi8(all(x[p] + second), spread.order[1]));
          }
        });
      }
      for (int64_t plane = 0; plane < planes; ++plane, weights += 64) {
        const __m512i w = _mm512_load_si512(weights);
        unroll<kCount>([&](auto p) RK_UNROLLED { sum[p] = _mm512_dpbusd_epi32(sum[p], v[p], w); });
      }
    }
  }
  unroll<kCount>([&](auto p) RK_UNROLLED { _mm512_store_si512(acc + p * kVector, sum[p]); });
}

template <int kBlocks, int kCount = kPixels>
void sum_band(const Pass& pass, int64_t pixel, int64_t end, int32_t* acc) {
  for (; pixel + kCount <= end; pixel += kCount)
    sum_pixels<kCount, kBlocks>(pass, pixel, acc + pixel * kVector);
  if constexpr (kCount > 1) {
    if (pixel < end) sum_band<kBlocks, kCount / 2>(pass, pixel, end, acc);
  }
}

// One block of output channels over what is loaded.
void sum_block(const Context& c, const Band& band, const GroupLanes& lanes, int64_t block,
               Scratch& scratch) {
  const int64_t plane_bytes = band.scratch_pixels() * kHostBlock;
  const int32_t channels = c.filter.in_per_group();
  int64_t block_bytes[kMaxQuads];
  alignas(64) Quads spread[kMaxQuads];
  bool two = false;
  for (int32_t at = 0; at < channels; at += kQuad) {
    const int32_t channel = lanes.first[0] + at;
    block_bytes[at / kQuad] =
        (channel / kHostBlock - lanes.blocks.begin) * plane_bytes + channel % kHostBlock;
    if (lanes.uniform) continue;
    spread[at / kQuad] = quads_of(lanes, at);
    two |= spread[at / kQuad].block[0] != spread[at / kQuad].block[1];
  }
  const int64_t channel = block * kHostBlock;
  const Pass pass = {scratch.pixels,
                     scratch.places.scratch,
                     scratch.offsets,
                     c.y.kernel * c.x.kernel,
                     channels / kQuad,
                     c.constants.planes,
                     block_bytes,
                     spread,
                     plane_bytes,
                     c.weights() + block * block_vectors(c.filter, c.constants.planes) * 64,
                     _mm512_load_si512(c.constants.start + channel)};
  const auto sum = lanes.uniform ? sum_band<0> : two ? sum_band<2> : sum_band<1>;
  sum(pass, 0, band.pixels(), scratch.acc);
}

void grouped_band(const Context& c, const Band& band, TileRange tiles, int64_t n,
                  Scratch& scratch) {
  if (!scratch.places_of(band)) scratch.places.fill(band, c.y.step, c.x.step, c.extents.out.w);
  int32_t* offset = scratch.offsets;
  for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
    for (int64_t kx = 0; kx < c.x.kernel; ++kx) {
      const int64_t pixel = c.y.tap(ky) * band.scratch_columns + c.x.tap(kx);
      *offset++ = static_cast<int32_t>(pixel * kHostBlock);
    }
  }
  const FinishFunction finish = finish_function<1>(c);
  BlockRange held = {0, 0};
  const int64_t end = smaller(int64_t{tiles.end} * 4, channel_blocks(c.filter.out_channels));
  for (int64_t block = int64_t{tiles.begin} * 4; block < end; ++block) {
    const GroupLanes lanes(c.filter, block);
    if (lanes.blocks.begin != held.begin || lanes.blocks.end != held.end) {
      held = lanes.blocks;
      for (int32_t i = held.begin; i < held.end; ++i) {
        load_block(c, band, c.image(n) + i * c.in_plane, lanes_of_block(c.filter.in_channels, i),
                   scratch.pixels + (i - held.begin) * band.scratch_pixels() * kHostBlock);
      }
    }
    sum_block(c, band, lanes, block, scratch);
    const Target target(c, band, n, block, 1);
    finish({c, target, block * kHostBlock, scratch.acc, nullptr, scratch.places.output,
            band.pixels()});
  }
}

}  // namespace

void run(const ConvI8Args& args, IndexRange units) {
  const Context c(args);
  Scratch scratch;
  const BandLimits limits = {kBandPixels, kScratchPixels / most_input_blocks(c.filter), true};
  for_each_band(c.filter, c.extents, {c.params.filter, args.extents, kTile}, limits, units,
                [&](const Band& band, TileRange tiles, int64_t n) {
                  grouped_band(c, band, tiles, n, scratch);
                });
}

}  // namespace rk::kernels::vnni::grouped

RK_AVX512VBMI_END

#endif  // x86-64
