// SPDX-License-Identifier: Apache-2.0
#include "format/coded_weights.h"

#include "base/model_budget.h"
#include "program/weight_code.h"
#include "target/target.h"

namespace rk::format {

Status decode_constants(program::Program& program) {
  if (program.coded.empty()) return ok_status();
  RK_ASSIGN(const target::Target* const chip, target::find_target(program.target));
  uint64_t total_bytes = 0;
  for (const program::CodedWeight& coded : program.coded) {
    if (coded.weight < 0 || static_cast<size_t>(coded.weight) >= program.weights.size())
      return invalid_model(
          str("a coded constant has index ", coded.weight, " of ", program.weights.size()));
    if (coded.size_bytes > budget::kDescribedBytes - total_bytes)
      return out_of_memory(str("compressed weights of more than ", budget::kDescribedBytes >> 20,
                               " MiB in all (docs/limits.md)"));
    total_bytes += coded.size_bytes;
    program::Blob& blob = program.weights[static_cast<size_t>(coded.weight)];
    auto blocks = program::decode_weights(chip->weight_code, blob.bytes, coded.size_bytes);
    if (!blocks.ok()) return blocks.status().with_context(str("constant ", coded.weight));
    blob = program::make_blob(std::move(*blocks));
  }
  program.coded.clear();
  return ok_status();
}

}  // namespace rk::format
