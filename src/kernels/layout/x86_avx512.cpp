// SPDX-License-Identifier: Apache-2.0
// The borders that pictures and detectors cross, with AVX-512: up to four interleaved channels of bytes to blocks, and
// blocks to float planes. Everything else goes to the generic kernels.
#if defined(__x86_64__)

#include <cstring>

#include "kernels/layout/quantize.h"
#include "kernels/layout/rows.h"
#include "kernels/x86_avx512.h"

namespace rk::kernels {

decltype(quantize_by_table) quantize_by_table__generic, quantize_by_table__avx512;
decltype(half_by_table) half_by_table__generic, half_by_table__avx512;
decltype(dequantize_i8_to_f32) dequantize_i8_to_f32__generic, dequantize_i8_to_f32__avx512;
decltype(blocked_f16_to_f32) blocked_f16_to_f32__generic, blocked_f16_to_f32__avx512;

}  // namespace rk::kernels

RK_AVX512_BEGIN

namespace rk::kernels {
namespace {

constexpr int32_t kMaxChannels = 4;
constexpr int64_t kPixels = 16;  // of one step

// 64 bytes through a table of 256.
struct ByteTable {
  __m512i part[4];
  explicit ByteTable(const int8_t* table) {
    for (int i = 0; i < 4; ++i) part[i] = _mm512_loadu_si512(table + i * 64);
  }
  __m512i operator()(__m512i x) const {
    const __m512i low = _mm512_permutex2var_epi8(part[0], x, part[1]);
    const __m512i high = _mm512_permutex2var_epi8(part[2], x, part[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(x), high);
  }
};

// Bytes of kPixels interleaved pixels; a cut row is not read beyond its end.
__m512i load_interleaved(const uint8_t* from, int64_t pixels, int32_t channels) {
  const int64_t bytes = (pixels < kPixels ? pixels : kPixels) * channels;
  return _mm512_maskz_loadu_epi8(bytes == 64 ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1, from);
}

// Which bytes of 64 belong to one channel.
__mmask64 channel_mask(int32_t channel, int32_t channels) {
  __mmask64 mask = 0;
  for (int32_t i = channel; i < 64; i += channels) mask |= __mmask64{1} << i;
  return mask;
}

// Where the bytes of pixels 4 * quarter .. come from, as blocks of 16 lanes.
__m512i spread_order(int32_t quarter, int32_t channels) {
  alignas(64) uint8_t order[64] = {};
  for (int32_t p = 0; p < 4; ++p) {
    for (int32_t c = 0; c < channels; ++c)
      order[p * kHostBlock + c] = static_cast<uint8_t>((quarter * 4 + p) * channels + c);
  }
  return _mm512_load_si512(order);
}

struct Spread {
  __m512i order[4];
  __mmask64 lanes;  // of the blocks of four pixels
  explicit Spread(int32_t channels) {
    for (int32_t q = 0; q < 4; ++q) order[q] = spread_order(q, channels);
    lanes = ((__mmask64{1} << channels) - 1) * 0x0001000100010001ull;
  }
};

__mmask64 first_bytes(int64_t count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

void bytes_to_blocks(const TableQuantizeArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const int32_t channels = shape.channels;
  const Spread spread(channels);
  const __m512i fill = _mm512_set1_epi8(args.fill);
  bool same = true;
  for (int32_t c = 1; c < channels; ++c)
    same = same && std::memcmp(args.tables, args.tables + c * 256, 256) == 0;
  const int32_t different = same ? 1 : channels;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h, h = unit % shape.extent.h;
    const uint8_t* const from = plain_row(args.input, shape, args.layout, args.w_stride, n, h).data;
    int8_t* const to = blocked_row(args.output, shape, n, 0, h);
    for (int64_t w = 0; w < shape.extent.w; w += kPixels) {
      const int64_t left = shape.extent.w - w;
      const __m512i x = load_interleaved(from + w * channels, left, channels);
      __m512i y = ByteTable(args.tables)(x);
      for (int32_t c = 1; c < different; ++c) {
        y = _mm512_mask_mov_epi8(y, channel_mask(c, channels), ByteTable(args.tables + c * 256)(x));
      }
      for (int q = 0; q < 4 && q * 4 < left; ++q) {
        const __m512i blocks = _mm512_mask_permutexvar_epi8(fill, spread.lanes, spread.order[q], y);
        _mm512_mask_storeu_epi8(to + (w + q * 4) * kHostBlock, first_bytes((left - q * 4) * 16),
                                blocks);
      }
    }
  }
}

// 16 pixels of 16 channels of bytes to 16 runs of 16 pixels; to[c] starts at pixel 0 of channel c.
struct Planes {
  __m128i channel[kHostBlock];

  explicit Planes(const int8_t* block, int64_t pixels) {
    alignas(64) static constexpr uint8_t kTranspose[64] = {
        0,  16, 32, 48, 1,  17, 33, 49, 2,  18, 34, 50, 3,  19, 35, 51, 4,  20, 36, 52, 5,  21,
        37, 53, 6,  22, 38, 54, 7,  23, 39, 55, 8,  24, 40, 56, 9,  25, 41, 57, 10, 26, 42, 58,
        11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63};
    const __m512i order = _mm512_load_si512(kTranspose);
    __m512i z[4];
    for (int q = 0; q < 4; ++q) {
      const __mmask64 there = pixels > q * 4 ? first_bytes((pixels - q * 4) * 16) : 0;
      z[q] = _mm512_permutexvar_epi8(order, _mm512_maskz_loadu_epi8(there, block + q * 64));
    }
    const __m512i a = _mm512_unpacklo_epi32(z[0], z[1]), b = _mm512_unpackhi_epi32(z[0], z[1]);
    const __m512i c = _mm512_unpacklo_epi32(z[2], z[3]), d = _mm512_unpackhi_epi32(z[2], z[3]);
    put(0, _mm512_unpacklo_epi64(a, c));
    put(1, _mm512_unpackhi_epi64(a, c));
    put(2, _mm512_unpacklo_epi64(b, d));
    put(3, _mm512_unpackhi_epi64(b, d));
  }

 private:
  void put(int first, __m512i four) {
    channel[first] = _mm512_castsi512_si128(four);
    channel[first + 4] = _mm512_extracti32x4_epi32(four, 1);
    channel[first + 8] = _mm512_extracti32x4_epi32(four, 2);
    channel[first + 12] = _mm512_extracti32x4_epi32(four, 3);
  }
};

void blocks_to_planes(const DequantizeArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const __m512i zero_point = _mm512_set1_epi32(args.zero_point);
  const __m512 scale = _mm512_set1_ps(args.scale);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h, h = unit % shape.extent.h;
    const PlainRow<float> row = plain_row(args.output, shape, args.layout, args.w_stride, n, h);
    for (int32_t block = 0; block < channel_blocks(shape.channels); ++block) {
      const int32_t lanes = lanes_in_block(shape, block);
      const int8_t* const from = blocked_row(args.input, shape, n, block, h);
      for (int64_t w = 0; w < shape.extent.w; w += kPixels) {
        const int64_t left = shape.extent.w - w;
        const Planes planes(from + w * kHostBlock, left);
        const auto there = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
        for (int32_t c = 0; c < lanes; ++c) {
          const __m512i x = _mm512_sub_epi32(_mm512_cvtepi8_epi32(planes.channel[c]), zero_point);
          float* const to = row.data + (block * kHostBlock + c) * row.channel_step + w;
          _mm512_mask_storeu_ps(to, there, _mm512_mul_ps(_mm512_cvtepi32_ps(x), scale));
        }
      }
    }
  }
}

void half_blocks_to_planes(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  alignas(64) float tile[kPixels][kHostBlock];
  const __m512i column =
      _mm512_setr_epi32(0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h, h = unit % shape.extent.h;
    const PlainRow<float> row = plain_row(args.output, shape, args.layout, args.w_stride, n, h);
    for (int32_t block = 0; block < channel_blocks(shape.channels); ++block) {
      const int32_t lanes = lanes_in_block(shape, block);
      const uint16_t* const from = blocked_row(args.input, shape, n, block, h);
      for (int64_t w = 0; w < shape.extent.w; w += kPixels) {
        const int64_t left = shape.extent.w - w < kPixels ? shape.extent.w - w : kPixels;
        for (int64_t p = 0; p < left; ++p) {
          const auto* const pixel = reinterpret_cast<const __m256i*>(from + (w + p) * kHostBlock);
          _mm512_store_ps(tile[p], _mm512_cvtph_ps(_mm256_loadu_si256(pixel)));
        }
        const auto there = static_cast<__mmask16>((1 << left) - 1);
        for (int32_t c = 0; c < lanes; ++c) {
          const __m512 v =
              _mm512_mask_i32gather_ps(_mm512_setzero_ps(), there, column, tile[0] + c, 4);
          _mm512_mask_storeu_ps(row.data + (block * kHostBlock + c) * row.channel_step + w, there,
                                v);
        }
      }
    }
  }
}

// Interleaved bytes to fp16 blocks: tables by plain loads, one whole block of stores per pixel.
void bytes_to_half_blocks(const TableHalfArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const int32_t channels = shape.channels;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h, h = unit % shape.extent.h;
    const uint8_t* from = plain_row(args.input, shape, args.layout, args.w_stride, n, h).data;
    uint16_t* to = blocked_row(args.output, shape, n, 0, h);
    for (int64_t w = 0; w < shape.extent.w; ++w, from += channels, to += kHostBlock) {
      uint64_t four = 0;
      for (int32_t c = 0; c < channels; ++c)
        four |= uint64_t{args.tables[c * 256 + from[c]]} << (16 * c);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                          _mm256_zextsi128_si256(_mm_cvtsi64_si128(static_cast<int64_t>(four))));
    }
  }
}

bool few_interleaved(const ActivationShape& shape, PlainLayout layout) {
  return layout == PlainLayout::kNhwc && shape.channels <= kMaxChannels;
}

}  // namespace

void quantize_by_table__avx512(const TableQuantizeArgs& args, IndexRange units) {
  few_interleaved(args.shape, args.layout) ? bytes_to_blocks(args, units)
                                           : quantize_by_table__generic(args, units);
}

void half_by_table__avx512(const TableHalfArgs& args, IndexRange units) {
  few_interleaved(args.shape, args.layout) ? bytes_to_half_blocks(args, units)
                                           : half_by_table__generic(args, units);
}

void dequantize_i8_to_f32__avx512(const DequantizeArgs& args, IndexRange units) {
  args.layout == PlainLayout::kNchw ? blocks_to_planes(args, units)
                                    : dequantize_i8_to_f32__generic(args, units);
}

void blocked_f16_to_f32__avx512(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  args.layout == PlainLayout::kNchw ? half_blocks_to_planes(args, units)
                                    : blocked_f16_to_f32__generic(args, units);
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
