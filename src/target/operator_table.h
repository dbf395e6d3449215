// SPDX-License-Identifier: Apache-2.0
// The capability rows of all chips as one Markdown page: docs/operators.md. `rknn info --operators`
// prints it, a test compares.
#pragma once

#include <string>

#include "target/target.h"

namespace rk::target {

// "i8 f16: kernel 1..31, ..."; the row as reports quote it.
std::string row_in_words(const Capability& row);

std::string operators_markdown();

}  // namespace rk::target
