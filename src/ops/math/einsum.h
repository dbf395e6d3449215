// SPDX-License-Identifier: Apache-2.0
// What an Einsum equation says about its operands.
#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"
#include "ops/shared/shape_util.h"

namespace rk::ops {

// Letters stand for themselves; the axes of an ellipsis are labelled from the last one on.
using EinsumLabel = int;

struct EinsumPlan {
  std::vector<std::vector<EinsumLabel>> operands;  // a label for each axis
  std::vector<EinsumLabel> output;
  std::map<EinsumLabel, int64_t> extents;
};

// Of a node whose equation was checked by inference it cannot fail.
Result<EinsumPlan> einsum_plan(const Node& node);

// Elements from one value of an index to the next in an operand: 0 where it lacks the index or broadcasts it. A repeated
// letter adds up, which walks the diagonal.
int64_t einsum_stride(const EinsumPlan& plan, size_t operand, const Shape& shape,
                      EinsumLabel label);

}  // namespace rk::ops
