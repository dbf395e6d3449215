// SPDX-License-Identifier: Apache-2.0
// What the dense, the grouped and the depthwise part of conv_f16__avx512_6x64 share: where things lie, how a band's input is widened
// to scratch, how a sum becomes an output. Private to kernels/conv.
#pragma once

#if defined(__x86_64__)

#include <cstdint>

#include "kernels/conv/f16/half_weights.h"
#include "kernels/x86_avx512.h"

namespace rk::kernels::avx512_f16 {

// Units of a depthwise filter, which fits_bands.
void depthwise(const ConvF16Args& args, IndexRange units);
// Units of a filter with groups of several channels; false, and nothing is done, where it does not suit.
bool grouped(const ConvF16Args& args, IndexRange units);
// Units of a kernel of one tap that reads nothing but pixels of the picture and has no very long sums; false, and nothing
// is done, of others. `winograd`: of a 3x3 filter in Winograd's form, likewise. In both forms that x86_avx512_pointwise.inc
// is compiled in.
namespace by_operand {
bool pointwise(const ConvF16Args& args, IndexRange units);
bool winograd(const ConvF16Args& args, IndexRange units);
}  // namespace by_operand
namespace by_instruction {
bool pointwise(const ConvF16Args& args, IndexRange units);
bool winograd(const ConvF16Args& args, IndexRange units);
}  // namespace by_instruction

inline constexpr int32_t kLanes = kHostBlock;
inline constexpr int32_t kVectors = kConvF16Tile / kLanes;
inline constexpr int64_t kScratchPixels = kHalfScratchPixels;
inline constexpr int64_t kSumFloats = 32768;  // between the chunks of long sums
static_assert(kFewWeights <= kSumFloats);

}  // namespace rk::kernels::avx512_f16

RK_AVX512_BEGIN

namespace rk::kernels::avx512_f16 {
namespace {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

struct Context {
  const ConvF16Args& args;
  const ConvF16Params& params;
  const ConvFilter& filter;
  ConvExtents extents;  // counted_extents
  AxisPlan y, x;
  bool one_tap;          // scratch holds only the pixels that are read
  bool flat;             // and they follow each other without borders: rows count as one
  bool few;              // channels: scratch holds only them, and a step is a row of the kernel
  int64_t pixel_floats;  // of scratch
  // Elements from one pixel and from one block to the next.
  int64_t in_pixel, in_plane;
  int64_t out_pixel, residual_pixel, out_plane;
  int64_t block_weights;  // of one block of output channels
  const float* bias;

  explicit Context(const ConvF16Args& a)
      : args(a),
        params(a.packed->params),
        filter(params.filter),
        extents(counted_extents(filter, a.extents)),
        y(axis_plan(filter, true)),
        x(axis_plan(filter, false)),
        one_tap(y.kernel == 1 && x.kernel == 1 && !filter.transposed && filter.groups == 1),
        flat(is_flat()),
        few(is_few(filter)),
        pixel_floats(few ? filter.in_channels : kLanes),
        in_pixel(kLanes),
        in_plane(int64_t{extents.in.h} * extents.in.w * kLanes),
        out_pixel(kLanes),
        residual_pixel(kLanes),
        out_plane(int64_t{extents.out.h} * extents.out.w * kLanes),
        block_weights(filter.depthwise() ? y.kernel * x.kernel * kLanes
                                         : channel_blocks(filter.in_channels) * y.kernel *
                                               x.kernel * kLanes * kLanes),
        bias(reinterpret_cast<const float*>(a.packed->bias.data())) {
    if (a.interleaved_input) {
      in_pixel = filter.in_channels;
      in_plane = int64_t{extents.in.h} * extents.in.w * in_pixel;
    }
    if (flat) {
      extents.in = extents.out = {1, extents.in.h * extents.in.w};
    }
    if (!is_matrix_product(filter, a.extents)) return;
    in_plane = out_plane = kLanes;
    residual_pixel = int64_t{channel_blocks(filter.out_channels)} * kLanes;
    in_pixel = a.input_batch_stride != 0 ? a.input_batch_stride
                                         : int64_t{channel_blocks(filter.in_channels)} * kLanes;
    out_pixel = a.output_batch_stride != 0 ? a.output_batch_stride : residual_pixel;
  }

  bool is_flat() const {
    return one_tap && !is_matrix_product(filter, args.extents) && extents.in == extents.out &&
           extents.pad_before == Extent2{0, 0} && y.step == 1 && x.step == 1 &&
           int64_t{extents.in.h} * extents.in.w <= INT32_MAX;
  }

  // Floats of scratch from what one output reads to what the next in its row does.
  int64_t spacing() const { return (one_tap ? 1 : x.step) * pixel_floats; }

  // float, or uint16_t where packed->half.
  template <typename Weight>
  const Weight* weights() const {
    return reinterpret_cast<const Weight*>(args.packed->weights.data());
  }

  const uint16_t* image(int64_t n) const {
    const int64_t dense = channel_blocks(filter.in_channels) * in_plane;
    return args.input + n * (args.input_batch_stride != 0 ? args.input_batch_stride : dense);
  }
};

inline __m512 load_wide(const uint16_t* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
inline __m512 load_wide(const float* from) { return _mm512_load_ps(from); }

// One input on its way to all lanes of the multiply-adds. By operand: each of them broadcasts it from memory, which takes no
// time from them where 512 bits pass in two halves, as on Zen 4; an instruction does.
struct ByOperand {
  const float& x;
  explicit inline __attribute__((always_inline)) ByOperand(const float& from) : x(from) {}

  // sum + x * w.
  inline __attribute__((always_inline)) __m512 fused(__m512 w, __m512 sum) const {
    asm volatile("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(w), "m"(x));
    return sum;
  }
  // Of the first half of the lanes.
  inline __attribute__((always_inline)) __m256 fused(__m256 w, __m256 sum) const {
    asm volatile("vfmadd231ps %2%{1to8%}, %1, %0" : "+v"(sum) : "v"(w), "m"(x));
    return sum;
  }
};

// By instruction, once for all vectors of weights. Two loads and two multiply-adds of 512 bits begin in each cycle of a CPU with
// cpu::kWide512; an operand from memory for every multiply-add would leave no loads for the weights.
struct ByInstruction {
  __m512 x;
  explicit inline __attribute__((always_inline)) ByInstruction(const float& from) {
    asm volatile("vbroadcastss %1, %0" : "=v"(x) : "m"(from));
  }
  inline __attribute__((always_inline)) __m512 fused(__m512 w, __m512 sum) const {
    asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(w), "v"(x));
    return sum;
  }
  inline __attribute__((always_inline)) __m256 fused(__m256 w, __m256 sum) const {
    asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(w), "v"(_mm512_castps512_ps256(x)));
    return sum;
  }
};

// Only the first half of the lanes, which takes half the time where 512 bits pass in two halves.
template <typename Input>
inline __attribute__((always_inline)) __m512 fused_low(const Input& x, __m512 w, __m512 sum) {
  const __m256 low = x.fused(_mm512_castps512_ps256(w), _mm512_castps512_ps256(sum));
  return _mm512_castps256_ps512(low);
}

// Makes the compiler forget how these pointers are related. Else it keeps one for each lane of each vector.
template <typename Weight, int kCount>
inline __attribute__((always_inline)) void hide(const Weight* (&weights)[kCount]) {
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) asm volatile("" : "+r"(weights[v]));
}

// Output and residual of blocks from `block` on, at the band's first pixel, and what happens to a sum on its way there.
// Kernels copy it first: else every store could change it, as far as the compiler knows.
struct Target {
  uint16_t* output;
  const uint16_t* residual;
  int64_t out_pixel, residual_pixel, out_plane;
  bool clamps, clips, relu_after_add;
  float clip;

  Target(const Context& c, const Band& band, int64_t n, int64_t block)
      : out_pixel(c.out_pixel),
        residual_pixel(c.residual_pixel),
        out_plane(c.out_plane),
        clamps(c.params.activation != Activation::kNone),
        clips(c.params.activation == Activation::kClip),
        relu_after_add(c.params.relu_after_add),
        clip(c.params.clip) {
    const int64_t dense = channel_blocks(c.filter.out_channels) * c.out_plane;
    const int64_t stride = c.args.output_batch_stride != 0 ? c.args.output_batch_stride : dense;
    const int64_t first = band.oy * c.extents.out.w + band.ox;
    const int64_t plane = block * c.out_plane;
    output = c.args.output + n * stride + plane + first * c.out_pixel;
    residual = c.params.has_residual
                   ? c.args.residual + n * dense + plane + first * c.residual_pixel
                   : nullptr;
  }

  // Activation, residual, activation, one rounding, of kCount vectors that lie `next` elements apart, from a pixel's block
  // `block` on, counted from the target's; `place` counts pixels. The second operand of a comparison wins where one is
  // NaN.
  template <int kCount>
  inline __attribute__((always_inline)) void finish(__m512 (&v)[kCount], int64_t block,
                                                    int64_t place, int64_t next) const {
    const __m512 low = _mm512_setzero_ps();
    if (clamps) {
#pragma GCC unroll 12
      for (int i = 0; i < kCount; ++i) v[i] = _mm512_max_ps(low, v[i]);
    }
    if (clips) {
      const __m512 high = _mm512_set1_ps(clip);
#pragma GCC unroll 12
      for (int i = 0; i < kCount; ++i) v[i] = _mm512_min_ps(high, v[i]);
    }
    if (residual != nullptr) {
      const uint16_t* const from = residual + block * out_plane + place * residual_pixel;
#pragma GCC unroll 12
      for (int i = 0; i < kCount; ++i) {
        const auto* const e = reinterpret_cast<const __m256i*>(from + i * next);
        v[i] = _mm512_add_ps(v[i], _mm512_cvtph_ps(_mm256_loadu_si256(e)));
      }
    }
    if (relu_after_add) {
#pragma GCC unroll 12
      for (int i = 0; i < kCount; ++i) v[i] = _mm512_max_ps(low, v[i]);
    }
    uint16_t* const to = output + block * out_plane + place * out_pixel;
#pragma GCC unroll 12
    for (int i = 0; i < kCount; ++i) {
      __m256i half = _mm512_cvtps_ph(v[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      // Not the form with a memory operand: it takes longer than the two instructions.
      asm("" : "+v"(half));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i * next), half);
    }
  }

  // Asks for what `finish_tile` writes and reads.
  template <int kPixels, int kCount>
  inline __attribute__((always_inline)) void ask(int64_t pixel) const {
    const uint16_t* to = output + pixel * out_pixel;
    const uint16_t* from = residual + pixel * residual_pixel;
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i, to += out_plane, from += out_plane) {
#pragma GCC unroll 28
      for (int p = 0; p < kPixels; p += 2) {
        asm volatile("prefetchw %0" ::"m"(to[p * kLanes]));
        if (residual != nullptr)
          _mm_prefetch(reinterpret_cast<const char*>(from + p * kLanes), _MM_HINT_T0);
      }
    }
  }

  // `finish` of kPixels pixels from `pixel` on, each of kCount blocks.
  template <int kPixels, int kCount>
  inline __attribute__((always_inline)) void finish_tile(__m512 (&v)[kPixels][kCount],
                                                         int64_t pixel) const {
    const auto each = [&](const auto& change) __attribute__((always_inline)) {
#pragma GCC unroll 28
      for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
        for (int i = 0; i < kCount; ++i) change(v[p][i]);
      }
    };
    // change(value, pointer) of each with where it lies.
    const auto each_at = [&](auto* at, int64_t pitch, const auto& change)
        __attribute__((always_inline)) {
      at += pixel * pitch;
#pragma GCC unroll 28
      for (int p = 0; p < kPixels; ++p, at += pitch) {
        asm("" : "+r"(at));
#pragma GCC unroll 4
        for (int i = 0; i < kCount; ++i) change(v[p][i], at + i * out_plane);
      }
    };
    const __m512 low = _mm512_setzero_ps();
    const auto above = [&](__m512& e) { e = _mm512_max_ps(low, e); };
    if (clamps) each(above);
    if (clips) {
      const __m512 high = _mm512_set1_ps(clip);
      each([&](__m512& e) { e = _mm512_min_ps(high, e); });
    }
    if (residual != nullptr) {
      each_at(residual, residual_pixel,
              [](__m512& e, const uint16_t* from) { e = _mm512_add_ps(e, load_wide(from)); });
    }
    if (relu_after_add) each(above);
    each_at(output, out_pixel, [](__m512& e, uint16_t* to) {
      __m256i half = _mm512_cvtps_ph(e, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      asm("" : "+v"(half));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), half);
    });
  }
};

// Widens a run of pixels that are neighbors in `from`; asks for the run `ahead` elements further, of the next row or
// block.
inline void widen_pixels(const uint16_t* from, float (*to)[kLanes], int64_t count, int64_t ahead) {
  const auto widen = [&](int64_t i) { _mm512_store_ps(to[i], load_wide(from + i * kLanes)); };
  int64_t i = 0;
  for (; i + 2 <= count; i += 2) {
    _mm_prefetch(reinterpret_cast<const char*>(from + ahead + i * kLanes), _MM_HINT_T0);
    widen(i);
    widen(i + 1);
  }
  if (i < count) widen(i);
}

// The same of pixels with at most kFewChannels channels, which then follow each other without a gap. A store may go over
// the following 15 floats.
inline void widen_few(const uint16_t* from, float* to, int64_t count, int64_t channels,
                      int64_t ahead) {
  const auto* const pixel = reinterpret_cast<const char*>(from);
  const auto pair = [&](int64_t i) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixel + i * 2 * kLanes));
    return _mm_castps_si128(_mm_loadh_pi(
        _mm_castsi128_ps(low), reinterpret_cast<const __m64*>(pixel + (i + 1) * 2 * kLanes)));
  };
  const auto existing = static_cast<__mmask16>(0x1111 * ((1 << channels) - 1));
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    _mm_prefetch(pixel + (i * kLanes + ahead) * 2, _MM_HINT_T0);
    _mm_prefetch(pixel + ((i + 2) * kLanes + ahead) * 2, _MM_HINT_T0);
    const __m512 four = _mm512_cvtph_ps(_mm256_set_m128i(pair(i + 2), pair(i)));
    _mm512_storeu_ps(to + i * channels, _mm512_maskz_compress_ps(existing, four));
  }
  for (; i < count; ++i) {
    const __m128i half = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + i * kLanes));
    _mm_storeu_ps(to + i * channels, _mm_cvtph_ps(half));
  }
}

// Widens elements that lie side by side; a store may go over the following 15 floats.
inline void widen_floats(const uint16_t* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) _mm512_storeu_ps(to + i, load_wide(from + i));
  const auto there = static_cast<__mmask16>((1 << (count - i)) - 1);
  _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there, from + i)));
}

inline void clear_pixels(float (*to)[kLanes], int64_t count) {
  for (int64_t i = 0; i < count; ++i) _mm512_store_ps(to[i], _mm512_setzero_ps());
}

// Fills the scratch rows of one input block; what lies outside the picture is 0.
inline void load_block(const Context& c, const Band& band, const uint16_t* plane,
                       float (*to)[kLanes]) {
  const int64_t top = c.y.lead(band.oy, c.extents.pad_before.h);
  const int64_t left = c.x.lead(band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns;
  const int64_t y_step = c.one_tap ? c.y.step : 1, x_step = c.one_tap ? c.x.step : 1;
  const bool scattered = c.x.stuffing != 1 || x_step != 1;
  for (int64_t r = 0; r < band.scratch_rows; ++r, to += columns) {
    const int64_t iy = c.y.source(top + r * y_step, c.extents.in.h);
    if (iy < 0 || scattered) clear_pixels(to, columns);
    if (iy < 0) continue;
    const uint16_t* const row = plane + iy * c.extents.in.w * c.in_pixel;
    if (scattered) {
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t ix = c.x.source(left + i * x_step, c.extents.in.w);
        if (ix >= 0) widen_pixels(row + ix * kLanes, to + i, 1, 0);
      }
      continue;
    }
    const RowPart part = row_part(left, columns, c.extents.in.w);
    clear_pixels(to, part.before);
    widen_pixels(row + (left + part.before) * kLanes, to + part.before, part.body,
                 c.extents.in.w * kLanes);
    clear_pixels(to + part.before + part.body, columns - part.before - part.body);
  }
}

// The same for pixels with few channels; rows go from first to last, so that each covers what the one before left behind.
inline void load_few(const Context& c, const Band& band, const uint16_t* plane, float* to) {
  const int64_t top = c.y.lead(band.oy, c.extents.pad_before.h);
  const int64_t left = c.x.lead(band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns, channels = c.pixel_floats;
  const auto clear = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * channels; i < end * channels; ++i) to[i] = 0.0f;
  };
  for (int64_t r = 0; r < band.scratch_rows; ++r, to += columns * channels) {
    const int64_t iy = c.y.source(top + r, c.extents.in.h);
    const RowPart part = iy < 0 ? RowPart{columns, 0} : row_part(left, columns, c.extents.in.w);
    clear(0, part.before);
    const uint16_t* const from = plane + (iy * c.extents.in.w + left + part.before) * c.in_pixel;
    if (c.args.interleaved_input) {
      widen_floats(from, to + part.before * channels, part.body * channels);
    } else {
      widen_few(from, to + part.before * channels, part.body, channels,
                2 * c.extents.in.w * kLanes);
    }
    clear(part.before + part.body, columns);
  }
}

// The input of the band after this one, which tiles ask for while they sum: it comes from far away, and the memory would
// idle meanwhile.
struct Ahead {
  const char* at = nullptr;  // of the next line
  const char* row_end = nullptr;
  int64_t row_bytes = 0, next_row = 0, rows = 0, row = 0;
  int64_t next_plane = 0, planes = 0;
  int64_t lines = 0;  // for each tile to ask for

  // `tiles` are summed before the next band is loaded.
  void start(const Context& c, const Band& band, int64_t n, int64_t tiles) {
    planes = channel_blocks(c.filter.in_channels);
    lines = 0;
    // The band's right neighbor or, at the end of the row, the first one below.
    const bool beside = band.ox + band.columns < c.extents.out.w;
    const int64_t oy = beside ? band.oy : band.oy + band.rows;
    const int64_t ox = beside ? band.ox + band.columns : 0;
    const auto clamp = [](int64_t v, int64_t most) { return v < 0 ? 0 : v < most ? v : most; };
    const int64_t step = c.one_tap ? 1 : 0;
    const int64_t top = clamp(c.y.lead(oy, c.extents.pad_before.h), c.extents.in.h);
    const int64_t left = clamp(c.x.lead(ox, c.extents.pad_before.w), c.extents.in.w);
    rows = smaller(band.scratch_rows * (step * (c.y.step - 1) + 1), c.extents.in.h - top);
    const int64_t columns =
        smaller(band.scratch_columns * (step * (c.x.step - 1) + 1), c.extents.in.w - left);
    constexpr int64_t kNear = 512 << 10;  // what the caches hold is not asked for
    if (rows <= 0 || columns <= 0 || c.x.stuffing != 1 || c.in_plane * planes * 2 < kNear) return;
    next_row = c.extents.in.w * c.in_pixel * 2;
    row_bytes = columns * c.in_pixel * 2;
    next_plane = c.in_plane * 2;
    at = reinterpret_cast<const char*>(c.image(n) + (top * c.extents.in.w + left) * c.in_pixel);
    row_end = at + row_bytes;
    row = 0;
    lines = (planes * rows * ((row_bytes + 63) / 64) + tiles - 1) / tiles;
  }

  void ask() {
    for (int64_t i = 0; i < lines; ++i) {
      _mm_prefetch(at, _MM_HINT_T1);
      at += 64;
      if (at < row_end) continue;
      row_end += next_row;
      if (++row == rows) {
        if (--planes == 0) {
          lines = 0;
          return;
        }
        row = 0;
        row_end += next_plane - rows * next_row;
      }
      at = row_end - row_bytes;
    }
  }
};

}  // namespace
}  // namespace rk::kernels::avx512_f16

RK_AVX512_END

#endif  // x86-64
