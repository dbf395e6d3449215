// SPDX-License-Identifier: Apache-2.0
// From the outputs of an SSD-style face detector (UltraFace) to boxes: priors, variances, suppression.
#pragma once

#include <cmath>
#include <vector>

#include "utils/boxes.h"

namespace face {

using examples::Found;

inline constexpr float kScore = 0.6f, kOverlap = 0.35f;
inline constexpr float kCenterVariance = 0.1f, kSizeVariance = 0.2f;
inline constexpr char kBars = 127;  // the mean: bars are zeros for the network

struct Scale {
  int stride;
  std::vector<float> boxes;  // sides in pixels
};

inline const std::vector<Scale> kScales = {
    {8, {10, 16, 24}}, {16, {32, 48}}, {32, {64, 96}}, {64, {128, 192, 256}}};

// Best first. Empty where the arrays are not of this network.
inline std::vector<Found> decode(const std::vector<float>& scores, const std::vector<float>& boxes,
                                 int width, int height) {
  std::vector<Found> found;
  size_t prior = 0;
  for (const Scale& scale : kScales) {
    const int columns = (width + scale.stride - 1) / scale.stride,
              rows = (height + scale.stride - 1) / scale.stride;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        for (const float side : scale.boxes) {
          const size_t i = prior++;
          if ((i + 1) * 4 > boxes.size() || (i + 1) * 2 > scores.size()) return {};
          const float score = scores[i * 2 + 1];
          if (score <= kScore) continue;
          const float* const b = &boxes[i * 4];
          const float cx = (static_cast<float>(x) + 0.5f) * static_cast<float>(scale.stride) +
                           b[0] * kCenterVariance * side;
          const float cy = (static_cast<float>(y) + 0.5f) * static_cast<float>(scale.stride) +
                           b[1] * kCenterVariance * side;
          const float w = side * std::exp(b[2] * kSizeVariance),
                      h = side * std::exp(b[3] * kSizeVariance);
          found.push_back({cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2, score, 0});
        }
      }
    }
  }
  if (prior * 2 != scores.size()) return {};  // another network
  return examples::suppress(found, kOverlap);
}

}  // namespace face
