// SPDX-License-Identifier: Apache-2.0
// Files without weights (remove_weight): the constants that another build of the same network has too are left out,
// and taken from that other model when the file is loaded (RKNN_FLAG_SHARE_WEIGHT_MEM).
//
// Note: bias blocks stay. They hold activation scales, so two builds of one network at different
// resolutions rarely agree on them, while the weights themselves are equal byte for byte.
#pragma once

#include <set>
#include <string>

#include "program/program.h"

namespace rk::format {

using Names = std::set<std::string, std::less<>>;

// `program` with its large constants replaced by entries of Program::removed, but for those that
// `kept` names: weights that another build need not have.
program::Program without_weights(const program::Program& program, const Names& kept = {});

// Puts back what was left out. kInvalidModel when the donor has no constant of that size and checksum.
Status take_weights(program::Program& program, const program::Program& donor);

// For queries about a model that is not going to run: zeros in place of what was left out.
Status fill_with_zeros(program::Program& program);

}  // namespace rk::format
