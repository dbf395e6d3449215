// SPDX-License-Identifier: Apache-2.0
// What a Slice keeps of each axis.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace rk::passes {

struct Cut {
  int64_t start = 0, count = 0, step = 1;
};

// Per axis of the input what is kept; nothing where a position is computed or a step is negative.
std::optional<std::vector<Cut>> cuts_of(const Node& slice);

}  // namespace rk::passes
