// SPDX-License-Identifier: Apache-2.0
// Program -> .rknn file: the vendor's tables (graph, tensors with native shapes, nodes with
// parameters, memory sizes), the JSON trailer, and our section with the Program itself. No register
// commands are written: our runtime does not need them, and a chip's own runtime cannot run the
// file. registers/ adds them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/vendor_model.h"
#include "program/program.h"

namespace rk::format {

// The tables alone. Buffers are views of the Program's weights; buffer i is weight i. The Program
// must have passed verify(). Fails when a size does not fit the file's 32 bits, or the target is
// unknown.
Result<FileModel> to_file_model(const program::Program& program);

struct WriteOptions {
  bool remove_weight = false;                       // see removed_weights.h
  std::set<std::string, std::less<>> kept_weights;  // that stay in the file all the same, by name
};

// The whole file. Verifies the Program first.
Result<std::vector<uint8_t>> write_rknn(const program::Program& program,
                                        const WriteOptions& options = {});

}  // namespace rk::format
