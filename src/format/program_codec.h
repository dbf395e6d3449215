// SPDX-License-Identifier: Apache-2.0
// A Program as bytes, the payload of our section of a .rknn file. Weights are not in it: tensors
// name them by index, and the index is that of the flatbuffer buffer, so the bytes exist once and
// other readers see them too. record_codec.h says how the bytes stay readable across versions.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "program/program.h"

namespace rk::format {

// Variants whose steps equal the first variant's (up to their cost) refer to it instead of
// repeating them.
std::vector<uint8_t> encode_program(const program::Program& program);

// The Program with the given weights, of a section of the given version (one that
// split_container() accepts). Every byte may be hostile: counts and enumerations are
// checked here, meaning is checked by program::verify(), which the caller runs.
Result<program::Program> decode_program(uint32_t version, ByteSpan payload,
                                        std::vector<program::Blob> weights);

}  // namespace rk::format
