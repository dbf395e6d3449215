// SPDX-License-Identifier: Apache-2.0
#include "rga/pixels.h"

#include <algorithm>

#include "rga.h"

namespace rk::rga {
namespace {

constexpr Format kFormats[] = {
    {RK_FORMAT_RGBA_8888, Kind::kRgb, "RGBA8888", 4, 0, 1, 2, 3, 1, 1, false},
    {RK_FORMAT_RGBX_8888, Kind::kRgb, "RGBX8888", 4, 0, 1, 2, -1, 1, 1, false},
    {RK_FORMAT_RGB_888, Kind::kRgb, "RGB888", 3, 0, 1, 2, -1, 1, 1, false},
    {RK_FORMAT_BGRA_8888, Kind::kRgb, "BGRA8888", 4, 2, 1, 0, 3, 1, 1, false},
    {RK_FORMAT_BGRX_8888, Kind::kRgb, "BGRX8888", 4, 2, 1, 0, -1, 1, 1, false},
    {RK_FORMAT_BGR_888, Kind::kRgb, "BGR888", 3, 2, 1, 0, -1, 1, 1, false},
    {RK_FORMAT_ARGB_8888, Kind::kRgb, "ARGB8888", 4, 1, 2, 3, 0, 1, 1, false},
    {RK_FORMAT_XRGB_8888, Kind::kRgb, "XRGB8888", 4, 1, 2, 3, -1, 1, 1, false},
    {RK_FORMAT_ABGR_8888, Kind::kRgb, "ABGR8888", 4, 3, 2, 1, 0, 1, 1, false},
    {RK_FORMAT_XBGR_8888, Kind::kRgb, "XBGR8888", 4, 3, 2, 1, -1, 1, 1, false},
    {RK_FORMAT_RGB_565, Kind::kRgb565, "RGB565", 2, 0, 0, 0, -1, 1, 1, false},
    {RK_FORMAT_YCbCr_400, Kind::kGray, "YCbCr_400", 1, 0, 0, 0, -1, 1, 1, false},
    {RK_FORMAT_YCbCr_420_SP, Kind::kSemiPlanar, "YCbCr_420_SP", 1, 0, 0, 0, -1, 2, 2, false},
    {RK_FORMAT_YCrCb_420_SP, Kind::kSemiPlanar, "YCrCb_420_SP", 1, 0, 0, 0, -1, 2, 2, true},
    {RK_FORMAT_YCbCr_422_SP, Kind::kSemiPlanar, "YCbCr_422_SP", 1, 0, 0, 0, -1, 2, 1, false},
    {RK_FORMAT_YCrCb_422_SP, Kind::kSemiPlanar, "YCrCb_422_SP", 1, 0, 0, 0, -1, 2, 1, true},
    {RK_FORMAT_YCbCr_420_P, Kind::kPlanar, "YCbCr_420_P", 1, 0, 0, 0, -1, 2, 2, false},
    {RK_FORMAT_YCrCb_420_P, Kind::kPlanar, "YCrCb_420_P", 1, 0, 0, 0, -1, 2, 2, true},
    {RK_FORMAT_YCbCr_422_P, Kind::kPlanar, "YCbCr_422_P", 1, 0, 0, 0, -1, 2, 1, false},
    {RK_FORMAT_YCrCb_422_P, Kind::kPlanar, "YCrCb_422_P", 1, 0, 0, 0, -1, 2, 1, true},
    {RK_FORMAT_YUYV_422, Kind::kPacked422, "YUYV_422", 2, 0, 1, 3, -1, 2, 1, false},
    {RK_FORMAT_YVYU_422, Kind::kPacked422, "YVYU_422", 2, 0, 3, 1, -1, 2, 1, false},
    {RK_FORMAT_UYVY_422, Kind::kPacked422, "UYVY_422", 2, 1, 0, 2, -1, 2, 1, false},
    {RK_FORMAT_VYUY_422, Kind::kPacked422, "VYUY_422", 2, 1, 2, 0, -1, 2, 1, false},
};

// floor(a / b + 1/2), clamped to a byte; b > 0.
int rounded(int64_t a, int64_t b) {
  const int64_t n = 2 * a + b, d = 2 * b;
  return static_cast<int>(std::clamp<int64_t>(n >= 0 ? n / d : -((-n + d - 1) / d), 0, 255));
}

}  // namespace

const Format* find_format(int value) {
  for (const Format& format : kFormats) {
    if (format.value == value) return &format;
  }
  return nullptr;
}

uint64_t View::size_bytes(const Format& format, int wstride, int hstride) {
  const uint64_t luma = static_cast<uint64_t>(wstride) * static_cast<uint64_t>(hstride) *
                        static_cast<uint64_t>(format.bytes);
  if (format.kind != Kind::kSemiPlanar && format.kind != Kind::kPlanar) return luma;
  return luma + 2 * (luma / static_cast<uint64_t>(format.sub_x * format.sub_y));
}

uint8_t* View::chroma(int x, int y, bool cr) const {
  const auto stride = static_cast<size_t>(wstride);
  uint8_t* const planes = data + stride * static_cast<size_t>(hstride);
  const auto column = static_cast<size_t>(x / format->sub_x);
  const auto row = static_cast<size_t>(y / format->sub_y);
  const bool second = cr != format->cr_first;
  if (format->kind == Kind::kSemiPlanar)
    return planes + row * stride + 2 * column + (second ? 1 : 0);
  const size_t half = stride / 2;
  const size_t plane = half * static_cast<size_t>(hstride / format->sub_y);
  return planes + (second ? plane : 0) + row * half + column;
}

Pixel View::get(int x, int y) const {
  const uint8_t* const at =
      data + (static_cast<size_t>(y) * static_cast<size_t>(wstride) + static_cast<size_t>(x)) *
                 static_cast<size_t>(format->bytes);
  switch (format->kind) {
    case Kind::kRgb:
      return {at[format->r], at[format->g], at[format->b], format->a < 0 ? 255 : at[format->a]};
    case Kind::kRgb565: {
      // Red in the upper bits of a little-endian word; the upper bits are repeated below.
      const int word = at[0] | at[1] << 8, r = word >> 11, g = word >> 5 & 63, b = word & 31;
      return {r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2, 255};
    }
    case Kind::kGray:
      return {at[0], 128, 128, 255};
    case Kind::kSemiPlanar:
    case Kind::kPlanar:
      return {at[0], *chroma(x, y, false), *chroma(x, y, true), 255};
    case Kind::kPacked422: {
      const uint8_t* const pair = at - (x % 2) * 2;
      return {pair[format->r + (x % 2) * 2], pair[format->g], pair[format->b], 255};
    }
  }
  return {};
}

void View::put(int x, int y, const Pixel& pixel) const {
  uint8_t* const at =
      data + (static_cast<size_t>(y) * static_cast<size_t>(wstride) + static_cast<size_t>(x)) *
                 static_cast<size_t>(format->bytes);
  const auto byte = [](int value) { return static_cast<uint8_t>(value); };
  switch (format->kind) {
    case Kind::kRgb:
      at[format->r] = byte(pixel[0]);
      at[format->g] = byte(pixel[1]);
      at[format->b] = byte(pixel[2]);
      if (format->a >= 0) at[format->a] = byte(pixel[3]);
      // The byte that is not used.
      if (format->a < 0 && format->bytes == 4) at[6 - format->r - format->g - format->b] = 255;
      return;
    case Kind::kRgb565: {
      const int word = (pixel[0] >> 3) << 11 | (pixel[1] >> 2) << 5 | pixel[2] >> 3;
      at[0] = byte(word & 255);
      at[1] = byte(word >> 8);
      return;
    }
    case Kind::kGray:
    case Kind::kSemiPlanar:
    case Kind::kPlanar:
      at[0] = byte(pixel[0]);
      return;
    case Kind::kPacked422:
      (at - (x % 2) * 2)[format->r + (x % 2) * 2] = byte(pixel[0]);
      return;
  }
}

void View::put_chroma(int x, int y, int cb, int cr) const {
  if (format->kind == Kind::kPacked422) {
    uint8_t* const pair =
        data + (static_cast<size_t>(y) * static_cast<size_t>(wstride) + static_cast<size_t>(x)) * 2;
    pair[format->g] = static_cast<uint8_t>(cb);
    pair[format->b] = static_cast<uint8_t>(cr);
  } else if (format->kind != Kind::kGray) {
    *chroma(x, y, false) = static_cast<uint8_t>(cb);
    *chroma(x, y, true) = static_cast<uint8_t>(cr);
  }
}

Pixel to_yuv(const Pixel& rgb, const Matrix& m) {
  const int64_t unit = m.unit, kg = unit - m.kr - m.kb;
  const int64_t y = m.kr * int64_t{rgb[0]} + kg * rgb[1] + m.kb * int64_t{rgb[2]};  // times unit
  // Limited: 219 steps above 16 for luma, 224 around 128 for chroma.
  const int64_t luma = m.full ? 255 : 219, chroma = m.full ? 255 : 224, black = m.full ? 0 : 16;
  const auto difference = [&](int color, int64_t weight) {
    return rounded((color * unit - y) * chroma + 128 * 255 * 2 * (unit - weight),
                   255 * 2 * (unit - weight));
  };
  return {rounded(y * luma + black * 255 * unit, 255 * unit), difference(rgb[2], m.kb),
          difference(rgb[0], m.kr), rgb[3]};
}

Pixel to_rgb(const Pixel& yuv, const Matrix& m) {
  const int64_t unit = m.unit, kg = unit - m.kr - m.kb;
  const int64_t luma = m.full ? 255 : 219, chroma = m.full ? 255 : 224, black = m.full ? 0 : 16;
  const int64_t y = 255 * (yuv[0] - black), cb = 255 * (yuv[1] - 128), cr = 255 * (yuv[2] - 128);
  // Y / luma + factor * C / chroma, all over luma * chroma * unit (and kg for green).
  const int64_t red = y * chroma * unit + cr * luma * 2 * (unit - m.kr);
  const int64_t blue = y * chroma * unit + cb * luma * 2 * (unit - m.kb);
  const int64_t green = y * chroma * unit * kg - cb * luma * 2 * m.kb * (unit - m.kb) -
                        cr * luma * 2 * m.kr * (unit - m.kr);
  return {rounded(red, luma * chroma * unit), rounded(green, luma * chroma * unit * kg),
          rounded(blue, luma * chroma * unit), yuv[3]};
}

}  // namespace rk::rga
