// SPDX-License-Identifier: Apache-2.0
// Pictures for calibration and for the command line: JPEG, PNG and BMP to interleaved 8-bit pixels.
// The bytes decide what a file is, not its name. Results are those of OpenCV 4.6's imread (alpha
// dropped, 16 bits cut to 8, orientation of the camera applied), with red first where OpenCV has
// blue first.
//
// Note: grey is not computed from the RGB picture. Like imread(IMREAD_GRAYSCALE)
// each decoder makes it itself: JPEG hands out its own luma, libpng weighs and truncates, BMP
// weighs with 14 bits and rounds; the three differ by a few units, and libpng mixes in linear light
// when the file states its gamma.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk::media {

struct Picture {
  int width = 0;
  int height = 0;
  int channels = 0;             // 1 grey, 3 red green blue
  std::vector<uint8_t> pixels;  // height rows of width pixels of channels bytes, no padding
};

enum class Color { kRgb, kGrey };

// What a file or a caller may ask for; beyond this is refused before memory is taken.
inline constexpr int64_t kMaxPictureExtent = 65535;
inline constexpr int64_t kMaxPicturePixels = int64_t{64} << 20;

// kInvalidArgument when the extents are not positive or beyond the limits above.
Status check_picture_extents(int64_t width, int64_t height);

enum class FileKind { kUnknown, kJpeg, kPng, kBmp, kNpy };
// By the first bytes; eight are enough.
FileKind sniff(ByteSpan file);

// `name` stands in front of messages. kInvalidArgument when the file is damaged or ends early
// (never a half-grey picture), kUnsupported when it is none of the three formats or a variety of
// them that is not read.
Result<Picture> decode_picture(ByteSpan file, std::string_view name, Color color);
Result<Picture> read_picture(const std::string& path, Color color);

Result<std::vector<uint8_t>> encode_png(const Picture& picture);
Status write_png(const std::string& path, const Picture& picture);

}  // namespace rk::media
