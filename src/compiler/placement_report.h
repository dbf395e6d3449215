// SPDX-License-Identifier: Apache-2.0
// Where each node of a graph would run on a chip, and the capability row that decided: what `rknn
// convert --report` prints. The decision is placement.h's own, so the report cannot differ from the
// Program.
#pragma once

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/placement.h"

namespace rk::compiler {

struct PlacementRow {
  std::string node;
  std::string op;
  std::string output;  // "[1,64,80,80]"
  std::string dtype;   // the dtype the chip would run it in
  Placement placement;
};

struct PlacementReport {
  std::string target;
  std::vector<PlacementRow> rows;  // in execution order

  size_t count(Placement::Where where) const;
};

std::string_view to_string(Placement::Where where);  // "NPU", "CPU", "GPU", "unsupported"

// kInvalidArgument for an unknown target.
Result<PlacementReport> report_placement(const Graph& graph, const CompileOptions& options);

std::string to_text(const PlacementReport& report);
// A page that needs neither network nor other files.
std::string to_html(const PlacementReport& report);

}  // namespace rk::compiler
