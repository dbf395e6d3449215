// SPDX-License-Identifier: Apache-2.0
// Typed attributes of Resize, resolved against the node's shapes: one entry per axis of x, with the
// scale the coordinates are computed with (which is not always output / input, see
// keep_aspect_ratio_policy).
#pragma once

#include "ops/shared/shape_util.h"

namespace rk::ops {

enum class ResizeMode { kNearest, kLinear, kCubic };
enum class ResizeCoordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
};
enum class ResizeRounding { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResizeAxis {
  int64_t in = 1;
  int64_t out = 1;
  double scale = 1;
  double roi_begin = 0;  // only for kTfCropAndResize, as fractions of the extent
  double roi_end = 1;
};

struct ResizeAttrs {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeRounding rounding = ResizeRounding::kRoundPreferFloor;
  double cubic_a = -0.75;
  bool antialias = false;
  bool exclude_outside = false;
  double extrapolation_value = 0;
  std::vector<ResizeAxis> axes;
};

Result<ResizeAttrs> resolve_resize(const Node& node);  // for infer
ResizeAttrs resize_attrs(const Node& node);            // for a node of a graph

// Where output index `i` lies on the input axis, in elements; may be outside.
double resize_coordinate(const ResizeAttrs& attrs, const ResizeAxis& axis, int64_t i);
// The element nearest mode takes, clamped to the axis.
int64_t resize_nearest_index(const ResizeAttrs& attrs, const ResizeAxis& axis, int64_t i);

}  // namespace rk::ops
