// SPDX-License-Identifier: Apache-2.0
// The decoders behind decode_picture(), one file each, and what they share. They return the picture
// as stored; the camera's orientation is handed out beside it and applied by the caller.
#pragma once

#include "media/picture.h"

namespace rk::media {

struct Decoded {
  Picture picture;
  int orientation = 1;  // EXIF tag 0x0112, 1..8; 1 is upright
};

Result<Decoded> decode_jpeg(ByteSpan file, Color color);
Result<Decoded> decode_png(ByteSpan file, Color color);
Result<Decoded> decode_bmp(ByteSpan file, Color color);

inline constexpr size_t kMagicBytes = 12;  // of a file, enough for sniff() and other_format()
// "; it is WebP: convert it to PNG or JPEG first" for a picture of a format that is not read, whatever its name ends in;
// else empty.
std::string other_format(ByteSpan file);

// Checks the extents and takes the memory, zeroed.
Result<Picture> make_picture(int64_t width, int64_t height, Color color);

// The orientation in a TIFF block, as EXIF uses it; 1 when there is none or the block is damaged.
int exif_orientation(ByteSpan tiff);
Picture upright(Picture picture, int orientation);

// Luma as OpenCV's decoders weigh it: 0.299, 0.587, 0.114 with 14 bits, rounded. (cvtColor uses 15
// bits.)
inline uint8_t luma(int red, int green, int blue) {
  return static_cast<uint8_t>((red * 4899 + green * 9617 + blue * 1868 + (1 << 13)) >> 14);
}

}  // namespace rk::media
