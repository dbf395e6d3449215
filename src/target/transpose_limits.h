// SPDX-License-Identifier: Apache-2.0
// Which permutations the NPU can do, and up to which sizes (docs/facts/operators.md, section 7.2).
#pragma once

#include <string>

#include "ir/graph.h"

namespace rk::target {

std::string refuse_transpose_rk3566(const Node& node);  // five permutations
std::string refuse_transpose_short(const Node& node);   // lines up to 8192: RK3588, RV1103, RV1106
std::string refuse_transpose_long(const Node& node);    // lines up to 2^28: the later chips

}  // namespace rk::target
