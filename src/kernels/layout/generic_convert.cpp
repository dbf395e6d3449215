// SPDX-License-Identifier: Apache-2.0
// Layout conversions in portable loops, by element size.
#include <cstring>

#include "kernels/layout/convert.h"
#include "kernels/layout/rows.h"

namespace rk::kernels {
namespace {

// Calls f with a value of the unsigned type of that size.
template <typename F>
void by_element(int32_t element_bytes, const F& f) {
  switch (element_bytes) {
    case 1:
      f(uint8_t{});
      break;
    case 2:
      f(uint16_t{});
      break;
    default:
      f(uint32_t{});
      break;
  }
}

// One row of the chip's planes.
struct ChipRows {
  int64_t planes;
  int64_t plane_elements;
  int64_t row_elements;
  int64_t c2;

  ChipRows(const ActivationShape& shape, const ChipLayout& chip) : c2(chip.c2) {
    const int64_t row_pixels = chip.w_stride != 0 ? chip.w_stride : shape.extent.w;
    planes = (shape.channels + c2 - 1) / c2;
    row_elements = row_pixels * c2;
    plane_elements =
        (chip.plane_stride != 0 ? chip.plane_stride : shape.extent.h * row_pixels) * c2;
  }
  // Channel c of pixel 0 of row (n, h); the next pixel is c2 elements on.
  int64_t at(int64_t n, int64_t c, int64_t h) const {
    return (n * planes + c / c2) * plane_elements + h * row_elements + c % c2;
  }
};

template <typename T>
void from_chip(const ChipArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const ChipRows chip(shape, args.chip);
  const T* const input = static_cast<const T*>(args.input);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h;
    const int64_t h = unit % shape.extent.h;
    for (int32_t c = 0; c < channel_blocks(shape.channels) * kHostBlock; ++c) {
      T* const row =
          blocked_row(static_cast<T*>(args.output), shape, n, c / kHostBlock, h) + c % kHostBlock;
      if (c >= shape.channels) {
        for (int64_t w = 0; w < shape.extent.w; ++w)
          row[w * kHostBlock] = static_cast<T>(args.fill);
        continue;
      }
      const T* const source = input + chip.at(n, c, h);
      for (int64_t w = 0; w < shape.extent.w; ++w) row[w * kHostBlock] = source[w * chip.c2];
    }
  }
}

template <typename T>
void to_chip(const ChipArgs& args, IndexRange units) {
  const ActivationShape& shape = args.shape;
  const ChipRows chip(shape, args.chip);
  T* const output = static_cast<T*>(args.output);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h;
    const int64_t h = unit % shape.extent.h;
    for (int64_t c = 0; c < chip.planes * chip.c2; ++c) {
      T* const target = output + chip.at(n, c, h);
      if (c >= shape.channels) {
        for (int64_t w = 0; w < shape.extent.w; ++w)
          target[w * chip.c2] = static_cast<T>(args.fill);
        continue;
      }
      const T* const row =
          blocked_row(static_cast<const T*>(args.input), shape, n, c / kHostBlock, h) +
          c % kHostBlock;
      for (int64_t w = 0; w < shape.extent.w; ++w) target[w * chip.c2] = row[w * kHostBlock];
    }
  }
}

// Whole lanes of one block pair: count channels from lane `from` to lane `to` of every pixel of a row.
template <typename T>
void copy_lanes(const T* input, int32_t from, T* output, int32_t to, int32_t count, int64_t width) {
  if (count == kHostBlock) {
    std::memcpy(output, input, static_cast<size_t>(width) * kHostBlock * sizeof(T));
    return;
  }
  for (int64_t w = 0; w < width; ++w) {
    const T* const x = input + w * kHostBlock + from;
    T* const y = output + w * kHostBlock + to;
    for (int32_t c = 0; c < count; ++c) y[c] = x[c];
  }
}

void look_up_lanes(const uint8_t* input, int32_t from, uint8_t* output, int32_t to, int32_t count,
                   int64_t width, const int8_t* table) {
  for (int64_t w = 0; w < width; ++w) {
    const uint8_t* const x = input + w * kHostBlock + from;
    uint8_t* const y = output + w * kHostBlock + to;
    for (int32_t c = 0; c < count; ++c) {
      y[c] = static_cast<uint8_t>(table[static_cast<int8_t>(x[c]) + 128]);
    }
  }
}

template <typename T>
void copy_rows(const ChannelCopyArgs& args, IndexRange units) {
  const ActivationShape in = {args.batch, args.input_channels, args.extent};
  const ActivationShape out = {args.batch, args.output_channels, args.extent};
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / args.extent.h;
    const int64_t h = unit % args.extent.h;
    for (int32_t done = 0; done < args.count;) {
      const int32_t from = args.input_begin + done;
      const int32_t to = args.output_begin + done;
      // As far as both blocks reach.
      int32_t count =
          kHostBlock - (from % kHostBlock > to % kHostBlock ? from % kHostBlock : to % kHostBlock);
      if (count > args.count - done) count = args.count - done;
      const T* const input =
          blocked_row(static_cast<const T*>(args.input), in, n, from / kHostBlock, h);
      T* const output = blocked_row(static_cast<T*>(args.output), out, n, to / kHostBlock, h);
      if constexpr (sizeof(T) == 1) {
        if (args.table != nullptr) {
          look_up_lanes(input, from % kHostBlock, output, to % kHostBlock, count, args.extent.w,
                        args.table);
          done += count;
          continue;
        }
      }
      copy_lanes(input, from % kHostBlock, output, to % kHostBlock, count, args.extent.w);
      done += count;
    }
  }
}

template <typename T>
void gather(const ChannelGatherArgs& args, IndexRange units) {
  const int64_t in_blocks = channel_blocks(args.input_channels);
  const int64_t out_blocks = channel_blocks(args.output_channels);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const T* const picture = static_cast<const T*>(args.input) +
                             unit / out_blocks * in_blocks * args.pixels * kHostBlock;
    T* const output = static_cast<T*>(args.output) + unit * args.pixels * kHostBlock;
    for (int32_t lane = 0; lane < kHostBlock; ++lane) {
      const int64_t channel = unit % out_blocks * kHostBlock + lane;
      const int32_t from =
          args.source[channel < args.output_channels ? channel : args.output_channels - 1];
      const T* const input =
          picture + from / kHostBlock * args.pixels * kHostBlock + from % kHostBlock;
      for (int64_t i = 0; i < args.pixels; ++i)
        output[i * kHostBlock + lane] = input[i * kHostBlock];
    }
  }
}

}  // namespace

void gather_channels__generic(const ChannelGatherArgs& args, IndexRange units) {
  by_element(args.element_bytes, [&]<typename T>(T) { gather<T>(args, units); });
}

void plain_to_blocked__generic(const PlainArgs& args, IndexRange units) {
  by_element(args.element_bytes, [&]<typename T>(T) {
    rows_to_blocked(args.shape, args.layout, args.w_stride, static_cast<const T*>(args.input),
                    static_cast<T*>(args.output), static_cast<T>(args.fill), units,
                    [](int32_t, T x) { return x; });
  });
}

void blocked_to_plain__generic(const PlainArgs& args, IndexRange units) {
  by_element(args.element_bytes, [&]<typename T>(T) {
    rows_from_blocked(args.shape, args.layout, args.w_stride, static_cast<const T*>(args.input),
                      static_cast<T*>(args.output), units, [](T x) { return x; });
  });
}

void chip_to_blocked__generic(const ChipArgs& args, IndexRange units) {
  by_element(args.element_bytes, [&]<typename T>(T) { from_chip<T>(args, units); });
}

void blocked_to_chip__generic(const ChipArgs& args, IndexRange units) {
  by_element(args.element_bytes, [&]<typename T>(T) { to_chip<T>(args, units); });
}

void copy_channels__generic(const ChannelCopyArgs& args, IndexRange units) {
  by_element(args.element_bytes, [&]<typename T>(T) { copy_rows<T>(args, units); });
}

}  // namespace rk::kernels
