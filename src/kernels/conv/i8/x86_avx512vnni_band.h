// SPDX-License-Identifier: Apache-2.0
// What the dense and the depthwise half of conv_i8__avx512vnni_6x64 share: loading a band's input and turning sums in
// memory into bytes. Includes intrinsics: only for files that RK_AVX512VBMI_BEGIN frames.
#pragma once

#include <cstring>

#include "kernels/conv/conv.h"
#include "kernels/conv/i8/x86_avx512vnni.h"
#include "kernels/conv/i8/x86_avx512vnni_stages.h"
#include "kernels/x86_avx512.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {

struct Scratch {
  alignas(64) uint8_t
      pixels[kScratchPixels * kHostBlock + 256];      // loads of a few pixels may run past the last
  alignas(64) int32_t acc[kBandPixels * kTile];       // [pixel][vectors of the tile][16]
  alignas(64) uint64_t parts[kScratchPixels + 8][2];  // sums of inputs of each scratch pixel
  alignas(64) int32_t totals[kBandPixels + 16];  // sums of inputs of each output pixel, as a pair
  BandPlaces<kBandPixels> places;
  int64_t placed_rows = 0, placed_columns = 0;
  int32_t offsets[kMaxTaps * 4];  // of each four channels of each tap of a chunk of blocks

  // Places are those of a band of this form already; else they are going to be.
  bool places_of(const Band& band) {
    const bool known = placed_rows == band.rows && placed_columns == band.columns;
    placed_rows = band.rows;
    placed_columns = band.columns;
    return known;
  }
};

void run_depthwise(const ConvI8Args& args, IndexRange units, Scratch& scratch);

namespace {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A strided kernel of one tap reads every so many pixels of its input: as a smaller picture with larger steps between
// pixels it needs no stride and loads no pixel for nothing.
inline bool is_sparse(const ConvFilter& f, const ConvExtents& e) {
  return f.kernel.h == 1 && f.kernel.w == 1 && (f.stride.h > 1 || f.stride.w > 1) &&
         !f.transposed && e.pad_before.h == 0 && e.pad_before.w == 0;
}

struct Context {
  const ConvI8Args& args;
  const ConvI8Params& params;
  ConvFilter filter;    // without the stride of a sparse picture
  ConvExtents extents;  // counted_extents
  Constants constants;
  AxisPlan y, x;
  // Elements from one pixel, from one row and from one block to the next.
  int64_t in_pixel, in_row, in_plane;
  int64_t out_pixel, residual_pixel, out_plane;

  explicit Context(const ConvI8Args& a)
      : args(a),
        params(a.packed->params),
        filter(params.filter),
        extents(counted_extents(filter, a.extents)),
        in_pixel(kHostBlock),
        in_row(extents.in.w * int64_t{kHostBlock}),
        in_plane(extents.in.h * in_row),
        out_pixel(kHostBlock),
        residual_pixel(kHostBlock),
        out_plane(int64_t{extents.out.h} * extents.out.w * kHostBlock) {
    std::memcpy(&constants, a.packed->constants.data(), sizeof constants);
    if (is_matrix_product(filter, a.extents)) {
      in_plane = out_plane = kHostBlock;
      residual_pixel = int64_t{channel_blocks(filter.out_channels)} * kHostBlock;
      in_row = a.input_batch_stride != 0 ? a.input_batch_stride
                                         : int64_t{channel_blocks(filter.in_channels)} * kHostBlock;
      out_pixel = a.output_batch_stride != 0 ? a.output_batch_stride : residual_pixel;
    } else if (is_sparse(filter, extents)) {
      in_pixel *= filter.stride.w;
      in_row *= filter.stride.h;
      extents.in = {(extents.in.h - 1) / filter.stride.h + 1,
                    (extents.in.w - 1) / filter.stride.w + 1};
      filter.stride = {1, 1};
    } else if (a.interleaved_input) {
      in_pixel = filter.in_channels;
      in_row = extents.in.w * in_pixel;
      in_plane = extents.in.h * in_row;
    }
    y = axis_plan(filter, true);
    x = axis_plan(filter, false);
  }

  const int8_t* image(int64_t n) const {
    const int64_t dense = channel_blocks(filter.in_channels) * in_plane;
    return args.input + n * (args.input_batch_stride != 0 ? args.input_batch_stride : dense);
  }
  const int8_t* weights() const {
    return reinterpret_cast<const int8_t*>(args.packed->weights.data());
  }
};

inline void fill_border(uint8_t* to, int64_t pixels, __m128i border) {
  for (int64_t i = 0; i < pixels; ++i) _mm_store_si128(reinterpret_cast<__m128i*>(to) + i, border);
}

// Copy of whole pixels, `step` elements apart. With kBiased x becomes x + 128. Padding lanes become what counts as 0:
// the other lanes are those of `keep`.
template <bool kBiased>
inline void copy_pixels(const int8_t* from, int64_t step, uint8_t* to, int64_t pixels,
                        __m128i keep) {
  constexpr int kRule = kBiased ? 0x60 : 0xca;  // (x ^ 128) & keep; keep ? x : 128
  const __m128i flip = _mm_set1_epi8(-128);
  const __m512i flip4 = _mm512_set1_epi8(-128), keep4 = _mm512_broadcast_i32x4(keep);
  int64_t i = 0;
  for (; step == kHostBlock && i + 4 <= pixels; i += 4) {
    const __m512i v = _mm512_loadu_si512(from + i * kHostBlock);
    _mm512_storeu_si512(to + i * kHostBlock, _mm512_ternarylogic_epi32(keep4, v, flip4, kRule));
  }
  for (; i < pixels; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * step));
    _mm_store_si128(reinterpret_cast<__m128i*>(to) + i,
                    _mm_ternarylogic_epi32(keep, v, flip, kRule));
  }
}

// Fills the scratch rows of one input block.
template <bool kBiased = true>
inline void load_block(const Context& c, const Band& band, const int8_t* plane, int32_t lanes,
                       uint8_t* scratch) {
  const __m128i keep = _mm_movm_epi8(static_cast<__mmask16>((1u << lanes) - 1));
  const __m128i zero = _mm_set1_epi8(kBiased ? 0 : -128);
  const __m128i border = _mm_ternarylogic_epi32(
      keep, _mm_set1_epi8(static_cast<char>(c.params.input_zero_point ^ (kBiased ? 0x80 : 0))),
      zero, 0xca);
  const int64_t top = c.y.lead(band.oy, c.extents.pad_before.h);
  const int64_t left = c.x.lead(band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns;
  for (int64_t r = 0; r < band.scratch_rows; ++r, scratch += columns * kHostBlock) {
    const int64_t iy = c.y.source(top + r, c.extents.in.h);
    if (iy < 0) {
      fill_border(scratch, columns, border);
      continue;
    }
    const int8_t* const row = plane + iy * c.in_row;
    if (c.x.stuffing != 1) {
      fill_border(scratch, columns, border);
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t ix = c.x.source(left + i, c.extents.in.w);
        if (ix >= 0)
          copy_pixels<kBiased>(row + ix * c.in_pixel, c.in_pixel, scratch + i * kHostBlock, 1,
                               keep);
      }
      continue;
    }
    const RowPart part = row_part(left, columns, c.extents.in.w);
    const int64_t after = part.before + part.body;
    fill_border(scratch, part.before, border);
    copy_pixels<kBiased>(row + (left + part.before) * c.in_pixel, c.in_pixel,
                         scratch + part.before * kHostBlock, part.body, keep);
    fill_border(scratch + after * kHostBlock, columns - after, border);
  }
}

// Where the results of one tile and band go.
struct Target {
  int8_t* output;          // first block of the tile, first pixel of the band
  const int8_t* residual;  // likewise, or null
  int64_t plane;           // elements from one block to the next
  int64_t blocks;          // of the tile

  Target(const Context& c, const Band& band, int64_t n, int64_t first_block, int64_t most) {
    const int64_t dense = channel_blocks(c.filter.out_channels) * c.out_plane;
    const int64_t stride = c.args.output_batch_stride != 0 ? c.args.output_batch_stride : dense;
    const int64_t first = band.oy * c.extents.out.w + band.ox;
    output = c.args.output + n * stride + first_block * c.out_plane + first * c.out_pixel;
    residual = c.params.has_residual ? c.args.residual + n * dense + first_block * c.out_plane +
                                           first * c.residual_pixel
                                     : nullptr;
    plane = c.out_plane;
    blocks = smaller(most, channel_blocks(c.filter.out_channels) - first_block);
  }
};

// Sums in memory to bytes.
struct Finish {
  const Context& c;
  const Target& target;
  int64_t channel;        // the first of the tile
  const int32_t* acc;     // [pixel][kVectors][16]
  const int32_t* totals;  // sums of inputs per pixel, if constants.sums; three more are readable
  const int32_t* places;  // of pixels in the output
  int64_t pixels;
};

inline Ending ending(const Context& c, const Target& target, int64_t channel, const int32_t* totals,
                     const int32_t* places) {
  return {target.output,
          target.residual,
          places,
          totals,
          c.constants.offset_pair,
          c.out_pixel,
          c.residual_pixel,
          target.plane,
          channel,
          _mm512_set1_epi8(c.constants.low),
          _mm512_set1_epi8(c.constants.high)};
}

template <int kVectors, bool kSums, typename Route>
void finish_vectors(const Finish& f) {
  const Ending k = ending(f.c, f.target, f.channel, f.totals, f.places);
  const Route route(f.c.params, f.c.constants);
  const int vectors = static_cast<int>(smaller(kVectors, f.target.blocks));
  for (int v = 0; v < vectors; ++v) {
    for (int64_t i = 0; i < f.pixels; i += 4) {
      const auto sum = [&](int64_t pixel) {
        return _mm512_load_si512(f.acc + (smaller(pixel, f.pixels - 1) * kVectors + v) * kVector);
      };
      finish_four<kSums, false>(k, route, sum(i), sum(i + 1), sum(i + 2), sum(i + 3), i, v,
                                f.pixels);
    }
  }
}

template <int kVectors, typename Route>
void finish_pixels(const Finish& f) {
  if (f.c.constants.sums) {
    finish_vectors<kVectors, true, Route>(f);
  } else {
    finish_vectors<kVectors, false, Route>(f);
  }
}

using FinishFunction = void (*)(const Finish&);

template <int kVectors>
FinishFunction finish_function(const Context& c) {
  const bool residual = c.params.has_residual;
  if (c.constants.ends == Ends::kLookup)
    return finish_pixels<kVectors, FloatRoute<Stages::kLookup>>;
  if (c.constants.ends == Ends::kSlope)
    return residual ? finish_pixels<kVectors, SlopeRoute<true>>
                    : finish_pixels<kVectors, SlopeRoute<false>>;
  if (c.constants.ends == Ends::kFloat) {
    return residual             ? finish_pixels<kVectors, FloatRoute<Stages::kResidual>>
           : c.constants.direct ? finish_pixels<kVectors, FloatRoute<Stages::kDirect>>
                                : finish_pixels<kVectors, FloatRoute<Stages::kApart>>;
  }
  return residual ? finish_pixels<kVectors, DoubleRoute<true>>
                  : finish_pixels<kVectors, DoubleRoute<false>>;
}

}  // namespace
}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END
