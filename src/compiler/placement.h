// SPDX-License-Identifier: Apache-2.0
// Which processor runs a node: the chip's capability rows, unless op_target says otherwise.
#pragma once

#include <map>
#include <string>

#include "compiler/compile.h"
#include "target/target.h"

namespace rk::compiler {

// kInvalidArgument for a name that no node has, or a word that is not a processor.
Status check_op_target(const Graph& graph, const CompileOptions& options);

struct Placement {
  enum class Where { kNpu, kCpu, kGpu, kUnsupported };
  Where where = Where::kNpu;
  std::string row;     // the capability row or list that decided, in words
  std::string reason;  // why not the NPU; empty on it

  // Unsupported is what the board would refuse; the simulator runs it on the CPU.
  program::Processor processor() const;
};

// The dtype the chip would run the node in: int8 when what it computes on and its result are.
DType placement_dtype(const Node& node);
Placement decide_placement(const Node& node, const target::Target& target,
                           const CompileOptions& options);

// The decision as the Program takes it. What a user may want to overturn is logged at the
// information level.
program::Processor place(const Node& node, const target::Target& target,
                         const CompileOptions& options);

}  // namespace rk::compiler
