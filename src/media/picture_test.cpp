// SPDX-License-Identifier: Apache-2.0
// Decoded pixels are compared with what OpenCV's imread gave (testdata/make_testdata.py); BMP
// varieties and damaged files are spelled out here.
#include "media/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "base/crc32.h"
#include "base/file.h"
#include "base/npy.h"
#include "media/codecs.h"

namespace rk::media {
namespace {

using Bytes = std::vector<uint8_t>;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kWidth = 19;
constexpr int kHeight = 13;
const char* const kPictures[] = {"baseline.jpg",     "progressive.jpg", "grey.jpg",    "cmyk.jpg",
                                 "rotated.jpg",      "palette.png",     "alpha.png",   "deep.png",
                                 "interlaced.png",   "grey_2bit.png",   "palette.bmp", "rgb565.bmp",
                                 "topdown_32bit.bmp"};

std::string testdata(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path() / "testdata" / name).string();
}

std::string error_of(const Bytes& file) {
  const auto picture = decode_picture(file, "x", Color::kRgb);
  return picture.ok() ? "no error" : picture.status().message();
}

void append(Bytes& out, std::initializer_list<uint32_t> values, size_t size_bytes) {
  for (uint32_t value : values) {
    for (size_t i = 0; i < size_bytes; ++i, value >>= 8) out.push_back(static_cast<uint8_t>(value));
  }
}

struct BmpParts {
  int32_t width = 0;
  int32_t height = 0;
  uint32_t bits = 24;
  uint32_t compression = 0;
  uint32_t colors = 0;
  Bytes before_pixels = {};  // palette or masks
  Bytes pixels = {};
};

Bytes bmp(const BmpParts& parts) {
  Bytes out = {'B', 'M'};
  append(out, {0, 0, static_cast<uint32_t>(54 + parts.before_pixels.size()), 40}, 4);
  append(out, {static_cast<uint32_t>(parts.width), static_cast<uint32_t>(parts.height)}, 4);
  append(out, {1, parts.bits}, 2);
  append(out, {parts.compression, 0, 0, 0, parts.colors, 0}, 4);
  out.insert(out.end(), parts.before_pixels.begin(), parts.before_pixels.end());
  out.insert(out.end(), parts.pixels.begin(), parts.pixels.end());
  return out;
}

void expect_as_opencv(Color color, const std::string& expected_file) {
  const auto expected = read_npy(testdata(expected_file));
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const size_t row_bytes = static_cast<size_t>(expected->shape[1]);
  size_t at = 0;
  for (const std::string name : kPictures) {
    const auto picture = read_picture(testdata(name), color);
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    const bool is_rotated = name == "rotated.jpg";
    EXPECT_EQ(picture->width, is_rotated ? kHeight : kWidth) << name;
    EXPECT_EQ(picture->height, is_rotated ? kWidth : kHeight) << name;
    EXPECT_EQ(picture->channels, color == Color::kGrey ? 1 : 3) << name;
    const Bytes row(expected->bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    expected->bytes.begin() + static_cast<std::ptrdiff_t>(at + row_bytes));
    EXPECT_EQ(picture->pixels, row) << name;
    at += row_bytes;
  }
}

TEST(PictureTest, ColorPixelsAreThoseOfOpenCvWithRedFirst) {
  expect_as_opencv(Color::kRgb, "expected_rgb.npy");
}

TEST(PictureTest, GreyPixelsAreThoseOfOpenCv) {
  expect_as_opencv(Color::kGrey, "expected_grey.npy");
}

TEST(PictureTest, TheBytesDecideWhatAFileIs) {
  EXPECT_EQ(sniff(*read_file(testdata("baseline.jpg"))), FileKind::kJpeg);
  EXPECT_EQ(sniff(*read_file(testdata("alpha.png"))), FileKind::kPng);
  EXPECT_EQ(sniff(*read_file(testdata("palette.bmp"))), FileKind::kBmp);
  EXPECT_EQ(sniff(*read_file(testdata("resize_source.npy"))), FileKind::kNpy);
  EXPECT_EQ(sniff(Bytes{0xff, 0xd8}), FileKind::kUnknown);
  EXPECT_EQ(error_of({}), "'x': the file is empty");
  EXPECT_EQ(error_of({'G', 'I', 'F', '8', '9', 'a'}),
            "'x': neither JPEG, PNG nor BMP; it is GIF: convert it to PNG or JPEG first");
  EXPECT_EQ(error_of({'R', 'I', 'F', 'F', 1, 2, 3, 4, 'W', 'E', 'B', 'P'}),
            "'x': neither JPEG, PNG nor BMP; it is WebP: convert it to PNG or JPEG first");
  EXPECT_EQ(error_of({'x', 'y', 'z'}), "'x': neither JPEG, PNG nor BMP");
  EXPECT_EQ(error_of({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}),
            "'x': an .npy array where a picture is expected");
}

TEST(PictureTest, FilesCutShortAreRefused) {
  for (const std::string name : kPictures) {
    const Bytes file = *read_file(testdata(name));
    const bool is_jpeg = name.ends_with(".jpg");
    for (size_t size = 0; size < file.size(); ++size) {
      const Bytes prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      const auto picture = decode_picture(prefix, "x", Color::kRgb);
      // The end marker of a JPEG, and what follows the last row of a PNG, hold no pixels.
      const bool may_pass = (is_jpeg && size + 4 >= file.size()) ||
                            (name.ends_with(".png") && size + 20 >= file.size());
      EXPECT_TRUE(may_pass || !picture.ok()) << name << " " << size;
    }
  }
}

TEST(PictureTest, DamagedFilesNeitherCrashNorTakeTooMuchMemory) {
  for (const std::string name : kPictures) {
    const Bytes file = *read_file(testdata(name));
    for (size_t at = 0; at < file.size(); ++at) {
      for (const uint8_t flip : {0x01, 0x80, 0xff}) {
        Bytes damaged = file;
        damaged[at] ^= flip;
        const auto picture = decode_picture(damaged, "x", Color::kGrey);
        if (!picture.ok()) continue;
        EXPECT_EQ(picture->pixels.size(),
                  static_cast<size_t>(picture->width) * static_cast<size_t>(picture->height));
      }
    }
  }
}

TEST(PictureTest, JpegThatClaimsToBeHugeIsRefused) {
  Bytes file = *read_file(testdata("baseline.jpg"));
  for (size_t at = 2; at + 9 < file.size(); ++at) {
    if (file[at] != 0xff || file[at + 1] != 0xc0) continue;
    for (size_t i = 5; i < 9; ++i) file[at + i] = 0xf0;
    break;
  }
  EXPECT_EQ(error_of(file),
            "'x': a picture of 61680 x 61680 pixels; each side must be 1..65535 and the "
            "area at most 67108864");
}

TEST(PictureTest, PngThatClaimsToBeHugeIsRefused) {
  const auto png_header = [](uint8_t width_high, uint8_t height_high) {
    const Bytes magic_and_size = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13};
    const Bytes chunk = {'I',         'H',  'D',  'R', 0, width_high, 0x27, 0x10, 0,
                         height_high, 0x27, 0x10, 8,   2, 0,          0,    0};
    ByteWriter out;
    out.write_bytes(magic_and_size);
    out.write_bytes(chunk);
    for (int shift = 24; shift >= 0; shift -= 8) {
      out.write(static_cast<uint8_t>(crc32(chunk) >> shift));
    }
    out.write_bytes(Bytes{0, 0, 0, 0, 'I', 'D', 'A', 'T'});
    return out.release();
  };
  EXPECT_THAT(error_of(png_header(0, 0)), HasSubstr("a picture of 10000 x 10000 pixels"));
  EXPECT_THAT(error_of(png_header(0x7f, 0x7f)), HasSubstr("damaged PNG: "));
}

TEST(PictureTest, BmpRowsRunFromTheBottomUnlessTheHeightIsNegative) {
  const Bytes pixels = {1, 2, 3, 0, 4, 5, 6, 0};  // blue green red, one pixel and padding a row
  const auto up =
      decode_picture(bmp({.width = 1, .height = 2, .pixels = pixels}), "x", Color::kRgb);
  const auto down =
      decode_picture(bmp({.width = 1, .height = -2, .pixels = pixels}), "x", Color::kRgb);
  ASSERT_TRUE(up.ok() && down.ok());
  EXPECT_THAT(up->pixels, ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(down->pixels, ElementsAre(3, 2, 1, 6, 5, 4));
}

TEST(PictureTest, BmpOfOneAndFourBitsReadsThePaletteFromTheHighBits) {
  const Bytes palette = {10, 20, 30, 0, 40, 50, 60, 0};
  const auto one = decode_picture(bmp({.width = 3,
                                       .height = 1,
                                       .bits = 1,
                                       .before_pixels = palette,
                                       .pixels = {0xa0, 0, 0, 0}}),
                                  "x", Color::kRgb);
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_THAT(one->pixels, ElementsAre(60, 50, 40, 30, 20, 10, 60, 50, 40));
  const auto four = decode_picture(bmp({.width = 2,
                                        .height = 1,
                                        .bits = 4,
                                        .colors = 2,
                                        .before_pixels = palette,
                                        .pixels = {0x01, 0, 0, 0}}),
                                   "x", Color::kRgb);
  ASSERT_TRUE(four.ok()) << four.status().message();
  EXPECT_THAT(four->pixels, ElementsAre(30, 20, 10, 60, 50, 40));
}

TEST(PictureTest, BmpMasksMayStandAnywhere) {
  Bytes masks;
  append(masks, {0x000000ff, 0x3ff00000, 0}, 4);  // red low, green of ten bits, no blue
  Bytes pixels;
  append(pixels, {0x3fc00012}, 4);  // green 0x3fc of 0x3ff
  const auto picture = decode_picture(bmp({.width = 1,
                                           .height = 1,
                                           .bits = 32,
                                           .compression = 3,
                                           .before_pixels = masks,
                                           .pixels = pixels}),
                                      "x", Color::kRgb);
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  EXPECT_THAT(picture->pixels, ElementsAre(0x12, 0xff, 0));
}

TEST(PictureTest, BmpErrorsSayWhatWasFound) {
  EXPECT_EQ(error_of(bmp({.width = 2, .height = 1, .bits = 8, .compression = 1})),
            "'x': BMP compression 1; save it uncompressed");
  EXPECT_EQ(
      error_of(bmp({.width = 0, .height = 1})),
      "'x': a picture of 0 x 1 pixels; each side must be 1..65535 and the area at most 67108864");
  EXPECT_THAT(error_of(bmp({.width = 1, .height = INT32_MIN})),
              HasSubstr("a picture of 1 x 2147483648 pixels"));
  EXPECT_THAT(error_of(bmp({.width = -1, .height = 1})), HasSubstr("a picture of -1 x 1 pixels"));
  EXPECT_EQ(error_of(bmp({.width = 1, .height = 1, .bits = 7})),
            "'x': a BMP with 7 bits a pixel; 1, 4, 8, 16, 24 or 32 expected");
  EXPECT_EQ(error_of(bmp({.width = 1, .height = 1, .bits = 8, .colors = 257})),
            "'x': damaged BMP: a palette of 257 colors, at most 256 expected");
  EXPECT_EQ(error_of(bmp({.width = 1,
                          .height = 1,
                          .bits = 8,
                          .colors = 1,
                          .before_pixels = Bytes(4),
                          .pixels = {1, 0, 0, 0}})),
            "'x': damaged BMP: color 1 of a palette of 1");
  EXPECT_THAT(error_of(bmp({.width = 65535, .height = 1000, .pixels = {1, 2, 3, 4}})),
              HasSubstr("truncated data"));
  Bytes masks;
  append(masks, {0x50, 0, 0}, 4);
  EXPECT_EQ(error_of(bmp({.width = 1,
                          .height = 1,
                          .bits = 32,
                          .compression = 3,
                          .before_pixels = masks,
                          .pixels = Bytes(4)})),
            "'x': damaged BMP: a channel mask of 80");
}

TEST(PictureTest, OrientationTurnsAsTheExifTableSays) {
  // 1 2 3
  // 4 5 6
  const Picture stored{3, 2, 1, {1, 2, 3, 4, 5, 6}};
  const auto turned = [&](int orientation) { return upright(stored, orientation).pixels; };
  EXPECT_THAT(turned(1), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(turned(2), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(turned(3), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(turned(4), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(turned(5), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(turned(6), ElementsAre(4, 1, 5, 2, 6, 3));
  EXPECT_THAT(turned(7), ElementsAre(6, 3, 5, 2, 4, 1));
  EXPECT_THAT(turned(8), ElementsAre(3, 6, 2, 5, 1, 4));
  EXPECT_EQ(upright(stored, 6).width, 2);
}

TEST(PictureTest, OrientationIsReadInBothByteOrders) {
  const Bytes little = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0};
  const Bytes big = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0};
  EXPECT_EQ(exif_orientation(little), 6);
  EXPECT_EQ(exif_orientation(big), 8);
  for (size_t size = 0; size < 20; ++size)
    EXPECT_EQ(exif_orientation(ByteSpan(little).first(size)), 1);
  Bytes wild = little;
  wild[7] = 0xff;  // the directory lies far outside
  EXPECT_EQ(exif_orientation(wild), 1);
  wild = little;
  wild[18] = 9;
  EXPECT_EQ(exif_orientation(wild), 1);
}

TEST(PictureTest, PngComesBackAsWritten) {
  for (const int channels : {1, 3}) {
    Picture picture{5, 3, channels, Bytes(static_cast<size_t>(15 * channels))};
    for (size_t i = 0; i < picture.pixels.size(); ++i)
      picture.pixels[i] = static_cast<uint8_t>(i * 17);
    const std::string path = testing::TempDir() + "rk_picture_test.png";
    ASSERT_TRUE(write_png(path, picture).ok());
    const auto read = read_picture(path, channels == 1 ? Color::kGrey : Color::kRgb);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->pixels, picture.pixels);
    std::remove(path.c_str());
  }
  EXPECT_FALSE(encode_png({2, 2, 3, Bytes(11)}).ok());
  EXPECT_FALSE(encode_png({2, 2, 2, Bytes(8)}).ok());
  EXPECT_FALSE(encode_png({0, 2, 3, {}}).ok());
}

}  // namespace
}  // namespace rk::media
