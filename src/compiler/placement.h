// SPDX-License-Identifier: Apache-2.0
// Which processor runs a node: the chip's capability rows, unless op_target says otherwise.
#pragma once

#include <map>
#include <string>

#include "compiler/compile.h"
#include "target/target.h"

namespace rk::compiler {

// kInvalidArgument for a name that no node has, or a word that is no processor.
Status check_op_target(const Graph& graph, const CompileOptions& options);

// Decisions that a user may want to overturn are logged at the information level.
program::Processor place(const Node& node, const target::Target& target,
                         const CompileOptions& options);

}  // namespace rk::compiler
