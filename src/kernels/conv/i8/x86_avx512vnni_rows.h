// SPDX-License-Identifier: Apache-2.0
// Tiles of a few neighboring pixels for conv_i8__avx512vnni_6x64 whose stages run beside the products of the next tile:
// with few input channels the stages are a third of the work, and Zen 4 looks too few instructions
// ahead to overlap them by itself. CPUs with full-width units do; there larger tiles save loads.
// Includes intrinsics: only for files that RK_AVX512VBMI_BEGIN frames.
//
// Note: inputs are biased here, x + 128, because flipping their sign bits beside each product would take
// the place of the stages.
#pragma once

#include "kernels/conv/i8/x86_avx512vnni_band.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {
namespace {

// Layers with many results for each input have no residual, and nearly all scales suit the short form.
using DirectRoute = FloatRoute<Stages::kDirect>;

// Rows of neighboring pixels of one tile of output channels.
struct PixelRows {
  const uint8_t* input;  // of the first pixel, biased; some pixels more than exist are read
  int64_t pixel,
      row;  // bytes from one pixel and from one row of the output to the next, in the input
  int64_t rows, columns;  // of the output
  int64_t output_row;     // elements
};

// What sums are made of.
struct Products {
  const int32_t* offsets;  // from a pixel to four channels of a tap
  int64_t quads;           // of all taps
  const int8_t* weights;
  int64_t weight_step;  // bytes from one quad to the next
  const int32_t* start;
};

// Runs over the tiles of rows.
struct TilePlace {
  const uint8_t* input;
  int64_t output;  // elements from the first pixel's
  int64_t total;   // number of the pixel
  int64_t left;    // pixels of the row from here on
};

template <int kPixels>
struct TileWalk {
  const PixelRows& rows;
  TilePlace at;
  int64_t row = 0;

  explicit TileWalk(const PixelRows& r) : rows(r), at{r.input, 0, 0, r.columns} {}
  RK_INLINE bool next() {
    if (at.left > kPixels) {
      at.input += kPixels * rows.pixel;
      at.output += kPixels * kHostBlock;
      at.total += kPixels;
      at.left -= kPixels;
      return true;
    }
    if (++row == rows.rows) return false;
    at = {rows.input + row * rows.row, row * rows.output_row, row * rows.columns, rows.columns};
    return true;
  }
};

// The same object, of which the compiler knows only that it is in memory: what is read from it occupies no registers
// before.
template <typename T>
RK_INLINE const T& in_memory(const T& object) {
  const T* place = &object;
  asm("" : "+r"(place) : "m"(object));
  return *place;
}

// Finishes vector v of four pixels from number `first` of a tile on.
template <bool kSums>
RK_INLINE void finish_neighbors(const Ending& ending, const DirectRoute& stages,
                                const TilePlace& at, int first, int v, __m512i sum0, __m512i sum1,
                                __m512i sum2, __m512i sum3) {
  const Ending& k = in_memory(ending);
  const DirectRoute& route = in_memory(stages);
  const int64_t channel = k.channel + v * kVector;
  const auto lanes = route.lanes(channel);
  const int64_t place = at.output + v * k.plane + first * kHostBlock;
  const auto stage = [&](int q, __m512i sum) RK_UNROLLED {
    if constexpr (kSums) {
      sum = _mm512_dpwssd_epi32(sum, _mm512_load_si512(k.offset_pair + channel),
                                _mm512_set1_epi32(k.totals[at.total + first + q]));
    }
    return route.apply(sum, lanes, nullptr);
  };
  const __m512i bytes = to_bytes(k, stage(0, sum0), stage(1, sum1), stage(2, sum2), stage(3, sum3));
  if (__builtin_expect(at.left >= first + 4, 1)) {
    _mm512_storeu_si512(k.output + place, bytes);
  } else {
    const __mmask64 exist = ~__mmask64{0} >> (first + 4 - at.left) * kHostBlock;
    _mm512_mask_storeu_epi8(k.output + place, exist, bytes);
  }
}

// kHalf: the last vector has eight channels at most.
template <int kPixels, int kVectors, bool kHalf>
struct TileSums {
  __m512i sum[kPixels][kVectors];

  RK_INLINE void start(const int32_t* from) {
    unroll<kPixels * kVectors>([&](auto i) RK_UNROLLED {
      sum[i / kVectors][i % kVectors] = _mm512_load_si512(from + i % kVectors * kVector);
    });
  }
  // Offsets times the sums of inputs.
  RK_INLINE void add_totals(const int32_t* totals, const int32_t* offset_pair) {
    __m512i o[kVectors];
    unroll<kVectors>([&](auto v)
                         RK_UNROLLED { o[v] = _mm512_load_si512(offset_pair + v * kVector); });
    unroll<kPixels>([&](auto p) RK_UNROLLED {
      const __m512i total = _mm512_set1_epi32(totals[p]);
      unroll<kVectors>(
          [&](auto v) RK_UNROLLED { sum[p][v] = _mm512_dpwssd_epi32(sum[p][v], total, o[v]); });
    });
  }
  // The products of four channels.
  RK_INLINE void add(const uint8_t* x, int64_t pixel, const int8_t* weights) {
    __m512i w[kVectors];
    unroll<kVectors>([&](auto v) RK_UNROLLED { w[v] = _mm512_load_si512(weights + v * 64); });
    unroll<kPixels>([&](auto p) RK_UNROLLED {
      int32_t four;
      __builtin_memcpy(&four, x + p * pixel, sizeof four);
      const __m512i spread = _mm512_set1_epi32(four);
      // Named, because clang does not capture what only stands in assembly.
      unroll<kVectors>([this, p, &spread, &w](auto v) RK_UNROLLED {
        if constexpr (kHalf && v == kVectors - 1) {
          // The other half becomes 0, which is as good as any sum for channels whose multiplier is 0.
          asm("vpdpbusd %t2, %t1, %t0" : "+v"(sum[p][v]) : "v"(spread), "v"(w[v]));
        } else {
          asm("vpdpbusd %2, %1, %0" : "+v"(sum[p][v]) : "v"(spread), "v"(w[v]));
        }
      });
    });
  }
  // Group kGroup of four pixels of a vector.
  template <int kGroup, bool kSums>
  RK_INLINE void finish(const Ending& ending, const DirectRoute& route, const TilePlace& at) const {
    constexpr int first = kGroup / kVectors * 4, v = kGroup % kVectors;
    if (first == 0 || first < at.left) {
      finish_neighbors<kSums>(ending, route, at, first, v, sum[first][v], sum[first + 1][v],
                              sum[first + 2][v], sum[first + 3][v]);
    }
  }
};

template <int kVectors, bool kHalf, bool kSums>
void overlap_rows(const Products& p, const PixelRows& rows, const Ending& ending,
                  const DirectRoute& route) {
  // Twice as many sums must fit the registers, and enough of them to hide the latency of a product.
  constexpr int kPixels = kVectors == 1 ? 8 : 4;
  constexpr int kGroups = kPixels / 4 * kVectors;
  using Tile = TileSums<kPixels, kVectors, kHalf>;
  const Products products = p;
  const int64_t pixel = rows.pixel;
  TileWalk<kPixels> walk(rows);
  Tile done;
  done.start(products.start);
  for (int64_t quad = 0; quad < products.quads; ++quad) {
    done.add(walk.at.input + products.offsets[quad], pixel,
             products.weights + quad * products.weight_step);
  }
  TilePlace at = walk.at;
  for (; walk.next(); at = walk.at) {
    Tile next;
    next.start(products.start);
    const int8_t* weights = products.weights;
    const uint8_t* const x = walk.at.input;
    unroll<kGroups>([&](auto i) RK_UNROLLED {
      next.add(x + products.offsets[i], pixel, weights);
      weights += products.weight_step;
      done.template finish<i, kSums>(ending, route, at);
    });
    for (int64_t quad = kGroups; quad < products.quads; ++quad, weights += products.weight_step)
      next.add(x + products.offsets[quad], pixel, weights);
    done = next;
  }
  unroll<kGroups>([&](auto i) RK_UNROLLED { done.template finish<i, kSums>(ending, route, at); });
}

// Where the CPU overlaps the stages of a tile with the products of the next: nothing but its sums
// needs registers, and offsets are multiplied before inputs are, which broadcasts each total once.
template <int kVectors, bool kHalf, bool kSums>
void multiply_large_rows(const Products& p, const PixelRows& rows, const Ending& ending,
                         const DirectRoute& route) {
  constexpr int kPixels = kVectors == 1 ? 12 : kVectors == 4 ? 4 : 8;
  const Products products = p;
  const int64_t pixel = rows.pixel;
  TileWalk<kPixels> walk(rows);
  do {
    TileSums<kPixels, kVectors, kHalf> sums;
    sums.start(products.start);
    if constexpr (kSums)
      sums.add_totals(ending.totals + walk.at.total, ending.offset_pair + ending.channel);
    const int8_t* weights = products.weights;
    for (int64_t quad = 0; quad < products.quads; ++quad, weights += products.weight_step)
      sums.add(walk.at.input + products.offsets[quad], pixel, weights);
    unroll<kPixels / 4 * kVectors>(
        [&](auto i) RK_UNROLLED { sums.template finish<i, false>(ending, route, walk.at); });
  } while (walk.next());
}

// Fewer quads than groups to finish would leave some out.
inline constexpr int64_t kFewestQuads = 3;

template <int kVectors, bool kHalf = false>
void multiply_rows(const Context& c, const Products& products, const PixelRows& rows,
                   const Ending& ending) {
  const DirectRoute route(c.params, c.constants);
  if (c.constants.wide) {
    c.constants.sums ? multiply_large_rows<kVectors, kHalf, true>(products, rows, ending, route)
                     : multiply_large_rows<kVectors, kHalf, false>(products, rows, ending, route);
    return;
  }
  if constexpr (kVectors < 4) {
    c.constants.sums ? overlap_rows<kVectors, kHalf, true>(products, rows, ending, route)
                     : overlap_rows<kVectors, kHalf, false>(products, rows, ending, route);
  }
}

// All vectors of a tile of output channels. `ending` is that of its first pixel.
inline void multiply_rows(const Context& c, int32_t vectors, Products products,
                          const PixelRows& rows, Ending ending) {
  switch (vectors) {
    case 1:
      return multiply_rows<1>(c, products, rows, ending);
    case 3:
      return multiply_rows<3>(c, products, rows, ending);
    case 4:
      if (c.constants.wide) return multiply_rows<4>(c, products, rows, ending);
      multiply_rows<2>(c, products, rows, ending);
      products.weights += 2 * 64;
      products.start += 2 * kVector;
      ending.channel += 2 * kVector;
      ending.output += 2 * ending.plane;
      break;
    default:
      break;
  }
  // 24 channels are common.
  c.filter.out_channels - ending.channel <= kVector + kVector / 2
      ? multiply_rows<2, true>(c, products, rows, ending)
      : multiply_rows<2>(c, products, rows, ending);
}

}  // namespace
}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END
