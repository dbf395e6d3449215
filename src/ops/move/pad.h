// SPDX-License-Identifier: Apache-2.0
// Where the elements of a Pad's result come from.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace rk::ops {

inline constexpr int64_t kPadValue = -1;  // no element of x: the constant

// Per axis and index of the result the index into x. Pads (and axes, if any) of the node must be constants.
Result<std::vector<std::vector<int64_t>>> pad_sources(const Node& node);

}  // namespace rk::ops
