// SPDX-License-Identifier: Apache-2.0
// Damage to an ONNX model that leaves it a readable file: wrong operators, attributes, extents, names and types. Flipped
// bytes mostly break the outer encoding and never get past the parser.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace rk::fuzz {

// One to three changes; `file` must be a readable model. `operators` are names to put in the place of others. Returns a
// description.
std::string mutate_onnx_structure(std::vector<uint8_t>& file,
                                  std::span<const std::string> operators, Random& random);

}  // namespace rk::fuzz
