// SPDX-License-Identifier: Apache-2.0
// What the chip computes in the step of a convolution although the graph has nodes for it: an activation by table or by a
// slope, and the addition behind a slope. The sums go there as they are: the convolution's own result is never rounded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/compile.h"
#include "program/lookup_table.h"
#include "target/target.h"

namespace rk::compiler {

struct ConvTail {
  const Node* conv = nullptr;  // Conv, ConvTranspose, Gemm or MatMul with constant weights
  std::string suffix;          // of the step's type
  // One of the two.
  std::optional<program::LookupSpec> lookup;
  std::vector<int16_t> slope;     // in 1/16384, one or one per channel
  const Value* addend = nullptr;  // joins behind a slope
  const Value* output = nullptr;
};

// The nodes of a graph that end in such a step, as the vendor's compiler joins them: int8 on both sides, on the NPU, nobody
// else reads what lies between. It does so at every optimization level (docs/optimization.md).
class ConvTails {
 public:
  ConvTails(const Graph& graph, const target::Target& target, const CompileOptions& options);

  // Null where the node is a step of its own.
  const ConvTail* ending_at(const Node& node) const;
  // All nodes of the step that the node ends, in order; most often itself alone.
  std::vector<const Node*> parts_of(const Node& node) const;
  // The node is part of the step that a later one ends.
  bool joins_later(const Node& node) const { return earlier_.contains(&node); }

 private:
  std::map<const Node*, ConvTail> tails_;  // by their last node
  std::unordered_set<const Node*> earlier_;
};

}  // namespace rk::compiler
