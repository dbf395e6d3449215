// SPDX-License-Identifier: Apache-2.0
// model_pruning: takes channels out of convolutions that cannot change any result, because they are always 0 or because
// nobody multiplies them with anything but 0. Lossless; not part of the pipeline, since a user asks for it.
#pragma once

#include <string>

#include "ir/graph.h"

namespace rk::passes {

struct PruneReport {
  size_t channels = 0;                               // taken out
  double weight_mb_before = 0, weight_mb_after = 0;  // float32 constants, 10^6 bytes
  double gflops_before = 0, gflops_after = 0;        // two per multiply-accumulate
};

// The graph is made anew, with the same names, where something is taken out.
Result<PruneReport> prune_channels(Graph& graph);

// The lines that users know; empty when nothing was taken out.
std::string to_text(const PruneReport& report);

}  // namespace rk::passes
