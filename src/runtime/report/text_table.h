// SPDX-License-Identifier: Apache-2.0
// Tables of the log and of PERF_DETAIL: columns and cells as the vendor's tables spell them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace rk::runtime {

using Cells = std::vector<std::string>;

// Left-aligned columns, each as wide as its widest cell, within rules. No row has more cells than the header.
std::string draw_table(const std::string& title, const Cells& header,
                       const std::vector<Cells>& rows);

// The tables' own spelling of types, which is not that of get_type_string.
std::string_view table_type_name(DType dtype);
// "(1,3,224,224)".
std::string table_shape(const Shape& shape);
std::string table_shape(const std::vector<int32_t>& native_shape);

}  // namespace rk::runtime
