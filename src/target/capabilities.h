// SPDX-License-Identifier: Apache-2.0
// The operator matrix of the NPUs: which operator runs in which dtype on which chip. One home for
// all chips, because it is published as one table.
#pragma once

#include <vector>

#include "target/target.h"

namespace rk::target {

// The columns of the published matrix. Chips of one column also share their size limits.
enum class Column { kRk3566, kRk3588, kRk3562, kRv1106, kRk3576, kRk2118, kRv1106b };

std::vector<Capability> npu_rows(Column column);

// The conditions of a row beside its dtypes, for tables; empty where it has none.
std::string_view limits_in_words(const Capability& row);

// What the CPU side of the larger chips runs.
std::vector<std::string_view> cpu_ops_full();
// RV1103, RV1106 and their B variants.
std::vector<std::string_view> cpu_ops_small();

}  // namespace rk::target
