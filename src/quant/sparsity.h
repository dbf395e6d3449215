// SPDX-License-Identifier: Apache-2.0
// sparse_infer: which convolutions have weights in a pattern whose zeros the chip can skip. Nothing is made sparse here;
// a pattern comes from training.
//
//   75%       4:2 along the input channels and, of what that leaves, along the output channels, or the other way round: of
//             each 4 by 4 weights at most 4 are not 0 (16:4)
//   50%(IC)   of each 4 weights along the input channels at most 2 are not 0 (4:2)
//   50%(OC)   the same along the output channels
//   0%        none of these, or a layer that the chip computes densely; the reason says why
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace rk::quant {

struct SparseLayer {
  std::string name;  // of the value it computes
  std::string ratio;
  std::string reason;  // only for 0%
};

// Every convolution. A weight counts as 0 when its stored number is.
std::vector<SparseLayer> find_sparse_layers(const Graph& graph);

// A table with the column SparseRatio.
std::string to_text(const std::vector<SparseLayer>& layers);

}  // namespace rk::quant
