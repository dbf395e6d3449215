// SPDX-License-Identifier: Apache-2.0
// Kernels of one tap with few output channels for conv_i8__avx512vnni_6x64, where 512-bit units are
// full-width. A sum holds four pixels by four output channels: 24 channels fill six of them, where
// sums of sixteen channels are half empty, four broadcasts in registers serve as many products as
// sixteen from memory did, and what is packed to bytes is in order. Pixels are read where the input
// has them, once. Includes intrinsics: only for files that RK_AVX512VBMI_BEGIN frames.
#pragma once

#include "kernels/conv/i8/x86_avx512vnni_rows.h"
#include "kernels/conv/i8/x86_avx512vnni_totals.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {
namespace {

// Of a layer that is_pointwise and no matrix.
inline bool takes_quarters(const Context& c) {
  return c.constants.wide && c.constants.ends == Ends::kFloat && c.constants.planes == 1 &&
         c.filter.groups == 1 && c.filter.out_channels <= 24;
}

// Neighboring pixels.
struct QuarterRun {
  const int8_t* pixels;
  const int8_t* weights;
  int64_t count;
};

RK_INLINE __m512i quarter(const void* four) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(four)));
}

// A tile of kFours times four pixels by kGroups times four channels. kWhole: all its pixels exist.
template <int kGroups, int kFours, bool kSums, Stages kStages>
struct QuarterTile {
  static constexpr int kBlocks = (kGroups + 3) / 4;
  __m512i sum[kFours][kGroups];
  __m512i bytes[kFours];  // sums of inputs, four for each pixel

  RK_INLINE void start(const int32_t* from) {
    unroll<kGroups>([&](auto g) RK_UNROLLED {
      const __m512i first = quarter(from + g * 4);
      unroll<kFours>([&](auto q) RK_UNROLLED { sum[q][g] = first; });
    });
    unroll<kFours>([&](auto q) RK_UNROLLED { bytes[q] = _mm512_setzero_si512(); });
  }

  // The products of up to four fours of input channels; `keep`: those that are channels.
  template <bool kWhole>
  RK_INLINE void add(const int8_t* from, const SixteenPixels& pixels, int64_t quads, __m512i keep,
                     const int8_t* weights) {
    const __m512i flip = _mm512_set1_epi8(-128);
    __m512i x[kFours];
    unroll<kFours>([&](auto q) RK_UNROLLED {
      const __m512i v = kWhole ? _mm512_loadu_si512(from + q * 64)
                               : _mm512_maskz_loadu_epi8(pixels.exist[q], from + q * 64);
      x[q] = _mm512_ternarylogic_epi32(keep, v, flip, 0x60);  // (v ^ flip) & keep
      if constexpr (kSums) bytes[q] = _mm512_dpbusd_epi32(bytes[q], x[q], _mm512_set1_epi8(1));
    });
    unroll<4>([&](auto quad) RK_UNROLLED {
      if (quad >= quads) return;
      constexpr auto order = static_cast<_MM_PERM_ENUM>(quad * 0x55);
      __m512i spread[kFours];
      unroll<kFours>([&](auto q) RK_UNROLLED { spread[q] = _mm512_shuffle_epi32(x[q], order); });
      unroll<kGroups>([&](auto g) RK_UNROLLED {
        const __m512i w = quarter(weights + quad * kBlocks * 64 + g * 16);
        unroll<kFours>([&](auto q) RK_UNROLLED {
          // Named, because clang does not capture what only stands in assembly.
          __m512i& to = sum[q][g];
          const __m512i x4 = spread[q], w4 = w;
          asm("vpdpbusd %2, %1, %0" : "+v"(to) : "v"(x4), "v"(w4));
        });
      });
    });
  }

  // Finishes pixels from number `at` on, of which `left` exist. `padding`: results without channel.
  RK_INLINE void finish(const Ending& ending, const FloatRoute<kStages>& stages, __m512i padding,
                        int64_t at, int64_t left, const SixteenPixels& pixels) const {
    unroll<kFours>([&](auto q) RK_UNROLLED {
      if (q * 4 >= left) return;
      const Ending& k = in_memory(ending);
      const FloatRoute<kStages>& route = in_memory(stages);
      __m512i total;
      if constexpr (kSums) {
        total = _mm512_add_epi32(bytes[q], _mm512_shuffle_epi32(bytes[q], _MM_PERM_CDAB));
        total = as_pair(_mm512_add_epi32(total, _mm512_shuffle_epi32(total, _MM_PERM_BADC)));
      }
      unroll<kBlocks>([&](auto block) RK_UNROLLED {
        const int64_t place = block * k.plane + (at + q * 4) * kHostBlock;
        __m512i residual = _mm512_setzero_si512();
        if constexpr (kStages == Stages::kResidual)
          residual = _mm512_maskz_loadu_epi8(pixels.exist[q], k.residual + place);
        const auto stage = [&](auto i) RK_UNROLLED {
          constexpr int g = block * 4 + i;
          constexpr bool exists = g < kGroups;
          if constexpr (!exists && kStages != Stages::kResidual) {
            return padding;
          } else {
            // Multipliers of padding lanes are 0: any sum does.
            __m512i y = sum[q][exists ? g : kGroups - 1];
            if constexpr (kSums && exists) {
              y = _mm512_dpwssd_epi32(y, total, quarter(k.offset_pair + g * 4));
            }
            const typename FloatRoute<kStages>::Lanes lanes = {
                _mm512_castsi512_ps(quarter(route.multiplier + g * 4)),
                _mm512_castsi512_ps(quarter(route.addend + g * 4))};
            // The bytes of the group, each to the upper end of a lane.
            const __m512i order = _mm512_broadcast_i32x4(
                _mm_setr_epi32((g % 4 * 4 + 0) << 24 | 0x808080, (g % 4 * 4 + 1) << 24 | 0x808080,
                               (g % 4 * 4 + 2) << 24 | 0x808080, (g % 4 * 4 + 3) << 24 | 0x808080));
            const __m512i e = _mm512_srai_epi32(_mm512_shuffle_epi8(residual, order), 24);
            return route.apply_to(y, lanes, e);
          }
        };
        const __m512i words0 = _mm512_packs_epi32(stage(Index<0>{}), stage(Index<1>{}));
        const __m512i words1 = _mm512_packs_epi32(stage(Index<2>{}), stage(Index<3>{}));
        const __m512i y =
            _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(words0, words1), k.low), k.high);
        if (left >= q * 4 + 4) {
          _mm512_storeu_si512(k.output + place, y);
        } else {
          _mm512_mask_storeu_epi8(k.output + place, pixels.exist[q], y);
        }
      });
    });
  }
};

template <int kGroups, bool kSums, Stages kStages>
void multiply_quarters(const Context& c, const QuarterRun& run, const Ending& ending) {
  constexpr int kFours = kGroups == 4 ? 4 : 3;
  using Tile = QuarterTile<kGroups, kFours, kSums, kStages>;
  const FloatRoute<kStages> route(c.params, c.constants);
  const int32_t blocks = channel_blocks(c.filter.in_channels);
  const int64_t last_quads = (lanes_of_block(c.filter.in_channels, blocks - 1) + 3) / 4;
  const __m512i last = _mm512_movm_epi8(last_lanes(c)), all = _mm512_set1_epi8(-1);
  const __m512i zero = _mm512_setzero_si512();
  const __m512i padding = route.apply_to(zero, route.lanes(kTile - kVector), zero);
  const auto tile = [&](int64_t at, const SixteenPixels& pixels, auto whole) RK_UNROLLED {
    Tile sums;
    sums.start(c.constants.start);
    const int8_t* from = run.pixels + at * kHostBlock;
    const int8_t* weights = run.weights;
    for (int32_t block = 1; block < blocks; ++block) {
      sums.template add<whole != 0>(from, pixels, 4, all, weights);
      from += c.in_plane;
      weights += 4 * Tile::kBlocks * 64;
    }
    sums.template add<whole != 0>(from, pixels, last_quads, last, weights);
    sums.finish(ending, route, padding, at, whole != 0 ? 16 : run.count - at, pixels);
  };
  const SixteenPixels sixteen(16);
  int64_t at = 0;
  for (; at + kFours * 4 <= run.count; at += kFours * 4) tile(at, sixteen, Index<1>{});
  if (at < run.count) tile(at, SixteenPixels(run.count - at), Index<0>{});
}

template <int kGroups, Stages kStages>
void multiply_quarters(const Context& c, const QuarterRun& run, const Ending& ending) {
  c.constants.sums ? multiply_quarters<kGroups, true, kStages>(c, run, ending)
                   : multiply_quarters<kGroups, false, kStages>(c, run, ending);
}

template <int kGroups>
void multiply_quarters(const Context& c, const QuarterRun& run, const Ending& ending) {
  if (c.params.has_residual) return multiply_quarters<kGroups, Stages::kResidual>(c, run, ending);
  c.constants.direct ? multiply_quarters<kGroups, Stages::kDirect>(c, run, ending)
                     : multiply_quarters<kGroups, Stages::kApart>(c, run, ending);
}

// All channels of `count` pixels from number `at` on.
inline void multiply_quarters(const Context& c, int64_t n, int64_t at, int64_t count) {
  const Target target(c, {0, at, 1, count, 1, count}, n, 0, 2);
  const Ending end = ending(c, target, 0, nullptr, nullptr);
  const QuarterRun run = {c.image(n) + at * kHostBlock, c.weights(), count};
  c.filter.out_channels <= kVector ? multiply_quarters<4>(c, run, end)
                                   : multiply_quarters<6>(c, run, end);
}

}  // namespace
}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END
