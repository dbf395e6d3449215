// SPDX-License-Identifier: Apache-2.0
// The per-layer table of RKNN_QUERY_PERF_DETAIL and of log level 4, in the vendor's columns.
#pragma once

#include <string>

#include "runtime/session/session.h"

namespace rk::runtime {

// Of the session's last run, which must have collected step durations. Times are this machine's, not the chip's; the
// shares of the cores are the rows that each of them computed.
std::string perf_table(const Session& session);

}  // namespace rk::runtime
