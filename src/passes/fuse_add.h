// SPDX-License-Identifier: Apache-2.0
// Conv + Add as far as the chip computes both in one step.
#pragma once

#include "ir/pass.h"
#include "target/target.h"

namespace rk::passes {

Result<size_t> fuse_add_for_target(Graph& graph, const target::Target& target);

}  // namespace rk::passes
