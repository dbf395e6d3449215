// SPDX-License-Identifier: Apache-2.0
// The walk that all conversions between plain and blocked layouts share: one row (n, h) at a time, block by block. The
// conversion of a value is a callable, inlined. Private to kernels/layout.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/thread_pool.h"
#include "kernels/layout/blocked.h"
#include "kernels/layout/convert.h"

namespace rk::kernels {

// Where channel c of pixel w lies in one plain row: data[c * channel_step + w * pixel_step].
template <typename T>
struct PlainRow {
  T* data;
  int64_t channel_step;
  int64_t pixel_step;
};

template <typename T>
PlainRow<T> plain_row(T* base, const ActivationShape& shape, PlainLayout layout, int64_t w_stride,
                      int64_t n, int64_t h) {
  const int64_t row_pixels = w_stride != 0 ? w_stride : shape.extent.w;
  if (layout == PlainLayout::kNhwc) {
    return {base + (n * shape.extent.h + h) * row_pixels * shape.channels, 1, shape.channels};
  }
  const int64_t plane = shape.extent.h * row_pixels;
  return {base + n * shape.channels * plane + h * row_pixels, plane, 1};
}

template <typename T>
T* blocked_row(T* base, const ActivationShape& shape, int64_t n, int64_t block, int64_t h) {
  const int64_t plane = n * channel_blocks(shape.channels) + block;
  return base + (plane * shape.extent.h + h) * shape.extent.w * kHostBlock;
}

template <typename T>
T* interleaved_row(T* base, const ActivationShape& shape, int64_t n, int64_t h) {
  return base + (n * shape.extent.h + h) * shape.extent.w * shape.channels;
}

inline int32_t lanes_in_block(const ActivationShape& shape, int32_t block) {
  const int32_t left = shape.channels - block * kHostBlock;
  return left < kHostBlock ? left : kHostBlock;
}

// One row of up to four channels, whose lanes are put together in a register: stores of single ones over a filled row
// take three times as long.
template <int kChannels, typename In, typename Out, typename Convert>
void row_of_few(const PlainRow<const In>& source, int64_t width, Out fill, const Convert convert,
                Out* row) {
  static_assert(std::endian::native == std::endian::little && kChannels * sizeof(Out) <= 8);
  using Bits = std::make_unsigned_t<Out>;
  constexpr int kBits = 8 * sizeof(Out);
  uint64_t filled = 0, rest = 0;
  for (int i = 0; i < 64 / kBits; ++i) {
    const auto lane = uint64_t{static_cast<Bits>(fill)} << (i * kBits);
    filled |= lane;
    if (i >= kChannels) rest |= lane;
  }
  for (int64_t w = 0; w < width; ++w, row += kHostBlock) {
    const In* const x = source.data + w * source.pixel_step;
    uint64_t first = rest;
    for (int c = 0; c < kChannels; ++c)
      first |= uint64_t{static_cast<Bits>(convert(c, x[c * source.channel_step]))} << (c * kBits);
    std::memcpy(row, &first, sizeof first);
    for (size_t i = 64 / kBits; i < kHostBlock; i += 64 / kBits)
      std::memcpy(row + i, &filled, sizeof filled);
  }
}

// output lane = convert(channel, input); padding lanes = fill.
template <typename In, typename Out, typename Convert>
void rows_to_blocked(const ActivationShape& shape, PlainLayout layout, int64_t w_stride,
                     const In* input, Out* output, Out fill, IndexRange units, const Convert& by) {
  const Convert convert = by;  // stores of bytes could change what is behind a reference
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h;
    const int64_t h = unit % shape.extent.h;
    const PlainRow<const In> source = plain_row(input, shape, layout, w_stride, n, h);
    if constexpr (std::is_integral_v<Out> && sizeof(Out) <= 2) {
      Out* const row = blocked_row(output, shape, n, 0, h);
      const int64_t width = shape.extent.w;
      switch (shape.channels) {
        case 1:
          row_of_few<1>(source, width, fill, convert, row);
          continue;
        case 3:
          row_of_few<3>(source, width, fill, convert, row);
          continue;
        case 4:
          row_of_few<4>(source, width, fill, convert, row);
          continue;
        default:
          break;
      }
    }
    for (int32_t block = 0; block < channel_blocks(shape.channels); ++block) {
      const int32_t lanes = lanes_in_block(shape, block);
      const In* const first = source.data + block * kHostBlock * source.channel_step;
      Out* const row = blocked_row(output, shape, n, block, h);
      const int64_t width = shape.extent.w, step = source.pixel_step;
      // All lanes of the row at once: that is what compilers vectorize.
      const int64_t filled = lanes < kHostBlock ? width * kHostBlock : 0;
      for (int64_t i = 0; i < filled; ++i) row[i] = fill;
      const int64_t channel_step = source.channel_step;
      for (int64_t w = 0; w < width; ++w) {
        const In* const x = first + w * step;
        Out* const y = row + w * kHostBlock;
        for (int32_t c = 0; c < lanes; ++c)
          y[c] = convert(block * kHostBlock + c, x[c * channel_step]);
      }
    }
  }
}

// kChannels: of the picture, so that a pixel is straight code; 0: any number.
template <int kChannels, typename In, typename Out, typename Convert>
void interleaved_row_of(const PlainRow<const In>& source, int64_t width, int32_t channels,
                        const Convert convert, Out* to) {
  const int32_t count = kChannels != 0 ? kChannels : channels;
  for (int64_t w = 0; w < width; ++w, to += count) {
    const In* const x = source.data + w * source.pixel_step;
    for (int32_t c = 0; c < count; ++c) to[c] = convert(c, x[c * source.channel_step]);
  }
}

// The same to [n][h][w][channels].
template <typename In, typename Out, typename Convert>
void rows_to_interleaved(const ActivationShape& shape, PlainLayout layout, int64_t w_stride,
                         const In* input, Out* output, IndexRange units, const Convert& by) {
  const Convert convert = by;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h, h = unit % shape.extent.h;
    const PlainRow<const In> source = plain_row(input, shape, layout, w_stride, n, h);
    Out* const to = interleaved_row(output, shape, n, h);
    shape.channels == 3
        ? interleaved_row_of<3>(source, shape.extent.w, 3, convert, to)
        : interleaved_row_of<0>(source, shape.extent.w, shape.channels, convert, to);
  }
}

// output = convert(input lane). For NCHW the pixels are innermost, so that writes are contiguous.
template <typename In, typename Out, typename Convert>
void rows_from_blocked(const ActivationShape& shape, PlainLayout layout, int64_t w_stride,
                       const In* input, Out* output, IndexRange units, const Convert& convert) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h;
    const int64_t h = unit % shape.extent.h;
    const PlainRow<Out> target = plain_row(output, shape, layout, w_stride, n, h);
    for (int32_t block = 0; block < channel_blocks(shape.channels); ++block) {
      const int32_t lanes = lanes_in_block(shape, block);
      Out* const first = target.data + block * kHostBlock * target.channel_step;
      const In* const row = blocked_row(input, shape, n, block, h);
      if (layout == PlainLayout::kNchw) {
        for (int32_t c = 0; c < lanes; ++c) {
          Out* const y = first + c * target.channel_step;
          for (int64_t w = 0; w < shape.extent.w; ++w) y[w] = convert(row[w * kHostBlock + c]);
        }
      } else {
        for (int64_t w = 0; w < shape.extent.w; ++w) {
          Out* const y = first + w * target.pixel_step;
          for (int32_t c = 0; c < lanes; ++c) y[c] = convert(row[w * kHostBlock + c]);
        }
      }
    }
  }
}

}  // namespace rk::kernels
