// SPDX-License-Identifier: Apache-2.0
// Pixel formats as data, and pictures read and written pixel by pixel. The slow obvious way: it stands in for a 2D engine
// in tests on a PC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rk::rga {

// Red, green, blue and alpha, or Y, Cb, Cr and alpha.
using Pixel = std::array<int, 4>;

enum class Kind { kRgb, kRgb565, kGray, kSemiPlanar, kPlanar, kPacked422 };

struct Format {
  int value;
  Kind kind;
  const char* name;
  int bytes;         // of a pixel; of a luma sample where there are planes
  int r, g, b, a;    // byte of each component in a pixel; -1: none. 422 packed: first Y, Cb, Cr
  int sub_x, sub_y;  // pixels of a chroma sample, across and down
  bool cr_first;     // of the chroma planes
  bool yuv() const { return kind != Kind::kRgb && kind != Kind::kRgb565; }
};

// Null: not known.
const Format* find_format(int value);

// A picture within memory that was checked before.
struct View {
  const Format* format = nullptr;
  uint8_t* data = nullptr;
  int width = 0, height = 0, wstride = 0, hstride = 0;

  Pixel get(int x, int y) const;
  // Chroma of subsampled formats is left alone.
  void put(int x, int y, const Pixel& pixel) const;
  // The chroma sample of the block that begins at these coordinates (multiples of sub_x, sub_y).
  void put_chroma(int x, int y, int cb, int cr) const;
  // Bytes from `data` to the end of the last plane.
  static uint64_t size_bytes(const Format& format, int wstride, int hstride);

 private:
  uint8_t* chroma(int x, int y, bool cr) const;
};

// BT.601 or BT.709, limited or full range; exact rational arithmetic, rounded half up, clamped to 0..255.
struct Matrix {
  int kr, kb, unit;  // 299, 114, 1000
  bool full;
};
Pixel to_yuv(const Pixel& rgb, const Matrix& matrix);
Pixel to_rgb(const Pixel& yuv, const Matrix& matrix);

}  // namespace rk::rga
