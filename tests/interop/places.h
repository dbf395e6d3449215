// SPDX-License-Identifier: Apache-2.0
// Features of a file for a board in the places where the file puts them: whether any that are needed at the same time share
// bytes, by the tables and by running all lists in one memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace rk::interop {

struct PlaceReport {
  size_t files = 0;
  size_t features = 0, pairs_shared = 0;       // needed at the same time, with a byte in common
  size_t lists = 0, lists_beyond = 0;          // that write past the end of their tensor
  size_t schedules = 0;                        // that the chip's cores ask for
  size_t runs = 0, operands = 0, spoiled = 0;  // changed between their step and a reader
  size_t results = 0, unlike = 0;              // int8, of the whole run beside the Program's
  // Tensors that a step on several cores has computed, beside the bytes of one core's run.
  size_t shared_results = 0, shared_unlike = 0;
  std::vector<std::string> findings;

  bool good() const {
    return files != 0 && pairs_shared + lists_beyond + spoiled + unlike + shared_unlike == 0 &&
           operands != 0;
  }
};

// All schedules of the file, each from the model's inputs to its outputs. A node without a list is the Program's.
Status check_places(const std::string& name, const std::vector<uint8_t>& file,
                    const std::vector<std::vector<uint8_t>>& inputs, PlaceReport& report);

}  // namespace rk::interop
