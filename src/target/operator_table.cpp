// SPDX-License-Identifier: Apache-2.0
#include "target/operator_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "target/capabilities.h"

namespace rk::target {
namespace {

std::string dtypes(const Capability& row) {
  std::string out;
  const auto add = [&](bool has, const char* name) {
    if (has) out += str(out.empty() ? "" : " ", name);
  };
  add(row.i8, "i8");
  add(row.i16, "i16");
  add(row.f16, "f16");
  return out;
}

std::string chip_names(const Target& target) {
  std::string out(target.name);
  for (const std::string_view other : target.also) out += str(", ", other);
  return out;
}

// "CPU" where no NPU row serves but the chip's CPU does.
std::string cell(const Target& target, std::string_view op) {
  if (const Capability* row = target.find(op)) return dtypes(*row);
  const bool on_cpu =
      target.has_cpu_ops &&
      (target.cpu_ops.empty() || std::ranges::find(target.cpu_ops, op) != target.cpu_ops.end());
  return on_cpu ? "CPU" : "";
}

// Every operator of any chip, in alphabetical order.
std::set<std::string_view> operators() {
  std::set<std::string_view> out;
  for (const Target* target : all_targets()) {
    for (const Capability& row : target->npu) out.insert(row.op);
    out.insert(target->cpu_ops.begin(), target->cpu_ops.end());
  }
  return out;
}

// Which chips have which limit, one line per operator and wording.
std::string limits_table() {
  std::string out = "| Operator | Chips | Runs on the NPU within |\n|---|---|---|\n";
  for (const std::string_view op : operators()) {
    std::map<std::string_view, std::string> chips_by_limit;
    size_t chips = 0;
    for (const Target* target : all_targets()) {
      const Capability* row = target->find(op);
      if (row == nullptr) continue;
      ++chips;
      std::string& names = chips_by_limit[limits_in_words(*row)];
      names += str(names.empty() ? "" : ", ", target->name);
    }
    for (const auto& [limit, names] : chips_by_limit) {
      if (limit.empty()) continue;
      out += str("| ", op, " | ", chips_by_limit.size() == 1 && chips > 1 ? "all" : names, " | ",
                 limit, " |\n");
    }
  }
  return out;
}

constexpr std::string_view kIntroduction =
    R"(# Operators and where they run

This page is printed by `rknn info --operators` from the tables the converter itself uses; do not edit it by hand.
For one model, `rknn convert MODEL.onnx -t CHIP --float --report` lists every node with the row that decided, and
`--report FILE.html` writes the same as a page.

- A node runs on the NPU when the chip has a row for its operator, in the dtype the node computes in, and the limits
  below hold. Otherwise it runs on the chip's CPU if that has the operator.
- An operator that a chip has neither on the NPU nor on the CPU is *unsupported* there: the simulator runs it, the board
  would refuse the model. The converter reports it and says why.
- Names are those of ONNX; `ex...` operators are made by the converter (exSwish from `x * Sigmoid(x)`, exSDPAttention
  from `Softmax(q k' s + mask) v`, exGelu, exGlu and so on). FusedConv is a convolution with what was fused into it.
- i8, i16 and f16 are NPU dtypes; CPU means the chip's CPU; an empty cell means unsupported.

)";

}  // namespace

std::string row_in_words(const Capability& row) {
  const std::string_view limits = limits_in_words(row);
  return str(row.op, " ", dtypes(row), limits.empty() ? "" : ": ", limits);
}

std::string operators_markdown() {
  std::string out(kIntroduction);
  out += "## Placement\n\n| Operator |";
  std::string rule = "|---|";
  for (const Target* target : all_targets()) {
    out += str(" ", chip_names(*target), " |");
    rule += "---|";
  }
  out += str("\n", rule, "\n");
  for (const std::string_view op : operators()) {
    out += str("| ", op, " |");
    for (const Target* target : all_targets()) {
      const std::string text = cell(*target, op);
      out += str(text.empty() ? "" : " ", text, " |");
    }
    out += "\n";
  }
  return str(out, "\n## Limits of the NPU\n\n", limits_table());
}

}  // namespace rk::target
