// SPDX-License-Identifier: Apache-2.0
// Float32 and fp16 pictures of up to four channels to int8 and fp16 with AVX-512, 16 pixels at a time. Everything else goes to the
// generic kernels, with which the results agree bit for bit: quantizing divides, as rk::quantize_f32 does.
#if defined(__x86_64__)

#include "kernels/layout/quantize.h"
#include "kernels/layout/quantize_lane.h"
#include "kernels/layout/x86_avx512_pixels.h"

namespace rk::kernels {

decltype(quantize_f32_to_i8) quantize_f32_to_i8__generic, quantize_f32_to_i8__avx512;
decltype(quantize_f16_to_i8) quantize_f16_to_i8__generic, quantize_f16_to_i8__avx512;
decltype(f32_to_blocked_f16) f32_to_blocked_f16__generic, f32_to_blocked_f16__avx512;
decltype(f16_to_blocked_f16) f16_to_blocked_f16__generic, f16_to_blocked_f16__avx512;

}  // namespace rk::kernels

RK_AVX512VBMI_BEGIN

namespace rk::kernels {
namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

__mmask16 first_floats(int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1 << count) - 1);
}

__m512 load_floats(__mmask16 lanes, const float* from) {
  return _mm512_maskz_loadu_ps(lanes, from);
}
__m512 load_floats(__mmask16 lanes, const uint16_t* from) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, from));
}

// 16 pixels as vectors of 16 floats, normalized: of interleaved ones vector i holds elements 16 * i and on, of planes
// channel i.
class Floats {
 public:
  Floats(const ActivationShape& shape, PlainLayout layout, const BorderAffine* affine)
      : channels_(shape.channels),
        planes_(layout == PlainLayout::kNchw),
        affine_(affine != nullptr) {
    alignas(64) float mean[16], stddev[16];
    for (int32_t v = 0; affine_ && v < channels_; ++v) {
      for (int32_t i = 0; i < 16; ++i) {
        const BorderAffine a = affine[planes_ ? v : (v * 16 + i) % channels_];
        mean[i] = a.mean, stddev[i] = a.stddev;
      }
      mean_[v] = _mm512_load_ps(mean);
      stddev_[v] = _mm512_load_ps(stddev);
    }
  }

  template <typename In>
  __m512 load(const PlainRow<const In>& row, int64_t w, int64_t left, int32_t v) const {
    const In* const from =
        planes_ ? row.data + v * row.channel_step + w : row.data + w * channels_ + v * 16;
    const int64_t count = planes_ ? left : left * channels_ - v * 16;
    __m512 x = load_floats(first_floats(count), from);
    if (affine_) x = _mm512_div_ps(_mm512_sub_ps(x, mean_[v]), stddev_[v]);
    return x;
  }

 private:
  int32_t channels_;
  bool planes_, affine_;
  __m512 mean_[kMaxChannels], stddev_[kMaxChannels];
};

// Where interleaved element i comes from in what 16 pixels of planes leave side by side.
template <typename Index>
__m512i interleaving(int32_t channels) {
  constexpr int kCount = 64 / sizeof(Index);
  alignas(64) Index order[kCount] = {};
  for (int i = 0; i < kCount && i < 16 * channels; ++i)
    order[i] = static_cast<Index>(i % channels * 16 + i / channels);
  return _mm512_load_si512(order);
}

template <typename Args>
void floats_to_bytes(const Args& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const int32_t channels = shape.channels;
  const Floats floats(shape, args.layout, args.params.affine);
  const Interleaved inter(channels);
  const bool planes = args.layout == PlainLayout::kNchw;
  const __m512i order = interleaving<uint8_t>(channels);
  const __m512 scale = _mm512_set1_ps(args.params.scale), limit = _mm512_set1_ps(1024.0f);
  const __m512i zero_point = _mm512_set1_epi32(clamp_zero_point(args.params.zero_point));
  const int32_t fill_value = args.params.zero_point;
  const __m512i fill = _mm512_set1_epi8(static_cast<char>(fill_value < -128  ? -128
                                                          : fill_value > 127 ? 127
                                                                             : fill_value));
  const auto quantized = [&](__m512 x) {
    const __m512 q = _mm512_div_ps(x, scale);
    const __mmask16 number = _mm512_cmp_ps_mask(q, q, _CMP_ORD_Q);
    const __m512 near =
        _mm512_min_ps(_mm512_max_ps(q, _mm512_sub_ps(_mm512_setzero_ps(), limit)), limit);
    const __m512i rounded = _mm512_maskz_cvt_roundps_epi32(number, near, kNearest);
    return _mm512_cvtsepi32_epi8(_mm512_add_epi32(rounded, zero_point));
  };
  for_each_run(shape, args.w_stride, units, [&](int64_t n, int64_t h, int64_t width) {
    const auto row = plain_row(args.input, shape, args.layout, args.w_stride, n, h);
    int8_t* const pixels = interleaved_row(args.output, shape, n, h);
    int8_t* const blocks = blocked_row(args.output, shape, n, 0, h);
    for (int64_t w = 0; w < width; w += kPixels) {
      const int64_t left = width - w < kPixels ? width - w : kPixels;
      alignas(64) int8_t bytes[64] = {};
      for (int32_t v = 0; v < channels; ++v)
        _mm_store_si128(reinterpret_cast<__m128i*>(bytes + v * 16),
                        quantized(floats.load(row, w, left, v)));
      __m512i y = _mm512_load_si512(bytes);
      if (planes) y = _mm512_permutexvar_epi8(order, y);
      if (args.interleaved) {
        _mm512_mask_storeu_epi8(pixels + w * channels, first_bytes(left * channels), y);
        continue;
      }
      for (int q = 0; q * 4 < left; ++q) {
        const __m512i block = _mm512_mask_permutexvar_epi8(fill, inter.lanes, inter.order[q], y);
        _mm512_mask_storeu_epi8(blocks + (w + q * 4) * kHostBlock, first_bytes((left - q * 4) * 16),
                                block);
      }
    }
  });
}

template <typename Args>
void floats_to_halves(const Args& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const int32_t channels = shape.channels;
  const Floats floats(shape, args.layout, args.affine);
  const bool planes = args.layout == PlainLayout::kNchw;
  // Of pixels 2 * pair and 2 * pair + 1, from up to 64 elements in two vectors.
  __m512i order[8];
  for (int32_t pair = 0; pair < 8; ++pair) {
    alignas(64) uint16_t words[32] = {};
    for (int32_t i = 0; i < 2 * channels; ++i) {
      const int32_t pixel = pair * 2 + i / channels, c = i % channels;
      words[i / channels * 16 + c] =
          static_cast<uint16_t>(planes ? c * 16 + pixel : pixel * channels + c);
    }
    order[pair] = _mm512_load_si512(words);
  }
  // The same without gaps, 32 elements at a time.
  __m512i straight[2];
  for (int32_t part = 0; part < 2; ++part) {
    alignas(64) uint16_t words[32] = {};
    for (int32_t i = part * 32; i < (part + 1) * 32 && i < 16 * channels; ++i)
      words[i % 32] = static_cast<uint16_t>(planes ? i % channels * 16 + i / channels : i);
    straight[part] = _mm512_load_si512(words);
  }
  const auto lanes = static_cast<__mmask32>(((1u << channels) - 1) * 0x00010001u);
  for_each_run(shape, args.w_stride, units, [&](int64_t n, int64_t h, int64_t width) {
    const auto row = plain_row(args.input, shape, args.layout, args.w_stride, n, h);
    uint16_t* const to = args.interleaved ? interleaved_row(args.output, shape, n, h)
                                          : blocked_row(args.output, shape, n, 0, h);
    for (int64_t w = 0; w < width; w += kPixels) {
      const int64_t left = width - w < kPixels ? width - w : kPixels;
      alignas(64) uint16_t halves[64] = {};
      for (int32_t v = 0; v < channels; ++v)
        _mm256_store_si256(reinterpret_cast<__m256i*>(halves + v * 16),
                           _mm512_cvtps_ph(floats.load(row, w, left, v), kNearest));
      const __m512i low = _mm512_load_si512(halves), high = _mm512_load_si512(halves + 32);
      for (int part = 0; args.interleaved && part * 32 < left * channels; ++part) {
        _mm512_mask_storeu_epi8(to + w * channels + part * 32,
                                first_bytes(left * channels * 2 - part * 64),
                                _mm512_permutex2var_epi16(low, straight[part], high));
      }
      for (int pair = 0; !args.interleaved && pair * 2 < left; ++pair) {
        const __m512i y = _mm512_maskz_permutex2var_epi16(lanes, low, order[pair], high);
        _mm512_mask_storeu_epi8(to + (w + pair * 2) * kHostBlock,
                                first_bytes((left - pair * 2) * 32), y);
      }
    }
  });
}

}  // namespace

void quantize_f32_to_i8__avx512(const QuantizeF32Args& args, IndexRange units) {
  args.shape.channels <= kMaxChannels ? floats_to_bytes(args, units)
                                      : quantize_f32_to_i8__generic(args, units);
}

void quantize_f16_to_i8__avx512(const QuantizeF16Args& args, IndexRange units) {
  args.shape.channels <= kMaxChannels ? floats_to_bytes(args, units)
                                      : quantize_f16_to_i8__generic(args, units);
}

void f32_to_blocked_f16__avx512(const HalfF32Args& args, IndexRange units) {
  args.shape.channels <= kMaxChannels ? floats_to_halves(args, units)
                                      : f32_to_blocked_f16__generic(args, units);
}

void f16_to_blocked_f16__avx512(const HalfF16Args& args, IndexRange units) {
  args.shape.channels <= kMaxChannels ? floats_to_halves(args, units)
                                      : f16_to_blocked_f16__generic(args, units);
}

}  // namespace rk::kernels

RK_AVX512VBMI_END

#endif  // x86-64
