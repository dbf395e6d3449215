// SPDX-License-Identifier: Apache-2.0
// Runs of pixels and the orders of interleaved channels, for the AVX-512 border conversions. Includes intrinsics: only for
// files that RK_AVX512VBMI_BEGIN frames. Private to kernels/layout.
#pragma once

#include <cstring>

#include "kernels/layout/rows.h"
#include "kernels/x86_avx512.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels {
namespace {

constexpr int32_t kMaxChannels = 4;
constexpr int64_t kPixels = 16;  // of one step
constexpr int32_t kBlockBytes = kHostBlock;

// Calls work(n, h, pixels) for runs of pixels from row h on that are contiguous on both sides: all rows of a picture where
// the plain ones have no gap. Long runs are few streams, which the CPU prefetches.
template <typename Work>
void for_each_run(const ActivationShape& shape, int64_t w_stride, IndexRange units,
                  const Work& work) {
  const bool dense = w_stride == 0 || w_stride == shape.extent.w;
  for (int64_t unit = units.begin; unit < units.end;) {
    const int64_t n = unit / shape.extent.h, h = unit % shape.extent.h;
    const int64_t in_picture = shape.extent.h - h, left = units.end - unit;
    const int64_t rows = !dense ? 1 : in_picture < left ? in_picture : left;
    work(n, h, rows * shape.extent.w);
    unit += rows;
  }
}

inline __mmask64 first_bytes(int64_t count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

// Interleaved channels as bytes: the masks that tell them apart, and the order that makes blocks of them.
struct Interleaved {
  __m512i order[4];            // of pixels 4 * i .. as blocks of 16 lanes
  __mmask64 lanes;             // of the blocks of four pixels
  __mmask64 there;             // the bytes of kPixels pixels
  __mmask64 of[kMaxChannels];  // the bytes of one channel

  explicit Interleaved(int32_t channels) {
    for (int32_t q = 0; q < 4; ++q) {
      alignas(64) uint8_t bytes[64] = {};
      for (int32_t i = 0; i < 4 * channels; ++i) {
        const int32_t pixel = i / channels;
        bytes[pixel * kBlockBytes + i % channels] = static_cast<uint8_t>(q * 4 * channels + i);
      }
      order[q] = _mm512_load_si512(bytes);
    }
    lanes = ((__mmask64{1} << channels) - 1) * 0x0001000100010001ull;
    there = first_bytes(kPixels * channels);
    for (int32_t c = 0; c < kMaxChannels; ++c) {
      of[c] = 0;
      for (int32_t i = c; i < 64; i += channels) of[c] |= __mmask64{1} << i;
    }
  }
};

}  // namespace
}  // namespace rk::kernels

RK_AVX512VBMI_END
