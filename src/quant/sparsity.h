// SPDX-License-Identifier: Apache-2.0
// sparse_infer: which convolutions have weights in a pattern whose zeros the chip can skip. Nothing is made sparse here;
// a pattern comes from training.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "target/sparse.h"

namespace rk::quant {

struct SparseLayer {
  std::string name;  // of the value it computes
  target::Sparsity sparsity = target::Sparsity::kNone;
  std::string reason;  // only for kNone: no pattern, or a layer that the chip computes densely
};

// Every convolution. A weight counts as 0 when its stored number is.
std::vector<SparseLayer> find_sparse_layers(const Graph& graph);

// A table with the column SparseRatio.
std::string to_text(const std::vector<SparseLayer>& layers);

}  // namespace rk::quant
