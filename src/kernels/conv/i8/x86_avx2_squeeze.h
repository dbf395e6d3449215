// SPDX-License-Identifier: Apache-2.0
// Pixels of one to three channels side by side, for x86_avx2_quads.cpp: a row of a kernel is then cut into quads without
// gaps. Private to kernels/conv.
//
// Note: the including file defines RK_ISA_BEGIN and RK_ISA_END.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

RK_ISA_BEGIN

namespace rk::kernels::quads {
namespace {

// The first `channels` bytes of `count` pixels, 128 more than stored, side by side; writes up to three bytes more.
// `pixel`: bytes from one to the next, of blocked pixels or of those that lie side by side already.
inline void squeeze_pixels(const int8_t* from, int64_t pixel, int64_t count, int64_t channels,
                           uint8_t* to) {
  if (pixel == channels) {
    for (int64_t i = 0; i < count * channels; ++i) to[i] = static_cast<uint8_t>(from[i] ^ -128);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint32_t four;
    std::memcpy(&four, from + i * pixel, sizeof four);
    four ^= 0x80808080u;
    std::memcpy(to + i * channels, &four, sizeof four);
  }
}

// Reads four bytes of each of eight pixels that lie `step` bytes apart, up to 12 bytes beyond the last.
class QuadsOfPixels {
 public:
  explicit QuadsOfPixels(int64_t step) : step_(step) {
    alignas(16) uint8_t order[16];
    for (int i = 0; i < 8; ++i) order[i] = static_cast<uint8_t>(i / 4 * (step & 15) + i % 4);
    for (int i = 8; i < 16; ++i) order[i] = 0x80;
    order_ = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(order)));
  }

  inline __attribute__((always_inline)) __m256i load(const uint8_t* from) const {
    constexpr int64_t kTwoInVector = 12;
    if (step_ > kTwoInVector) {
      return _mm256_setr_epi32(quad(from, 0), quad(from, 1), quad(from, 2), quad(from, 3),
                               quad(from, 4), quad(from, 5), quad(from, 6), quad(from, 7));
    }
    return _mm256_unpacklo_epi64(pairs(from, 0), pairs(from, 2));
  }

 private:
  int32_t quad(const uint8_t* from, int pixel) const {
    int32_t value;
    std::memcpy(&value, from + pixel * step_, sizeof value);
    return value;
  }
  // Pixels i, i + 1 in the low half and i + 4, i + 5 in the high one.
  __m256i pairs(const uint8_t* from, int i) const {
    const auto at = [&](int pixel) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + pixel * step_));
    };
    return _mm256_shuffle_epi8(_mm256_set_m128i(at(i + 4), at(i)), order_);
  }

  int64_t step_;
  __m256i order_;
};

}  // namespace
}  // namespace rk::kernels::quads

RK_ISA_END
