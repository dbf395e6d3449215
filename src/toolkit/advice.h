// SPDX-License-Identifier: Apache-2.0
// What to change in a model so that a chip runs it faster, layer by layer, each with the gain that the cost model
// predicts (docs/board-model.md). The rules are the guide's section on models for the NPU.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "program/program.h"

namespace rk::toolkit {

struct Advice {
  std::string layer;  // empty: of the whole model
  std::string found;
  std::string change;
  double gain_us = 0;  // of one frame on one core
};

struct AdviceReport {
  std::string chip;
  double us = 0;              // of a frame on one core
  std::vector<Advice> items;  // largest gain first
};

// Of the first variant.
Result<AdviceReport> advise(const program::Program& program);
// At most `most` items, each on one line.
std::string to_text(const AdviceReport& report, size_t most);

}  // namespace rk::toolkit
