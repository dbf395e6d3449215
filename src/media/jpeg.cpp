// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg-turbo. The library reports errors by longjmp, so each of the functions that call
// setjmp holds nothing with a destructor; memory is taken between them.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

// Needs the three above it and must precede the one below.
#include <jpeglib.h>

#include <jerror.h>

#include "media/codecs.h"

namespace rk::media {
namespace {

// A legal progressive file has a dozen scans or so; each may cost a pass over the whole picture.
constexpr int kMaxScans = 100;
constexpr long kMaxLibraryBytes = 1L << 30;

struct Reader {
  jpeg_decompress_struct info = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf escape = {};
  char message[JMSG_LENGTH_MAX] = {};
};

Reader& reader_of(j_common_ptr info) { return *static_cast<Reader*>(info->client_data); }

[[noreturn]] void stop(j_common_ptr info) {
  Reader& reader = reader_of(info);
  info->err->format_message(info, reader.message);
  std::longjmp(reader.escape, 1);
}

// Warnings that mean pixels were lost. The others (stray bytes between segments, an odd version
// number) are common in pictures from cameras and change nothing.
bool is_damage(int code) {
  return code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_JPEG_EOF ||
         code == JWRN_MUST_RESYNC || code == JWRN_BOGUS_PROGRESSION || code == JWRN_ARITH_BAD_CODE;
}

void on_message(j_common_ptr info, int level) {
  if (level < 0 && is_damage(info->err->msg_code)) stop(info);
}

void on_output(j_common_ptr) {}

void on_progress(j_common_ptr info) {
  const auto* decompress = reinterpret_cast<j_decompress_ptr>(info);
  if (decompress->input_scan_number <= kMaxScans) return;
  Reader& reader = reader_of(info);
  std::strcpy(reader.message, "too many scans");
  std::longjmp(reader.escape, 1);
}

bool read_header(Reader& reader, ByteSpan file) {
  reader.info.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = stop;
  reader.errors.emit_message = on_message;
  reader.errors.output_message = on_output;
  reader.info.client_data = &reader;
  if (setjmp(reader.escape) != 0) return false;
  jpeg_create_decompress(&reader.info);
  reader.info.mem->max_memory_to_use = kMaxLibraryBytes;
  reader.progress.progress_monitor = on_progress;
  reader.info.progress = &reader.progress;
  jpeg_save_markers(&reader.info, JPEG_APP0 + 1, 0xffff);
  jpeg_mem_src(&reader.info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&reader.info, TRUE);
  return true;
}

// Rows of `pixels`; four-color rows go through `cmyk_row`, which is null for the others.
bool read_rows(Reader& reader, uint8_t* pixels, size_t row_bytes, uint8_t* cmyk_row, Color color) {
  if (setjmp(reader.escape) != 0) return false;
  jpeg_start_decompress(&reader.info);
  while (reader.info.output_scanline < reader.info.output_height) {
    uint8_t* const to = pixels + reader.info.output_scanline * row_bytes;
    JSAMPROW row = cmyk_row != nullptr ? cmyk_row : to;
    jpeg_read_scanlines(&reader.info, &row, 1);
    if (cmyk_row == nullptr) continue;
    // Adobe's inverted inks: 255 is none. The product is OpenCV's, so that white is 255 and
    // rounding agrees.
    const auto mix = [](int ink, int black) { return black - (((255 - ink) * black) >> 8); };
    for (size_t x = 0; x < reader.info.output_width; ++x) {
      const uint8_t* const inks = cmyk_row + 4 * x;
      const int red = mix(inks[0], inks[3]);
      const int green = mix(inks[1], inks[3]);
      const int blue = mix(inks[2], inks[3]);
      if (color == Color::kGrey) {
        to[x] = luma(red, green, blue);
      } else {
        to[3 * x] = static_cast<uint8_t>(red);
        to[3 * x + 1] = static_cast<uint8_t>(green);
        to[3 * x + 2] = static_cast<uint8_t>(blue);
      }
    }
  }
  return true;
}

int orientation_of(const jpeg_decompress_struct& info) {
  constexpr char kExif[6] = {'E', 'x', 'i', 'f', 0, 0};
  for (auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    if (marker->data_length < sizeof kExif) continue;
    if (std::memcmp(marker->data, kExif, sizeof kExif) != 0) continue;
    return exif_orientation({marker->data + sizeof kExif, marker->data_length - sizeof kExif});
  }
  return 1;
}

Result<Decoded> decode(Reader& reader, ByteSpan file, Color color) {
  if (!read_header(reader, file)) {
    return invalid_argument(str("damaged JPEG: ", reader.message));
  }
  Decoded out;
  out.orientation = orientation_of(reader.info);
  RK_ASSIGN(out.picture, make_picture(reader.info.image_width, reader.info.image_height, color));
  const bool is_cmyk = reader.info.num_components == 4;
  reader.info.out_color_space = is_cmyk                 ? JCS_CMYK
                                : color == Color::kGrey ? JCS_GRAYSCALE
                                                        : JCS_RGB;
  std::vector<uint8_t> cmyk_row(is_cmyk ? size_t{4} * reader.info.image_width : 0);
  const auto row_bytes =
      static_cast<size_t>(out.picture.width) * static_cast<size_t>(out.picture.channels);
  if (!read_rows(reader, out.picture.pixels.data(), row_bytes, is_cmyk ? cmyk_row.data() : nullptr,
                 color)) {
    return invalid_argument(str("damaged JPEG: ", reader.message));
  }
  return out;
}

}  // namespace

Result<Decoded> decode_jpeg(ByteSpan file, Color color) {
  Reader reader;
  auto out = decode(reader, file, color);
  jpeg_destroy_decompress(&reader.info);
  return out;
}

}  // namespace rk::media
