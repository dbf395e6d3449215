// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/text_table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace rk::runtime {
namespace {

template <typename Extents>
std::string in_parentheses(const Extents& extents) {
  std::string out = "(";
  for (const auto extent : extents) out += (out.size() > 1 ? "," : "") + std::to_string(extent);
  return out + ")";
}

}  // namespace

std::string_view table_type_name(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return "UINT8";
    case DType::kI8:
      return "INT8";
    case DType::kI16:
      return "INT16";
    case DType::kF16:
      return "FLOAT16";
    case DType::kF32:
      return "FLOAT";
    case DType::kI32:
      return "INT32";
    case DType::kI64:
      return "INT64";
    case DType::kBool:
      return "BOOL";
    default:
      return "UNKNOW";
  }
}

std::string table_shape(const Shape& shape) { return in_parentheses(shape.dims()); }
std::string table_shape(const std::vector<int32_t>& native_shape) {
  return in_parentheses(native_shape);
}

std::string draw_table(const std::string& title, const Cells& header,
                       const std::vector<Cells>& rows) {
  std::vector<size_t> widths;
  for (const std::string& cell : header) widths.push_back(cell.size());
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  size_t total = 0;
  for (const size_t width : widths) total += width + 3;
  const std::string rule(total, '-');
  std::ostringstream out;
  const auto line = [&](const Cells& cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      out << std::left << std::setw(static_cast<int>(widths[i] + 3)) << cells[i];
    out << "\n";
  };
  out << rule << "\n"
      << std::string(total > title.size() ? (total - title.size()) / 2 : 0, ' ') << title << "\n"
      << rule << "\n";
  line(header);
  out << rule << "\n";
  for (const Cells& row : rows) line(row);
  out << rule << "\n";
  return out.str();
}

}  // namespace rk::runtime
