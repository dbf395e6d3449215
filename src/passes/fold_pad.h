// SPDX-License-Identifier: Apache-2.0
// Also for graphs whose Quantize/Dequantize pairs went after the pipeline: between a Pad and its convolution stood one.
#pragma once

#include "ir/graph.h"
#include "target/target.h"

namespace rk::passes {

// Returns the number of rewrites.
Result<size_t> fold_pad(Graph& graph, const target::Target& target);

}  // namespace rk::passes
