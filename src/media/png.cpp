// SPDX-License-Identifier: Apache-2.0
// PNG by libpng. Like the JPEG decoder: errors come by longjmp, functions that call setjmp hold
// nothing with a destructor. The transformations and their order are those of OpenCV's decoder,
// which settles what happens to transparency and to 16 bits, and how libpng makes grey.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "media/codecs.h"

namespace rk::media {
namespace {

struct Reader {
  ByteSpan rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::jmp_buf escape = {};
  char message[128] = {};
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto& reader = *static_cast<Reader*>(png_get_error_ptr(png));
  std::strncpy(reader.message, text, sizeof reader.message - 1);
  std::longjmp(reader.escape, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, size_t size) {
  auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
  if (size > reader.rest.size()) png_error(png, "the file ends early");
  std::memcpy(to, reader.rest.data(), size);
  reader.rest = reader.rest.subspan(size);
}

bool read_header(Reader& reader) {
  if (setjmp(reader.escape) != 0) return false;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning);
  reader.info = reader.png != nullptr ? png_create_info_struct(reader.png) : nullptr;
  if (reader.info == nullptr) {
    std::strcpy(reader.message, "no memory");
    return false;
  }
  png_set_user_limits(reader.png, kMaxPictureExtent, kMaxPictureExtent);
  png_set_read_fn(reader.png, &reader, on_read);
  png_read_info(reader.png, reader.info);
  return true;
}

bool set_transformations(Reader& reader, Color color, size_t row_bytes) {
  if (setjmp(reader.escape) != 0) return false;
  const int type = png_get_color_type(reader.png, reader.info);
  const int bit_depth = png_get_bit_depth(reader.png, reader.info);
  const bool has_color = (type & PNG_COLOR_MASK_COLOR) != 0;
  if (bit_depth == 16) png_set_strip_16(reader.png);
  png_set_strip_alpha(reader.png);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
  if (!has_color && bit_depth < 8) png_set_expand_gray_1_2_4_to_8(reader.png);
  if (color == Color::kGrey) {
    png_set_rgb_to_gray(reader.png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  } else if (!has_color) {
    png_set_gray_to_rgb(reader.png);
  }
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  if (png_get_rowbytes(reader.png, reader.info) == row_bytes) return true;
  std::strcpy(reader.message, "an unexpected row size");
  return false;
}

bool read_rows(Reader& reader, png_bytepp rows) {
  if (setjmp(reader.escape) != 0) return false;
  png_read_image(reader.png, rows);
  return true;
}

int orientation_of(Reader& reader) {
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 size = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(reader.png, reader.info, &size, &exif) != 0 && exif != nullptr) {
    return exif_orientation({exif, size});
  }
#endif
  return 1;
}

Result<Decoded> decode(Reader& reader, Color color) {
  const auto damaged = [&] { return invalid_argument(str("damaged PNG: ", reader.message)); };
  if (!read_header(reader)) return damaged();
  Decoded out;
  out.orientation = orientation_of(reader);
  RK_ASSIGN(out.picture, make_picture(png_get_image_width(reader.png, reader.info),
                                      png_get_image_height(reader.png, reader.info), color));
  Picture& picture = out.picture;
  const auto row_bytes = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.channels);
  if (!set_transformations(reader, color, row_bytes)) return damaged();
  std::vector<png_bytep> rows(static_cast<size_t>(picture.height));
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = picture.pixels.data() + y * row_bytes;
  if (!read_rows(reader, rows.data())) return damaged();
  return out;
}

}  // namespace

Result<Decoded> decode_png(ByteSpan file, Color color) {
  Reader reader;
  reader.rest = file;
  auto out = decode(reader, color);
  png_destroy_read_struct(&reader.png, &reader.info, nullptr);
  return out;
}

Result<std::vector<uint8_t>> encode_png(const Picture& picture) {
  RK_TRY(check_picture_extents(picture.width, picture.height));
  const auto row_bytes = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.channels);
  if ((picture.channels != 1 && picture.channels != 3) ||
      picture.pixels.size() != row_bytes * static_cast<size_t>(picture.height)) {
    return invalid_argument(str("a picture of ", picture.width, " x ", picture.height, " x ",
                                picture.channels, " with ", picture.pixels.size(), " bytes"));
  }
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = picture.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<uint8_t> out(size);
  if (png_image_write_to_memory(&image, out.data(), &size, 0, picture.pixels.data(), 0, nullptr) ==
      0) {
    return invalid_argument(str("PNG: ", image.message));
  }
  out.resize(size);
  return out;
}

}  // namespace rk::media
