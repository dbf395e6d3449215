// SPDX-License-Identifier: Apache-2.0
#include "media/picture.h"

#include <algorithm>

#include "base/file.h"
#include "media/codecs.h"

namespace rk::media {
namespace {

bool begins_with(ByteSpan file, std::initializer_list<uint8_t> magic) {
  return file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin());
}

Result<Decoded> decode(ByteSpan file, Color color) {
  switch (sniff(file)) {
    case FileKind::kJpeg:
      return decode_jpeg(file, color);
    case FileKind::kPng:
      return decode_png(file, color);
    case FileKind::kBmp:
      return decode_bmp(file, color);
    case FileKind::kNpy:
      return unsupported("an .npy array where a picture is expected");
    case FileKind::kUnknown:
      break;
  }
  if (file.empty()) return unsupported("the file is empty");
  return unsupported(str("neither JPEG, PNG nor BMP", other_format(file)));
}

}  // namespace

Status check_picture_extents(int64_t width, int64_t height) {
  if (width >= 1 && width <= kMaxPictureExtent && height >= 1 && height <= kMaxPictureExtent &&
      width * height <= kMaxPicturePixels) {
    return ok_status();
  }
  return invalid_argument(str("a picture of ", width, " x ", height,
                              " pixels; each side must be 1..", kMaxPictureExtent,
                              " and the area at most ", kMaxPicturePixels));
}

FileKind sniff(ByteSpan file) {
  if (begins_with(file, {0xff, 0xd8, 0xff})) return FileKind::kJpeg;
  if (begins_with(file, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'})) return FileKind::kPng;
  if (begins_with(file, {'B', 'M'})) return FileKind::kBmp;
  if (begins_with(file, {0x93, 'N', 'U', 'M', 'P', 'Y'})) return FileKind::kNpy;
  return FileKind::kUnknown;
}

std::string other_format(ByteSpan file) {
  struct Format {
    size_t at;
    std::string_view magic;
    const char* name;
  };
  constexpr Format kFormats[] = {{8, "WEBP", "WebP"},     {4, "ftypavif", "AVIF"},
                                 {4, "ftypheic", "HEIC"}, {4, "ftypmif1", "HEIF"},
                                 {0, "GIF8", "GIF"},      {0, "II*", "TIFF"},
                                 {0, "MM", "TIFF"}};
  for (const Format& format : kFormats) {
    if (file.size() < format.at + format.magic.size()) continue;
    if (std::equal(format.magic.begin(), format.magic.end(), file.begin() + format.at))
      return str("; it is ", format.name, ": convert it to PNG or JPEG first");
  }
  return "";
}

Result<Picture> make_picture(int64_t width, int64_t height, Color color) {
  RK_TRY(check_picture_extents(width, height));
  Picture out;
  out.width = static_cast<int>(width);
  out.height = static_cast<int>(height);
  out.channels = color == Color::kGrey ? 1 : 3;
  out.pixels.resize(static_cast<size_t>(width * height * out.channels));
  return out;
}

Result<Picture> decode_picture(ByteSpan file, std::string_view name, Color color) {
  auto decoded = decode(file, color);
  if (decoded.ok()) return upright(std::move(decoded->picture), decoded->orientation);
  // Running off the end of the bytes is a damaged argument here, not a damaged model.
  const Status& status = decoded.status();
  const Code code = status.code() == Code::kInvalidModel ? Code::kInvalidArgument : status.code();
  return Status(code, status.message()).with_context(str("'", name, "'"));
}

Result<Picture> read_picture(const std::string& path, Color color) {
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(path));
  return decode_picture(file, path, color);
}

Status write_png(const std::string& path, const Picture& picture) {
  auto file = encode_png(picture);
  if (!file.ok()) return file.status().with_context(str("'", path, "'"));
  return write_file(path, *file);
}

}  // namespace rk::media
