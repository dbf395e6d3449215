// SPDX-License-Identifier: Apache-2.0
// What to change in a model so that a chip runs it faster, layer by layer, each with the gain that the cost model
// predicts (docs/board-model.md). The rules are the guide's section on models for the NPU.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"
#include "target/target.h"

namespace rk::toolkit {

struct Advice {
  int32_t step = program::kNone;  // of the variant; kNone: of the whole model
  std::string layer;
  std::string found;
  std::string change;
  double gain_us = 0;  // of one frame on one core
};

struct AdviceReport {
  std::string chip;
  double us = 0;              // of a frame on one core
  std::vector<Advice> items;  // largest gain first
};

AdviceReport advise(const target::Target& target, const program::Variant& variant);
// At most `most` items, each on one line.
std::string to_text(const AdviceReport& report, size_t most);
// For each of `steps` the item of the largest gain on one line, with the gain; empty where there is none.
std::vector<std::string> by_step(const AdviceReport& report, size_t steps);

}  // namespace rk::toolkit
