// SPDX-License-Identifier: Apache-2.0
#include "utils/image_utils.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "im2d.h"
#include "media/picture.h"

namespace {

int fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return -1;
}

int rga_format(image_format_t format) {
  switch (format) {
    case IMAGE_FORMAT_GRAY8:
      return RK_FORMAT_YCbCr_400;
    case IMAGE_FORMAT_RGB888:
      return RK_FORMAT_RGB_888;
    case IMAGE_FORMAT_RGBA8888:
      return RK_FORMAT_RGBA_8888;
    case IMAGE_FORMAT_YUV420SP_NV21:
      return RK_FORMAT_YCrCb_420_SP;
    case IMAGE_FORMAT_YUV420SP_NV12:
      return RK_FORMAT_YCbCr_420_SP;
  }
  return RK_FORMAT_UNKNOWN;
}

rga_buffer_t wrap_memory(const image_buffer_t& image) {
  const int w = image.width_stride > 0 ? image.width_stride : image.width;
  const int h = image.height_stride > 0 ? image.height_stride : image.height;
  if (image.virt_addr == nullptr)
    return wrapbuffer_fd(image.fd > 0 ? image.fd : -1, image.width, image.height,
                         rga_format(image.format), w, h);
  return wrapbuffer_virtualaddr(image.virt_addr, image.width, image.height,
                                rga_format(image.format), w, h);
}

rga_buffer_t wrap(const image_buffer_t& image) {
  rga_buffer_t out = wrap_memory(image);
  // Gray uses all of 0..255; video has 16..235.
  if (image.format == IMAGE_FORMAT_GRAY8)
    out.color_space_mode = IM_RGB_TO_YUV_BT601_FULL | IM_YUV_TO_RGB_BT601_FULL;
  return out;
}

im_rect rect_of(const image_rect_t* box) {
  if (box == nullptr) return {0, 0, 0, 0};
  return {box->left, box->top, box->right - box->left + 1, box->bottom - box->top + 1};
}

// P6 with 8 bits; false: another kind of file.
bool read_ppm(const char* path, image_buffer_t* image) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  int w = 0, h = 0, limit = 0;
  bool ok = std::fscanf(file, "P6 %d %d %d", &w, &h, &limit) == 3 && limit == 255 && w > 0 &&
            h > 0 && w <= 8192 && h <= 8192 && std::fgetc(file) != EOF;
  if (ok) {
    const size_t size = static_cast<size_t>(w) * static_cast<size_t>(h) * 3;
    auto* const pixels = static_cast<unsigned char*>(std::malloc(size));
    ok = pixels != nullptr && std::fread(pixels, 1, size, file) == size;
    if (ok) {
      *image = {w, h, 0, 0, IMAGE_FORMAT_RGB888, pixels, static_cast<int>(size), 0};
    } else {
      std::free(pixels);
    }
  }
  std::fclose(file);
  return ok;
}

bool ends_with(const std::string& text, const char* end) {
  const size_t size = std::strlen(end);
  return text.size() >= size && text.compare(text.size() - size, size, end) == 0;
}

}  // namespace

int read_image(const char* path, image_buffer_t* image) {
  if (path == nullptr || image == nullptr) return fail("read_image: NULL");
  if (read_ppm(path, image)) return 0;
  const auto picture = rk::media::read_picture(path, rk::media::Color::kRgb);
  if (!picture.ok()) return fail(picture.status().message());
  auto* const pixels = static_cast<unsigned char*>(std::malloc(picture->pixels.size()));
  if (pixels == nullptr) return fail("read_image: out of memory");
  std::memcpy(pixels, picture->pixels.data(), picture->pixels.size());
  *image = {picture->width,
            picture->height,
            0,
            0,
            IMAGE_FORMAT_RGB888,
            pixels,
            static_cast<int>(picture->pixels.size()),
            0};
  return 0;
}

int write_image(const char* path, const image_buffer_t* image) {
  if (path == nullptr || image == nullptr || image->virt_addr == nullptr)
    return fail("write_image: NULL");
  if (image->format != IMAGE_FORMAT_RGB888 && image->format != IMAGE_FORMAT_GRAY8)
    return fail("write_image: RGB888 and GRAY8 can be written; convert_image() converts");
  rk::media::Picture picture;
  picture.width = image->width;
  picture.height = image->height;
  picture.channels = image->format == IMAGE_FORMAT_RGB888 ? 3 : 1;
  const size_t line = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.channels);
  const size_t stride = static_cast<size_t>(std::max(image->width_stride, image->width)) *
                        static_cast<size_t>(picture.channels);
  for (int y = 0; y < image->height; ++y) {
    const unsigned char* const row = image->virt_addr + static_cast<size_t>(y) * stride;
    picture.pixels.insert(picture.pixels.end(), row, row + line);
  }
  if (ends_with(path, ".ppm") && picture.channels == 3) {
    std::ofstream file(path, std::ios::binary);
    file << "P6\n" << picture.width << " " << picture.height << "\n255\n";
    file.write(reinterpret_cast<const char*>(picture.pixels.data()),
               static_cast<std::streamsize>(picture.pixels.size()));
    return file.good() ? 0 : fail(std::string("cannot write '") + path + "'");
  }
  if (!ends_with(path, ".png")) return fail("write_image: the name must end in .png or .ppm");
  const auto status = rk::media::write_png(path, picture);
  return status.ok() ? 0 : fail(status.message());
}

int get_image_size(const image_buffer_t* image) {
  if (image == nullptr) return 0;
  const int pixels = image->width * image->height;
  switch (image->format) {
    case IMAGE_FORMAT_GRAY8:
      return pixels;
    case IMAGE_FORMAT_RGB888:
      return pixels * 3;
    case IMAGE_FORMAT_RGBA8888:
      return pixels * 4;
    default:
      return pixels * 3 / 2;
  }
}

int convert_image(image_buffer_t* src, image_buffer_t* dst, image_rect_t* src_box,
                  image_rect_t* dst_box, char color) {
  if (src == nullptr || dst == nullptr) return fail("convert_image: NULL");
  const rga_buffer_t to = wrap(*dst);
  if (dst_box != nullptr) {
    const unsigned gray = static_cast<unsigned char>(color);
    const int value = static_cast<int>(0xff000000u | gray << 16 | gray << 8 | gray);
    if (const IM_STATUS s = imfill(to, {0, 0, 0, 0}, value); s != IM_STATUS_SUCCESS)
      return fail(std::string("convert_image: ") + imStrError(s));
  }
  const IM_STATUS s = improcess(wrap(*src), to, rga_buffer_t{}, rect_of(src_box), rect_of(dst_box),
                                im_rect{}, IM_SYNC);
  return s == IM_STATUS_SUCCESS ? 0 : fail(std::string("convert_image: ") + imStrError(s));
}

int convert_image_with_letterbox(image_buffer_t* src, image_buffer_t* dst, letterbox_t* letterbox,
                                 char color) {
  if (src == nullptr || dst == nullptr || letterbox == nullptr || src->width <= 0 ||
      src->height <= 0 || dst->width <= 0 || dst->height <= 0)
    return fail("convert_image_with_letterbox: a picture without size");
  const float scale = std::min(static_cast<float>(dst->width) / static_cast<float>(src->width),
                               static_cast<float>(dst->height) / static_cast<float>(src->height));
  const auto scaled = [&](int side, int most) {
    return std::clamp(static_cast<int>(std::lround(static_cast<float>(side) * scale)), 1, most);
  };
  const int w = scaled(src->width, dst->width), h = scaled(src->height, dst->height);
  *letterbox = {(dst->width - w) / 2, (dst->height - h) / 2, scale};
  if (dst->virt_addr == nullptr && dst->fd <= 0) {
    dst->size = get_image_size(dst);
    dst->virt_addr = static_cast<unsigned char*>(std::malloc(static_cast<size_t>(dst->size)));
    if (dst->virt_addr == nullptr) return fail("convert_image_with_letterbox: out of memory");
  }
  image_rect_t box = {letterbox->x_pad, letterbox->y_pad, letterbox->x_pad + w - 1,
                      letterbox->y_pad + h - 1};
  return convert_image(src, dst, nullptr, &box, color);
}
