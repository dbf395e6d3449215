// SPDX-License-Identifier: Apache-2.0
// Which chips skip zero weights (sparse_infer), and the patterns they skip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "target/target.h"

namespace rk::target {

// Zeros of a convolution's weights:
//   kInputs    4:2 along the input channels: of each 4 weights at most 2 are not 0
//   kOutputs   the same along the output channels
//   kBoth      4:2 along the input channels and, of what that leaves, along the output channels, or the other way round:
//              of each 4 by 4 weights at most 4 are not 0 (16:4)
enum class Sparsity : uint8_t { kNone = 0, kInputs = 1, kOutputs = 2, kBoth = 3 };

// As the vendor's logs print it: "0%", "50%(IC)", "50%(OC)", "75%".
std::string_view to_string(Sparsity sparsity);
// What remains of the multiplications is one in so many.
int divisor(Sparsity sparsity);

bool has_sparse_weights(const Target& target);
// "rk3576, rv1126b".
std::string sparse_chips();

}  // namespace rk::target
