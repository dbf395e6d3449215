// SPDX-License-Identifier: Apache-2.0
// BMP, read by hand: 1, 4 and 8 bits with a palette, 16, 24 and 32 bits with or without masks, rows
// from either end, the headers of OS/2 (12 bytes) and Windows (40 and more). Run-length compressed
// files are refused.
//
// Note: the height's sign is the direction of the rows. Positive, the usual case,
// is bottom first.
#include <array>
#include <bit>

#include "base/checked_math.h"
#include "media/codecs.h"

namespace rk::media {
namespace {

constexpr uint32_t kFileHeaderBytes = 14;
constexpr uint32_t kOs2HeaderBytes = 12;
constexpr uint32_t kWindowsHeaderBytes = 40;
constexpr uint32_t kUncompressed = 0;
constexpr uint32_t kBitFields = 3;

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

struct Header {
  uint32_t pixels_at = 0;
  uint32_t header_bytes = 0;
  int64_t width = 0;
  int64_t height = 0;  // negative: top row first
  uint32_t bits = 0;
  uint32_t compression = kUncompressed;
  uint32_t palette_entries = 0;
  std::array<uint32_t, 3> masks = {};  // red, green, blue
};

Status read_masks(ByteReader& in, Header& header) {
  if (header.compression == kBitFields) {
    if (header.bits != 16 && header.bits != 32) {
      return invalid_argument(str("damaged BMP: masks with ", header.bits, " bits a pixel"));
    }
    for (uint32_t& mask : header.masks) {
      RK_ASSIGN(mask, in.read<uint32_t>());
      const uint32_t run = mask == 0 ? 0 : mask >> std::countr_zero(mask);
      if ((run & (run + 1)) != 0 || (header.bits == 16 && mask > 0xffff)) {
        return invalid_argument(str("damaged BMP: a channel mask of ", mask));
      }
    }
  } else if (header.bits == 16) {
    header.masks = {0x7c00, 0x03e0, 0x001f};
  } else if (header.bits == 32) {
    header.masks = {0xff0000, 0x00ff00, 0x0000ff};
  }
  return ok_status();
}

Result<Header> read_header(ByteReader& in) {
  Header header;
  RK_TRY(in.seek(10));
  RK_ASSIGN(header.pixels_at, in.read<uint32_t>());
  RK_ASSIGN(header.header_bytes, in.read<uint32_t>());
  if (header.header_bytes == kOs2HeaderBytes) {
    RK_ASSIGN(header.width, in.read<uint16_t>());
    RK_ASSIGN(header.height, in.read<uint16_t>());
  } else if (header.header_bytes >= kWindowsHeaderBytes) {
    RK_ASSIGN(header.width, in.read<int32_t>());
    RK_ASSIGN(header.height, in.read<int32_t>());
  } else {
    return unsupported(
        str("a BMP header of ", header.header_bytes, " bytes; 12 or 40 and more expected"));
  }
  RK_TRY(in.take(2).status());  // planes, always 1
  RK_ASSIGN(header.bits, in.read<uint16_t>());
  if (header.header_bytes >= kWindowsHeaderBytes) {
    RK_ASSIGN(header.compression, in.read<uint32_t>());
    RK_TRY(in.take(12).status());  // size of the pixels, resolution
    RK_ASSIGN(header.palette_entries, in.read<uint32_t>());
    RK_TRY(in.take(4).status());  // important colors
  }
  if (header.compression != kUncompressed && header.compression != kBitFields) {
    return unsupported(str("BMP compression ", header.compression, "; save it uncompressed"));
  }
  RK_TRY(read_masks(in, header));
  return header;
}

Result<std::vector<Rgb>> read_palette(ByteReader& in, const Header& header) {
  const uint32_t most = 1u << header.bits;
  const uint32_t count = header.palette_entries == 0 ? most : header.palette_entries;
  if (count > most) {
    return invalid_argument(
        str("damaged BMP: a palette of ", count, " colors, at most ", most, " expected"));
  }
  RK_TRY(in.seek(kFileHeaderBytes + uint64_t{header.header_bytes}));
  const size_t entry_bytes = header.header_bytes == kOs2HeaderBytes ? 3 : 4;
  RK_ASSIGN(const ByteSpan bytes, in.take(count * entry_bytes));
  std::vector<Rgb> palette(count);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const entry = bytes.data() + i * entry_bytes;
    palette[i] = {entry[2], entry[1], entry[0]};
  }
  return palette;
}

// A masked channel in 8 bits: the high bits of a wide one; a narrow one is shifted up, not
// stretched, as in OpenCV.
uint8_t channel(uint32_t pixel, uint32_t mask) {
  if (mask == 0) return 0;
  const int bits = std::popcount(mask);
  const uint32_t value = (pixel & mask) >> std::countr_zero(mask);
  return static_cast<uint8_t>(bits >= 8 ? value >> (bits - 8) : value << (8 - bits));
}

Status read_row(const uint8_t* from, const Header& header, const std::vector<Rgb>& palette,
                Picture& picture, uint8_t* to) {
  for (size_t x = 0; x < static_cast<size_t>(picture.width); ++x) {
    Rgb pixel;
    if (header.bits <= 8) {
      const size_t first_bit = x * header.bits;
      const uint32_t shift = 8 - header.bits - static_cast<uint32_t>(first_bit % 8);
      const uint32_t index = (uint32_t{from[first_bit / 8]} >> shift) & ((1u << header.bits) - 1);
      if (index >= palette.size()) {
        return invalid_argument(
            str("damaged BMP: color ", index, " of a palette of ", palette.size()));
      }
      pixel = palette[index];
    } else if (header.bits == 24) {
      pixel = {from[3 * x + 2], from[3 * x + 1], from[3 * x]};
    } else {
      const uint32_t word =
          header.bits == 16 ? load<uint16_t>(from + 2 * x) : load<uint32_t>(from + 4 * x);
      pixel = {channel(word, header.masks[0]), channel(word, header.masks[1]),
               channel(word, header.masks[2])};
    }
    if (picture.channels == 1) {
      to[x] = luma(pixel.red, pixel.green, pixel.blue);
    } else {
      to[3 * x] = pixel.red;
      to[3 * x + 1] = pixel.green;
      to[3 * x + 2] = pixel.blue;
    }
  }
  return ok_status();
}

}  // namespace

Result<Decoded> decode_bmp(ByteSpan file, Color color) {
  ByteReader in(file);
  RK_ASSIGN(const Header header, read_header(in));
  const int64_t rows = header.height < 0 ? -header.height : header.height;
  RK_TRY(check_picture_extents(header.width, rows));
  std::vector<Rgb> palette;
  if (header.bits == 1 || header.bits == 4 || header.bits == 8) {
    RK_ASSIGN(palette, read_palette(in, header));
  } else if (header.bits != 16 && header.bits != 24 && header.bits != 32) {
    return unsupported(
        str("a BMP with ", header.bits, " bits a pixel; 1, 4, 8, 16, 24 or 32 expected"));
  }
  const auto row_bytes =
      align_up(ceil_div(static_cast<size_t>(header.width) * header.bits, size_t{8}), size_t{4});
  RK_TRY(in.seek(header.pixels_at));
  RK_ASSIGN(const ByteSpan pixels, in.take(row_bytes * static_cast<size_t>(rows)));

  Decoded out;
  RK_ASSIGN(out.picture, make_picture(header.width, rows, color));
  const auto out_row_bytes =
      static_cast<size_t>(out.picture.width) * static_cast<size_t>(out.picture.channels);
  for (size_t y = 0; y < static_cast<size_t>(rows); ++y) {
    const size_t stored = header.height < 0 ? y : static_cast<size_t>(rows) - 1 - y;
    RK_TRY(read_row(pixels.data() + stored * row_bytes, header, palette, out.picture,
                    out.picture.pixels.data() + y * out_row_bytes));
  }
  return out;
}

}  // namespace rk::media
