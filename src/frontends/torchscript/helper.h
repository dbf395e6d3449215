// SPDX-License-Identifier: Apache-2.0
// rknn-import-torchscript, the program that reads TorchScript files with libtorch: where it is, and how it is asked.
#pragma once

#include <vector>

#include "base/bytes.h"

namespace rk::frontends::torchscript {

// An answer of the helper in place of a model: it is read without the helper.
bool is_answer(ByteSpan bytes);
// kInvalidModel for what is no zip archive, and for one that torch.save wrote: weights or a pickled module, without the
// network's code.
Status check_archive(ByteSpan bytes);
// The helper's answer (answer.h). It is looked for as $RKNN_IMPORT_TORCHSCRIPT, beside this library, and in PATH.
// kUnavailable: there is none, and which package it needs. kInvalidModel: it could not read the file; kTimeout: it took
// longer than $RKNN_IMPORT_TORCHSCRIPT_SECONDS (600).
Result<std::vector<uint8_t>> ask_helper(ByteSpan model);

}  // namespace rk::frontends::torchscript
