// SPDX-License-Identifier: Apache-2.0
// The borders that pictures and detectors cross, with AVX-512: up to four interleaved channels of bytes to blocks, and
// blocks to float planes. Everything else goes to the generic kernels.
#if defined(__x86_64__)

#include <cstring>

#include "kernels/layout/quantize.h"
#include "kernels/layout/x86_avx512_pixels.h"

namespace rk::kernels {

decltype(quantize_by_table) quantize_by_table__generic, quantize_by_table__avx512;
decltype(plain_to_blocked) plain_to_blocked__generic, plain_to_blocked__avx512;
decltype(copy_channels) copy_channels__generic, copy_channels__avx512;
decltype(half_by_table) half_by_table__generic, half_by_table__avx512;
decltype(dequantize_i8_to_f32) dequantize_i8_to_f32__generic, dequantize_i8_to_f32__avx512;
decltype(blocked_f16_to_f32) blocked_f16_to_f32__generic, blocked_f16_to_f32__avx512;

}  // namespace rk::kernels

RK_AVX512VBMI_BEGIN

namespace rk::kernels {
namespace {

// 64 bytes through a table of 256.
struct ByteTable {
  __m512i part[4];
  explicit ByteTable(const void* table)
      : ByteTable(table, static_cast<const uint8_t*>(table) + 128) {}
  // Of bytes below 128 and of those above.
  ByteTable(const void* low, const void* high)
      : part{_mm512_loadu_si512(low), _mm512_loadu_si512(static_cast<const uint8_t*>(low) + 64),
             _mm512_loadu_si512(high), _mm512_loadu_si512(static_cast<const uint8_t*>(high) + 64)} {
  }
  __m512i operator()(__m512i x) const {
    const __m512i low = _mm512_permutex2var_epi8(part[0], x, part[1]);
    const __m512i high = _mm512_permutex2var_epi8(part[2], x, part[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(x), high);
  }
};

bool equal_bytes(const void* a, const void* b, size_t count) {
  return std::memcmp(a, b, count) == 0;
}

// kTables is 1 where all channels have the same one.
template <int32_t kTables>
void bytes_to_blocks(const TableQuantizeArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const int32_t channels = shape.channels;
  const Interleaved inter(channels);
  const __m512i fill = _mm512_set1_epi8(args.fill);
  const auto convert = [&](__m512i x) {
    __m512i y = ByteTable(args.tables)(x);
    for (int32_t c = 1; c < kTables; ++c)
      y = _mm512_mask_mov_epi8(y, inter.of[c], ByteTable(args.tables + c * 256)(x));
    return y;
  };
  const auto blocks = [&](__m512i y, int q) {
    return _mm512_mask_permutexvar_epi8(fill, inter.lanes, inter.order[q], y);
  };
  for_each_run(shape, args.w_stride, units, [&](int64_t n, int64_t h, int64_t width) {
    const uint8_t* const from = plain_row(args.input, shape, args.layout, args.w_stride, n, h).data;
    if (args.interleaved) {
      int8_t* const pixels = interleaved_row(args.output, shape, n, h);
      // Where all channels have one table, whole vectors.
      const int64_t step = kTables == 1 ? 64 : kPixels * channels, bytes = width * channels;
      for (int64_t at = 0; at < bytes; at += step) {
        const __mmask64 there = first_bytes(bytes - at < step ? bytes - at : step);
        _mm512_mask_storeu_epi8(pixels + at, there,
                                convert(_mm512_maskz_loadu_epi8(there, from + at)));
      }
      return;
    }
    int8_t* const to = blocked_row(args.output, shape, n, 0, h);
    int64_t w = 0;
    for (; w + kPixels <= width; w += kPixels) {
      const __m512i y = convert(_mm512_maskz_loadu_epi8(inter.there, from + w * channels));
      for (int q = 0; q < 4; ++q) _mm512_storeu_si512(to + (w + q * 4) * kBlockBytes, blocks(y, q));
    }
    const int64_t left = width - w;
    const __mmask64 rest = first_bytes(left * channels);
    const __m512i y = convert(_mm512_maskz_loadu_epi8(rest, from + w * channels));
    for (int q = 0; q * 4 < left; ++q)
      _mm512_mask_storeu_epi8(to + (w + q * 4) * kBlockBytes, first_bytes((left - q * 4) * 16),
                              blocks(y, q));
  });
}

void bytes_to_blocks(const TableQuantizeArgs& args, IndexRange units) {
  bool same = true;
  for (int32_t c = 1; c < args.shape.channels; ++c)
    same = same && equal_bytes(args.tables, args.tables + c * 256, 256);
  if (same) return bytes_to_blocks<1>(args, units);
  if (args.shape.channels == 2) return bytes_to_blocks<2>(args, units);
  if (args.shape.channels == 3) return bytes_to_blocks<3>(args, units);
  bytes_to_blocks<4>(args, units);
}

// Interleaved bytes to fp16 blocks: a table for each half of an fp16, then one permutation per two pixels picks both.
void bytes_to_half_blocks(const TableHalfArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const int32_t channels = shape.channels;
  const Interleaved inter(channels);
  alignas(64) uint8_t halves[2][kMaxChannels][256];
  for (int32_t c = 0; c < channels; ++c) {
    for (int32_t i = 0; i < 256; ++i) {
      halves[0][c][i] = static_cast<uint8_t>(args.tables[c * 256 + i] & 0xff);
      halves[1][c][i] = static_cast<uint8_t>(args.tables[c * 256 + i] >> 8);
    }
  }
  // Bytes of pixels 2 * pair and 2 * pair + 1: byte 0x40 and above is one of the second operand.
  __m512i order[8];
  for (int32_t pair = 0; pair < 8; ++pair) {
    alignas(64) uint8_t bytes[64] = {};
    for (int32_t i = 0; i < 2 * channels; ++i) {
      const int32_t at = i / channels * 32 + i % channels * 2, from = pair * 2 * channels + i;
      bytes[at] = static_cast<uint8_t>(from);
      bytes[at + 1] = static_cast<uint8_t>(from | 0x40);
    }
    order[pair] = _mm512_load_si512(bytes);
  }
  // The same without gaps, 32 elements at a time.
  __m512i straight[2];
  for (int32_t part = 0; part < 2; ++part) {
    alignas(64) uint8_t bytes[64];
    for (int32_t i = 0; i < 64; ++i)
      bytes[i] = static_cast<uint8_t>((part * 32 + i / 2) | (i % 2 != 0 ? 0x40 : 0));
    straight[part] = _mm512_load_si512(bytes);
  }
  const __mmask64 lanes = ((__mmask64{1} << 2 * channels) - 1) * 0x0000000100000001ull;
  const auto convert = [&](__m512i x, int half) {
    __m512i y = ByteTable(halves[half][0])(x);
    for (int32_t c = 1; c < channels; ++c)
      y = _mm512_mask_mov_epi8(y, inter.of[c], ByteTable(halves[half][c])(x));
    return y;
  };
  for_each_run(shape, args.w_stride, units, [&](int64_t n, int64_t h, int64_t width) {
    const uint8_t* const from = plain_row(args.input, shape, args.layout, args.w_stride, n, h).data;
    uint16_t* const to = args.interleaved ? interleaved_row(args.output, shape, n, h)
                                          : blocked_row(args.output, shape, n, 0, h);
    for (int64_t w = 0; w < width; w += kPixels) {
      const int64_t left = width - w < kPixels ? width - w : kPixels;
      const __m512i x = _mm512_maskz_loadu_epi8(first_bytes(left * channels), from + w * channels);
      const __m512i low = convert(x, 0), high = convert(x, 1);
      if (args.interleaved) {
        const int64_t bytes = left * channels * 2;
        _mm512_mask_storeu_epi8(to + w * channels, first_bytes(bytes),
                                _mm512_permutex2var_epi8(low, straight[0], high));
        if (bytes > 64)
          _mm512_mask_storeu_epi8(to + w * channels + 32, first_bytes(bytes - 64),
                                  _mm512_permutex2var_epi8(low, straight[1], high));
        continue;
      }
      for (int pair = 0; pair * 2 < left; ++pair) {
        const __m512i y = _mm512_maskz_permutex2var_epi8(lanes, low, order[pair], high);
        _mm512_mask_storeu_epi8(to + (w + pair * 2) * kHostBlock,
                                first_bytes((left - pair * 2) * 32), y);
      }
    }
  });
}

// Interleaved elements of two bytes to blocks, 8 pixels at a time.
void halves_to_blocks(const PlainArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const int32_t channels = shape.channels;
  constexpr int64_t kStep = 8;
  __m512i order[4];
  for (int32_t pair = 0; pair < 4; ++pair) {
    alignas(64) uint16_t words[32] = {};
    for (int32_t i = 0; i < 2 * channels; ++i)
      words[i / channels * 16 + i % channels] = static_cast<uint16_t>(pair * 2 * channels + i);
    order[pair] = _mm512_load_si512(words);
  }
  const auto lanes = static_cast<__mmask32>(((1u << channels) - 1) * 0x00010001u);
  const __m512i fill = _mm512_set1_epi16(static_cast<int16_t>(args.fill));
  for_each_run(shape, args.w_stride, units, [&](int64_t n, int64_t h, int64_t width) {
    const auto* const from =
        plain_row(static_cast<const uint16_t*>(args.input), shape, args.layout, args.w_stride, n, h)
            .data;
    uint16_t* const to = blocked_row(static_cast<uint16_t*>(args.output), shape, n, 0, h);
    for (int64_t w = 0; w < width; w += kStep) {
      const int64_t left = width - w < kStep ? width - w : kStep;
      const __m512i x =
          _mm512_maskz_loadu_epi8(first_bytes(left * channels * 2), from + w * channels);
      for (int pair = 0; pair * 2 < left; ++pair) {
        const __m512i y = _mm512_mask_permutexvar_epi16(fill, lanes, order[pair], x);
        _mm512_mask_storeu_epi8(to + (w + pair * 2) * kHostBlock,
                                first_bytes((left - pair * 2) * 32), y);
      }
    }
  });
}

// Whole blocks of bytes through a table that is indexed by x + 128.
void look_up_blocks(const ChannelCopyArgs& args, int32_t blocks, IndexRange units) {
  const ActivationShape in = {args.batch, args.input_channels, args.extent};
  const ActivationShape out = {args.batch, args.output_channels, args.extent};
  const ByteTable table(args.table + 128, args.table);
  for_each_run(in, 0, units, [&](int64_t n, int64_t h, int64_t pixels) {
    for (int32_t block = 0; block < blocks; ++block) {
      const uint8_t* const from = blocked_row(static_cast<const uint8_t*>(args.input), in, n,
                                              args.input_begin / kHostBlock + block, h);
      uint8_t* const to = blocked_row(static_cast<uint8_t*>(args.output), out, n,
                                      args.output_begin / kHostBlock + block, h);
      const int64_t bytes = pixels * kBlockBytes;
      int64_t at = 0;
      for (; at + 64 <= bytes; at += 64)
        _mm512_storeu_si512(to + at, table(_mm512_loadu_si512(from + at)));
      const __mmask64 rest = first_bytes(bytes - at);
      _mm512_mask_storeu_epi8(to + at, rest, table(_mm512_maskz_loadu_epi8(rest, from + at)));
    }
  });
}

// 16 pixels of 16 channels of bytes; part i holds 16 pixels each of channels i, i + 4, i + 8 and i + 12.
struct BytePlanes {
  __m512i part[4];

  explicit BytePlanes(const int8_t* block, int64_t pixels) {
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
    part[0] = _mm512_unpacklo_epi64(a, c);
    part[1] = _mm512_unpackhi_epi64(a, c);
    part[2] = _mm512_unpacklo_epi64(b, d);
    part[3] = _mm512_unpackhi_epi64(b, d);
  }
};

// What a byte becomes as the lowest of a float of 2^23: 2^23 + 128 + x, less 2^23 + 128 + zero point.
constexpr int32_t kByteMagic = 0x4b000000;
constexpr float kByteBase = 8388608.0f + 128.0f;
constexpr int32_t kMaxZeroPoint = 1 << 22;
constexpr __mmask64 kLowBytes = 0x1111111111111111;

// 16 pixels of a block: channel c goes to to + c * step.
struct PlaneWriter {
  __m512i run[4];  // the bytes of each quarter, one per word
  __m512 base, scale;

  explicit PlaneWriter(const DequantizeArgs& args)
      : base(_mm512_set1_ps(kByteBase + static_cast<float>(args.zero_point))),
        scale(_mm512_set1_ps(args.scale)) {
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int i = 0; i < 4; ++i) run[i] = _mm512_add_epi32(first, _mm512_set1_epi32(16 * i));
  }
  __m512 values(__m512i biased, int quarter) const {
    const __m512i bits = _mm512_mask_permutexvar_epi8(_mm512_set1_epi32(kByteMagic), kLowBytes,
                                                      run[quarter], biased);
    return _mm512_mul_ps(_mm512_sub_ps(_mm512_castsi512_ps(bits), base), scale);
  }
  template <typename Store>
  void write(const BytePlanes& planes, int32_t lanes, const Store& store) const {
    for (int i = 0; i < 4; ++i) {
      const __m512i biased = _mm512_xor_si512(planes.part[i], _mm512_set1_epi8(-128));
      for (int quarter = 0; quarter < 4; ++quarter) {
        const int32_t c = quarter * 4 + i;
        if (c < lanes) store(c, values(biased, quarter));
      }
    }
  }
};

void blocks_to_planes(const DequantizeArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const PlaneWriter writer(args);
  for_each_run(shape, args.w_stride, units, [&](int64_t n, int64_t h, int64_t width) {
    const PlainRow<float> row = plain_row(args.output, shape, args.layout, args.w_stride, n, h);
    for (int32_t block = 0; block < channel_blocks(shape.channels); ++block) {
      const int32_t lanes = lanes_in_block(shape, block);
      const int8_t* const from = blocked_row(args.input, shape, n, block, h);
      float* const first = row.data + block * kHostBlock * row.channel_step;
      for (int64_t w = 0; w < width; w += kPixels) {
        const int64_t left = width - w;
        const BytePlanes planes(from + w * kHostBlock, left);
        float* const to = first + w;
        if (left >= kPixels && lanes == kHostBlock) {
          writer.write(planes, kHostBlock, [&](int32_t c, __m512 v) {
            _mm512_storeu_ps(to + c * row.channel_step, v);
          });
          continue;
        }
        const auto there = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
        writer.write(planes, lanes, [&](int32_t c, __m512 v) {
          _mm512_mask_storeu_ps(to + c * row.channel_step, there, v);
        });
      }
    }
  });
}

// 16 pixels of 16 channels of fp16: pair[i] holds 16 pixels of channel kFirst[i] and of kFirst[i] + 2.
struct HalfPlanes {
  static constexpr int32_t kFirst[8] = {0, 1, 4, 5, 8, 9, 12, 13};
  __m512i pair[8];

  HalfPlanes(const uint16_t* block, int64_t pixels) {
    __m512i z[8];
    for (int i = 0; i < 8; ++i) {
      const __mmask64 there = pixels > i * 2 ? first_bytes((pixels - i * 2) * 32) : 0;
      z[i] = _mm512_maskz_loadu_epi8(there, block + i * 32);
    }
    // Four pixels of each of eight channels.
    alignas(64) uint16_t order[32];
    for (int i = 0; i < 32; ++i) order[i] = static_cast<uint16_t>(i % 4 * 16 + i / 4);
    const __m512i low = _mm512_load_si512(order);
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(8));
    for (int half = 0; half < 2; ++half) {
      const __m512i by = half == 0 ? low : high;
      __m512i a[4];
      for (int i = 0; i < 4; ++i) a[i] = _mm512_permutex2var_epi16(z[2 * i], by, z[2 * i + 1]);
      for (int odd = 0; odd < 2; ++odd) {
        const __m512i first =
            odd == 0 ? _mm512_unpacklo_epi64(a[0], a[1]) : _mm512_unpackhi_epi64(a[0], a[1]);
        const __m512i last =
            odd == 0 ? _mm512_unpacklo_epi64(a[2], a[3]) : _mm512_unpackhi_epi64(a[2], a[3]);
        const __m512i near = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        const __m512i far = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        pair[half * 4 + odd] = _mm512_permutex2var_epi64(first, near, last);
        pair[half * 4 + 2 + odd] = _mm512_permutex2var_epi64(first, far, last);
      }
    }
  }
};

void half_blocks_to_planes(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  for_each_run(shape, args.w_stride, units, [&](int64_t n, int64_t h, int64_t width) {
    const PlainRow<float> row = plain_row(args.output, shape, args.layout, args.w_stride, n, h);
    for (int32_t block = 0; block < channel_blocks(shape.channels); ++block) {
      const int32_t lanes = lanes_in_block(shape, block);
      const uint16_t* const from = blocked_row(args.input, shape, n, block, h);
      float* const first = row.data + block * kHostBlock * row.channel_step;
      for (int64_t w = 0; w < width; w += kPixels) {
        const int64_t left = width - w;
        const HalfPlanes planes(from + w * kHostBlock, left);
        const auto there = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
        const auto put = [&](int32_t c, __m256i half) {
          if (c >= lanes) return;
          _mm512_mask_storeu_ps(first + c * row.channel_step + w, there, _mm512_cvtph_ps(half));
        };
        for (int i = 0; i < 8; ++i) {
          put(HalfPlanes::kFirst[i], _mm512_castsi512_si256(planes.pair[i]));
          put(HalfPlanes::kFirst[i] + 2, _mm512_extracti64x4_epi64(planes.pair[i], 1));
        }
      }
    }
  });
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

void plain_to_blocked__avx512(const PlainArgs& args, IndexRange units) {
  args.element_bytes == 2 && few_interleaved(args.shape, args.layout)
      ? halves_to_blocks(args, units)
      : plain_to_blocked__generic(args, units);
}

void copy_channels__avx512(const ChannelCopyArgs& args, IndexRange units) {
  const bool whole = args.input_begin % kHostBlock == 0 && args.output_begin % kHostBlock == 0;
  ChannelCopyArgs rest = args;
  if (args.table != nullptr && args.element_bytes == 1 && whole) {
    const int32_t blocks = args.count / kHostBlock;
    look_up_blocks(args, blocks, units);
    rest.input_begin += blocks * kHostBlock;
    rest.output_begin += blocks * kHostBlock;
    rest.count -= blocks * kHostBlock;
  }
  if (rest.count > 0) copy_channels__generic(rest, units);
}

void dequantize_i8_to_f32__avx512(const DequantizeArgs& args, IndexRange units) {
  const bool exact = args.zero_point > -kMaxZeroPoint && args.zero_point < kMaxZeroPoint;
  args.layout == PlainLayout::kNchw&& exact ? blocks_to_planes(args, units)
                                            : dequantize_i8_to_f32__generic(args, units);
}

void blocked_f16_to_f32__avx512(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  args.layout == PlainLayout::kNchw ? half_blocks_to_planes(args, units)
                                    : blocked_f16_to_f32__generic(args, units);
}

}  // namespace rk::kernels

RK_AVX512VBMI_END

#endif  // x86-64
