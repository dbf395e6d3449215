// SPDX-License-Identifier: Apache-2.0
// The per-layer table of RKNN_QUERY_PERF_DETAIL and of log level 4, in the vendor's columns.
#pragma once

#include <string>
#include <vector>

#include "runtime/report/text_table.h"
#include "runtime/session/session.h"

namespace rk::runtime {

enum class PerfTimes {
  kHost,  // measured on this machine, in the session's last run, which must have collected step durations
  kPredicted,  // of the chip, from counted cycles and traffic (program/cost.h)
};

struct PerfOptions {
  PerfTimes times = PerfTimes::kHost;
  const program::Variant* variant = nullptr;  // of the session's model; absent: the one in force
  // Columns after FullName; rows_of_steps has cells for each step of the variant, or none.
  Cells more_columns;
  std::vector<Cells> rows_of_steps;
};

// Cycles and RW(KB) are counted for the chip in both forms; the shares of the cores are the rows that each computes. Host
// times are those of the variant in force.
std::string perf_table(const Session& session, const PerfOptions& options);

}  // namespace rk::runtime
