// SPDX-License-Identifier: Apache-2.0
// The table that users know, with what was found and what would help below it.
#include <cstdio>

#include "analysis/accuracy.h"

namespace rk::analysis {
namespace {

constexpr size_t kNameColumns = 60;
constexpr size_t kCellColumns = 20;
constexpr double kPoor = 0.98, kBad = 0.9;  // cosines below are yellow, red
// The same for the distance: noise of the size that a cosine of 0.98 or 0.9 has at equal lengths. A layer that is right
// but for a factor has cosine 1 and a large distance.
constexpr double kPoorDb = 14, kBadDb = 7;

std::string padded(std::string text, size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

std::string five(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.5f", value);
  return text;
}

// About six characters: 4.1079, 13.235, 0.0.
std::string six(double value) {
  if (value == 0) return "0.0";
  char text[512];
  std::snprintf(text, sizeof text, "%.6f", value);
  const std::string all = text;
  return all.substr(0, std::max<size_t>(6, all.find('.')));
}

std::string cell(const std::optional<Errors>& errors, Color color) {
  if (!errors) return std::string(kCellColumns, ' ');
  const std::string out =
      padded(five(errors->cosine) + " | " + six(errors->euclidean), kCellColumns);
  const auto below = [&](double cosine, double decibels) {
    return errors->cosine < cosine || errors->sqnr_db < decibels;
  };
  if (color == Color::kNone || !below(kPoor, kPoorDb)) return out;
  return str(below(kBad, kBadDb) ? "\x1b[31m" : "\x1b[33m", out, "\x1b[0m");
}

std::string heading(bool has_board) {
  std::string out =
      "# simulator_error: the compiled model against the float model.\n"
      "#   entire: error accumulated from the input. single: this layer fed with golden inputs.\n";
  if (has_board) {
    out +=
        "# runtime_error: the written file as the board runs it.\n"
        "#   entire: against the float model. single_sim: against the simulator.\n";
  }
  out += "# cos: cosine, 1 is best. euc: Euclidean distance, 0 is best.\n\n";
  const size_t columns = (has_board ? 4 : 2) * kCellColumns;
  const std::string blank(kNameColumns, ' '), pair = "cos       euc       ";
  out += padded("layer_name", kNameColumns) + padded("simulator_error", 2 * kCellColumns) +
         (has_board ? "runtime_error" : "") + "\n" + blank + padded("entire", kCellColumns) +
         padded("single", kCellColumns) +
         (has_board ? padded("entire", kCellColumns) + "single_sim" : "") + "\n" + blank;
  for (size_t i = 0; i < columns / kCellColumns; ++i) out += pair;
  return out + "\n" + std::string(kNameColumns + columns, '-') + "\n";
}

}  // namespace

std::string to_text(const AccuracyReport& report, Color color) {
  std::string out = heading(report.has_board);
  const auto add_row = [&](const std::string& name, const Layer& layer) {
    std::string row = padded(name, std::max(kNameColumns, name.size() + 2)) +
                      cell(layer.entire, color) + cell(layer.single, color);
    if (report.has_board) row += cell(layer.board_entire, color) + cell(layer.board_single, color);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  };
  for (const Layer& layer : report.layers) {
    const bool converted = !layer.stored_name.empty();
    for (const FusedLayer& part : layer.fused)
      add_row(str("[", part.type, "] ", part.name), Layer{});
    add_row(str("[", layer.type, "] ", converted ? layer.stored_name : layer.name), layer);
    if (converted) add_row(str("[exDataConvert] ", layer.name), layer);
  }
  if (!report.findings.empty()) out += "\n# what was found:\n";
  for (const std::string& sentence : report.findings) out += str("#   ", sentence, "\n");
  if (!report.proposals.empty()) out += "\n# what would help, measured on the worst output:\n";
  for (const Proposal& proposal : report.proposals) {
    out += str("#   ", proposal.text, ": cosine ", five(proposal.cosine_before), " -> ",
               five(proposal.cosine_after), "\n");
  }
  return out;
}

}  // namespace rk::analysis
