// SPDX-License-Identifier: Apache-2.0
// The tasks of one vendor file for RK3588, executed from their registers, against the same nodes
// executed as a Program. Each node starts from the Program's own values of its operands, so a node
// of the CPU or one that is not modeled does not end the comparison.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace rk::vendor {

struct Tally {
  size_t tasks = 0, executed = 0, compared = 0;  // compared: tasks of nodes whose results were
  size_t nodes = 0, equal_nodes = 0;
  uint64_t bytes = 0, different = 0;    // of integer results
  uint64_t floats = 0, far_floats = 0;  // results of float stages; farther off than their bar
  double worst = 0;                     // of the peak
};

struct Report {
  std::map<std::string, Tally> kinds;          // "rk3588 int8 ConvRelu"
  std::map<std::string, size_t> not_modeled;   // tasks by reason
  std::map<std::string, size_t> not_compared;  // nodes by reason
  std::vector<std::string> differences;
  Tally total;
};

// In a vendor's file the runtime brings operands of plain layout into the form that the tasks read. Tasks of our own
// files read them as they are.
enum class PlainOperands { kLaidOutByRuntime, kAsStored };

// Adds to the report; `kind` says which chip and type ("rk3588 int8").
Status check_nodes(const std::string& name, const std::string& kind,
                   const std::vector<uint8_t>& file, Report& report,
                   PlainOperands plain = PlainOperands::kLaidOutByRuntime);

}  // namespace rk::vendor
