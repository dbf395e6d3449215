// SPDX-License-Identifier: Apache-2.0
// What a loaded model keeps of its file. Packed weights tell what the file's were, so those bytes go after packing; a model
// that shares them (RKNN_FLAG_SHARE_WEIGHT_MEM) gets them back from the packed form.
//
// Note: blocks of the chip have padding that the packed form does not have. Only weights without any are
// let go, so that what comes back is what was in the file, byte for byte.
#pragma once

#include "program/program.h"
#include "runtime/host/packed_constants.h"

namespace rk::runtime::host {

// The weights of `program` that `constants` tells, as flags by index. Only the main variant is looked at.
std::vector<bool> recoverable_weights(const program::Program& program,
                                      const PackedConstants& constants);

// Makes `program` independent of memory that no Blob owns: bytes are copied, except weights with their flag in
// `released`, whose Blobs become empty, and operands that `constants` holds anyway.
Status keep_constants(program::Program& program, const std::vector<bool>& released,
                      const PackedConstants& constants);

// A copy of the program with every weight, those that were released included.
Result<program::Program> restore_constants(const program::Program& program,
                                           const PackedConstants& constants);

}  // namespace rk::runtime::host
