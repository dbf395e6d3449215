// SPDX-License-Identifier: Apache-2.0
// Which weights of a board's file are stored in coded form, and what the lists then say
// (docs/facts/container.md, section 4.5).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "format/vendor_model.h"
#include "program/weight_code.h"
#include "registers/layer_tasks.h"
#include "target/weight_code_registers.h"

namespace rk::registers {

// Lists by the weights that they read, as far as these can be coded: a chip decodes dense int8
// weights in blocks, from their first byte on.
class WeightUsers {
 public:
  void add(BoundTask& bound);
  // Tensors of the graph that name `buffer`, when all of them are weights of convolutions whose
  // lists can all read code; empty otherwise.
  std::vector<size_t> codable_tensors(const format::FileGraph& graph, uint32_t buffer,
                                      uint64_t size_bytes) const;
  const std::vector<RegisterTask*>& lists(const std::string& tensor) const;

 private:
  std::map<std::string, std::vector<RegisterTask*>> lists_;
  std::set<std::string> refused_;
};

void code_list(const target::WeightCodeRegisters& registers, const program::CodedWeights& code,
               RegisterTask& list);
void code_tensor(const program::CodedWeights& code, format::FileTensor& tensor);

}  // namespace rk::registers
