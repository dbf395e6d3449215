// SPDX-License-Identifier: Apache-2.0
// .rknn file -> Program. Weights stay views into the file's bytes, which the Program keeps alive
// through `owner`.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/status.h"
#include "program/program.h"

namespace rk::format {

struct ReadOptions {
  // For queries: nodes of a vendor file that cannot be decoded are no error, and neither are constants left out.
  bool info_only = false;
  // Where constants that were left out of the file come from; null: such a file is refused.
  const program::Program* weights_from = nullptr;
};

// The verified Program of a file: from our section, or lifted from a vendor's graph (vendor/lift.h). `owner` keeps
// `file` alive (null: the caller does). Errors: kInvalidModel for damage, kUnsupported for what cannot be decoded.
Result<program::Program> read_rknn(ByteSpan file, std::shared_ptr<const void> owner,
                                   const ReadOptions& options = {});
// The same, taking the bytes.
Result<program::Program> read_rknn(std::vector<uint8_t> file, const ReadOptions& options = {});

}  // namespace rk::format
