// SPDX-License-Identifier: Apache-2.0
#include "compiler/placement_report.h"

#include <algorithm>

namespace rk::compiler {
namespace {

using Where = Placement::Where;

std::string summary(const PlacementReport& report) {
  return str(report.rows.size(), " operators on ", report.target, ": ", report.count(Where::kNpu),
             " on the NPU, ", report.count(Where::kCpu), " on the CPU, ",
             report.count(Where::kUnsupported), " unsupported");
}

std::vector<std::string> cells(const PlacementRow& row) {
  return {std::string(to_string(row.placement.where)),
          row.op,
          row.node,
          row.output,
          row.dtype,
          row.placement.reason,
          row.placement.row};
}

const std::vector<std::string> kTitles = {"runs on", "operator",           "node", "output",
                                          "dtype",   "why not on the NPU", "row"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr std::string_view kPageHead =
    R"(<!doctype html><meta charset="utf-8"><title>Placement</title>
<style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:3px 10px;text-align:left;
border-bottom:1px solid #ddd;vertical-align:top}.NPU td:first-child{color:#175}.CPU{background:#fff6e0}
.GPU{background:#eef}.unsupported{background:#fde4e4}</style>
)";

}  // namespace

size_t PlacementReport::count(Where where) const {
  return static_cast<size_t>(std::ranges::count_if(
      rows, [&](const PlacementRow& row) { return row.placement.where == where; }));
}

std::string_view to_string(Where where) {
  switch (where) {
    case Where::kNpu:
      return "NPU";
    case Where::kCpu:
      return "CPU";
    case Where::kGpu:
      return "GPU";
    case Where::kUnsupported:
      return "unsupported";
  }
  return "";
}

Result<PlacementReport> report_placement(const Graph& graph, const CompileOptions& options) {
  RK_ASSIGN(const target::Target* const target, target::find_target(options.target));
  PlacementReport out{.target = std::string(target->name)};
  for (const Node* node : graph.nodes()) {
    out.rows.push_back({.node = node->name(),
                        .op = std::string(node->op()),
                        .output = rk::to_string(node->output().shape()),
                        .dtype = std::string(rk::to_string(placement_dtype(*node))),
                        .placement = decide_placement(*node, *target, options)});
  }
  return out;
}

std::string to_text(const PlacementReport& report) {
  std::vector<size_t> widths;
  for (const std::string& title : kTitles) widths.push_back(title.size());
  for (const PlacementRow& row : report.rows) {
    const auto texts = cells(row);
    for (size_t i = 0; i < texts.size(); ++i) widths[i] = std::max(widths[i], texts[i].size());
  }
  const auto line = [&](const std::vector<std::string>& texts) {
    std::string out;
    for (size_t i = 0; i < texts.size(); ++i) {
      std::string text = texts[i];
      text.resize(std::max(text.size(), widths[i]), ' ');
      out += str(out.empty() ? "" : "  ", text);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out = line(kTitles);
  for (const PlacementRow& row : report.rows) out += line(cells(row));
  return str(out, summary(report), "\n");
}

std::string to_html(const PlacementReport& report) {
  std::string out(kPageHead);
  out += str("<h1>Placement</h1><p>", escaped(summary(report)), "</p>\n<table><tr>");
  for (const std::string& title : kTitles) out += str("<th>", title);
  out += "\n";
  for (const PlacementRow& row : report.rows) {
    out += str("<tr class=\"", to_string(row.placement.where), "\">");
    for (const std::string& text : cells(row)) out += str("<td>", escaped(text));
    out += "\n";
  }
  return out + "</table>\n";
}

}  // namespace rk::compiler
