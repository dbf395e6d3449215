// SPDX-License-Identifier: Apache-2.0
// dynamic_input of config(): one network at several sets of input shapes, in one file with one set of weights and one
// set of quantization parameters.
//
// Note: the largest set (MaxShape) comes first in the Program, whatever its place in the list.
// Calibration runs on it, and queries answer for it until the application chooses another.
#pragma once

#include <string>
#include <vector>

#include "toolkit/rknn_toolkit.h"

namespace rk::toolkit {

inline constexpr size_t kMaxShapeSets = 512;

// Counts, extents, and that every set has as many shapes as the first.
Status check_dynamic_input(const std::vector<ShapeSet>& sets);

// The set with the largest sum over its inputs of the product of extents; the first of equals.
size_t max_shape(const std::vector<ShapeSet>& sets);

std::string to_string(const ShapeSet& set);

// The sets with the largest in front.
std::vector<ShapeSet> max_shape_first(std::vector<ShapeSet> sets);

}  // namespace rk::toolkit
