// SPDX-License-Identifier: Apache-2.0
// What the nodes that stand for a small graph share.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "format/vendor/lift_context.h"

namespace rk::format {

Shape permuted(const Shape& shape, const std::vector<int64_t>& perm);
int32_t add_transpose(LiftContext& context, int32_t in, const std::vector<int64_t>& perm,
                      const std::string& name);
Status check_rank4(LiftContext& context, std::initializer_list<int32_t> tensors);

}  // namespace rk::format
