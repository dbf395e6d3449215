// SPDX-License-Identifier: Apache-2.0
// Boxes as detection programs print them, and suppression of those that overlap.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "utils/image_utils.h"

namespace examples {

struct Found {
  float left = 0, top = 0, right = 0, bottom = 0, score = 0;
  int cls = 0;
};

inline float overlap(const Found& a, const Found& b) {
  const float w = std::max(0.0f, std::min(a.right, b.right) - std::max(a.left, b.left));
  const float h = std::max(0.0f, std::min(a.bottom, b.bottom) - std::max(a.top, b.top));
  const float either =
      (a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - w * h;
  return either > 0 ? w * h / either : 0;
}

// Best first; of two boxes of one class that overlap more than `limit`, the weaker goes.
inline std::vector<Found> suppress(std::vector<Found> all, float limit) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Found& a, const Found& b) { return a.score > b.score; });
  std::vector<Found> kept;
  for (const Found& candidate : all) {
    if (std::none_of(kept.begin(), kept.end(), [&](const Found& better) {
          return better.cls == candidate.cls && overlap(better, candidate) > limit;
        }))
      kept.push_back(candidate);
  }
  return kept;
}

// From the letterbox back to the picture.
inline Found in_picture(Found box, const letterbox_t& letterbox, int width, int height) {
  const auto back = [&](float at, int pad, int most) {
    return std::clamp((at - static_cast<float>(pad)) / letterbox.scale, 0.0f,
                      static_cast<float>(most));
  };
  box.left = back(box.left, letterbox.x_pad, width);
  box.right = back(box.right, letterbox.x_pad, width);
  box.top = back(box.top, letterbox.y_pad, height);
  box.bottom = back(box.bottom, letterbox.y_pad, height);
  return box;
}

inline void print_table_head() {
  std::printf(
      "class   score  xmin, ymin, xmax, ymax\n-------------------------------------------------\n");
}
inline void print_table_row(const std::string& name, const Found& box) {
  std::printf("%-7s %.3f [%4d, %4d, %4d, %4d]\n", name.c_str(), box.score,
              static_cast<int>(box.left), static_cast<int>(box.top), static_cast<int>(box.right),
              static_cast<int>(box.bottom));
}

}  // namespace examples
