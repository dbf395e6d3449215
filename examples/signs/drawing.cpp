// SPDX-License-Identifier: Apache-2.0
// Plain pixel work; the font holds only the letters of the class names, digits and a point.
#include "signs/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace signs {
namespace {

using rk::media::Picture;
using Color = std::array<uint8_t, 3>;

constexpr std::array<Color, kClassCount> kColors = {{{255, 64, 64},
                                                     {64, 200, 64},
                                                     {80, 128, 255},
                                                     {255, 200, 0},
                                                     {255, 0, 255},
                                                     {0, 220, 220},
                                                     {255, 128, 0},
                                                     {160, 96, 255}}};

constexpr int kGlyphWidth = 5, kGlyphHeight = 7, kTextMargin = 1;

struct Glyph {
  char letter;
  std::array<uint8_t, kGlyphHeight> rows;  // bit 4 is the leftmost pixel
};

constexpr std::array<Glyph, 28> kFont = {{
    {'a', {0x00, 0x00, 0x0E, 0x01, 0x0F, 0x11, 0x0F}},
    {'c', {0x00, 0x00, 0x0E, 0x10, 0x10, 0x11, 0x0E}},
    {'e', {0x00, 0x00, 0x0E, 0x11, 0x1F, 0x10, 0x0E}},
    {'g', {0x00, 0x0F, 0x11, 0x11, 0x0F, 0x01, 0x0E}},
    {'h', {0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x11}},
    {'i', {0x04, 0x00, 0x0C, 0x04, 0x04, 0x04, 0x0E}},
    {'l', {0x0C, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E}},
    {'n', {0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x11}},
    {'o', {0x00, 0x00, 0x0E, 0x11, 0x11, 0x11, 0x0E}},
    {'p', {0x00, 0x00, 0x1E, 0x11, 0x1E, 0x10, 0x10}},
    {'q', {0x00, 0x00, 0x0D, 0x13, 0x0F, 0x01, 0x01}},
    {'r', {0x00, 0x00, 0x16, 0x19, 0x10, 0x10, 0x10}},
    {'s', {0x00, 0x00, 0x0E, 0x10, 0x0E, 0x01, 0x1E}},
    {'t', {0x08, 0x08, 0x1C, 0x08, 0x08, 0x09, 0x06}},
    {'u', {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0D}},
    {'w', {0x00, 0x00, 0x11, 0x11, 0x15, 0x15, 0x0A}},
    {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0C, 0x0C}},
    {' ', {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00}},
    {'0', {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E}},
    {'1', {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E}},
    {'2', {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F}},
    {'3', {0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E}},
    {'4', {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02}},
    {'5', {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E}},
    {'6', {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E}},
    {'7', {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
    {'8', {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E}},
    {'9', {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C}},
}};

struct Rect {  // pixels, right and bottom exclusive
  int left, top, right, bottom;
};

void fill(Picture& picture, const Rect& rect, const Color& color) {
  for (int y = std::max(rect.top, 0); y < std::min(rect.bottom, picture.height); ++y) {
    for (int x = std::max(rect.left, 0); x < std::min(rect.right, picture.width); ++x) {
      const auto at = static_cast<size_t>((y * picture.width + x) * picture.channels);
      std::copy(color.begin(), color.end(), picture.pixels.begin() + static_cast<int64_t>(at));
    }
  }
}

void write_text(Picture& picture, int left, int top, std::string_view text, const Color& color) {
  for (const char letter : text) {
    const auto glyph = std::ranges::find(kFont, letter, &Glyph::letter);
    for (int y = 0; glyph != kFont.end() && y < kGlyphHeight; ++y) {
      for (int x = 0; x < kGlyphWidth; ++x) {
        const bool set = ((glyph->rows[static_cast<size_t>(y)] >> (kGlyphWidth - 1 - x)) & 1) != 0;
        if (set) fill(picture, {left + x, top + y, left + x + 1, top + y + 1}, color);
      }
    }
    left += kGlyphWidth + 1;
  }
}

void draw_one(Picture& picture, const Detection& detection) {
  const Color& color = kColors[static_cast<size_t>(detection.cls)];
  const Box& box = detection.box;
  const auto pixel = [](float at, int size) {  // boxes may lie anywhere: keep them near the picture
    return static_cast<int>(std::lround(std::clamp(at, -2.0f, static_cast<float>(size) + 2.0f)));
  };
  const Rect outer = {
      pixel(box.cx - box.w / 2, picture.width), pixel(box.cy - box.h / 2, picture.height),
      pixel(box.cx + box.w / 2, picture.width), pixel(box.cy + box.h / 2, picture.height)};
  constexpr int kLine = 2;
  fill(picture, {outer.left, outer.top, outer.right, outer.top + kLine}, color);
  fill(picture, {outer.left, outer.bottom - kLine, outer.right, outer.bottom}, color);
  fill(picture, {outer.left, outer.top, outer.left + kLine, outer.bottom}, color);
  fill(picture, {outer.right - kLine, outer.top, outer.right, outer.bottom}, color);

  char text[32];
  std::snprintf(text, sizeof text, "%s %.2f", class_name(detection.cls).data(), detection.score);
  const int width = static_cast<int>(std::strlen(text)) * (kGlyphWidth + 1) - 1 + 2 * kTextMargin;
  const int height = kGlyphHeight + 2 * kTextMargin;
  // Above the box; inside it where there is no room; never beyond the right border.
  const int top = outer.top >= height ? outer.top - height : std::max(outer.top, 0);
  const int left = std::clamp(outer.left, 0, std::max(picture.width - width, 0));
  fill(picture, {left, top, left + width, top + height}, color);
  write_text(picture, left + kTextMargin, top + kTextMargin, text, {0, 0, 0});
}

}  // namespace

void draw_detections(Picture& picture, std::span<const Detection> detections, float min_score) {
  for (const Detection& detection : detections) {
    if (detection.score >= min_score) draw_one(picture, detection);
  }
}

Picture mosaic(std::span<const Picture> pictures, int columns) {
  const int count = static_cast<int>(pictures.size());
  if (count == 0 || columns < 1) return {};
  const Picture& first = pictures.front();
  const int rows = (count + columns - 1) / columns;
  Picture out{first.width * columns, first.height * rows, first.channels, {}};
  const auto row_bytes = static_cast<int64_t>(first.width) * first.channels;
  out.pixels.resize(static_cast<size_t>(row_bytes * columns * out.height));
  for (int i = 0; i < count; ++i) {
    const Picture& picture = pictures[static_cast<size_t>(i)];
    for (int y = 0; y < first.height; ++y) {
      const int64_t row = int64_t{i / columns} * first.height + y;
      std::copy_n(picture.pixels.begin() + y * row_bytes, row_bytes,
                  out.pixels.begin() + (row * columns + i % columns) * row_bytes);
    }
  }
  return out;
}

}  // namespace signs
