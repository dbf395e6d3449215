// SPDX-License-Identifier: Apache-2.0
// The camera's orientation: found in an EXIF block, which is a small TIFF file in either byte
// order, and applied. A damaged block is ignored, as every viewer does: the picture itself is
// whole.
#include <cstring>
#include <optional>

#include "media/codecs.h"

namespace rk::media {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kTypeShort = 3;
constexpr size_t kEntryBytes = 12;

class TiffReader {
 public:
  explicit TiffReader(ByteSpan bytes) : bytes_(bytes) {}

  bool begin() {
    if (bytes_.size() < 8 || bytes_[0] != bytes_[1]) return false;
    if (bytes_[0] != 'I' && bytes_[0] != 'M') return false;
    big_endian_ = bytes_[0] == 'M';
    return u16(2) == 42;
  }

  std::optional<uint32_t> u16(uint64_t at) const { return number(at, 2); }
  std::optional<uint32_t> u32(uint64_t at) const { return number(at, 4); }

 private:
  std::optional<uint32_t> number(uint64_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value = value << 8 | bytes_[static_cast<size_t>(at) + (big_endian_ ? i : size - 1 - i)];
    }
    return value;
  }

  ByteSpan bytes_;
  bool big_endian_ = false;
};

}  // namespace

int exif_orientation(ByteSpan tiff) {
  TiffReader in(tiff);
  if (!in.begin()) return 1;
  const auto directory = in.u32(4);
  const auto count = directory ? in.u16(*directory) : std::nullopt;
  if (!count) return 1;
  for (uint32_t i = 0; i < *count; ++i) {
    const uint64_t entry = uint64_t{*directory} + 2 + uint64_t{i} * kEntryBytes;
    if (in.u16(entry) != kOrientationTag) continue;
    const auto value = in.u16(entry + 8);
    const bool is_usable = in.u16(entry + 2) == kTypeShort && value && *value >= 1 && *value <= 8;
    return is_usable ? static_cast<int>(*value) : 1;
  }
  return 1;
}

Picture upright(Picture picture, int orientation) {
  if (orientation <= 1 || orientation > 8) return picture;
  // Where the stored row and column run backwards, and whether they change places (5 to 8).
  const bool is_transposed = orientation >= 5;
  const bool row_backwards =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool column_backwards =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  Picture out;
  out.width = is_transposed ? picture.height : picture.width;
  out.height = is_transposed ? picture.width : picture.height;
  out.channels = picture.channels;
  out.pixels.resize(picture.pixels.size());
  const auto pixel_bytes = static_cast<size_t>(picture.channels);
  uint8_t* to = out.pixels.data();
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      int row = is_transposed ? x : y;
      int column = is_transposed ? y : x;
      if (row_backwards) row = picture.height - 1 - row;
      if (column_backwards) column = picture.width - 1 - column;
      const auto from = (static_cast<size_t>(row) * static_cast<size_t>(picture.width) +
                         static_cast<size_t>(column)) *
                        pixel_bytes;
      std::memcpy(to, picture.pixels.data() + from, pixel_bytes);
      to += pixel_bytes;
    }
  }
  return out;
}

}  // namespace rk::media
