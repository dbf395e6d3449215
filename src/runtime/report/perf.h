// SPDX-License-Identifier: Apache-2.0
// The per-layer table of RKNN_QUERY_PERF_DETAIL and of log level 4, in the vendor's columns.
#pragma once

#include <string>

#include "runtime/session/session.h"

namespace rk::runtime {

enum class PerfTimes {
  kHost,       // measured on this machine, in the session's last run, which must have collected step durations
  kPredicted,  // of the chip, from counted cycles and traffic (program/cost.h)
};

// Cycles and RW(KB) are counted for the chip in both forms; the shares of the cores are the rows that each computes.
std::string perf_table(const Session& session, PerfTimes times);

}  // namespace rk::runtime
