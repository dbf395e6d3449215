// SPDX-License-Identifier: Apache-2.0
// Boxes with their class and score on an RGB picture, and several pictures in one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "media/picture.h"
#include "signs/detection.h"

namespace signs {

// Every detection of at least min_score. What lies beyond the border is cut off.
void draw_detections(rk::media::Picture& picture, std::span<const Detection> detections,
                     float min_score);

// RGB pictures of one size side by side, row by row.
rk::media::Picture mosaic(std::span<const rk::media::Picture> pictures, int columns);

}  // namespace signs
