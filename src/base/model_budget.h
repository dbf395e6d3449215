// SPDX-License-Identifier: Apache-2.0
// What one model may cost before anybody runs it, so that a small file cannot take all memory or a minute of work. One
// home for the numbers; docs/limits.md tells users. One object (a tensor, an arena) has its own limit, kMaxObjectBytes.
#pragma once

#include <cstdint>

namespace rk::budget {

// Weights in the forms kernels want and constants in the forms operators want, for all variants together.
inline constexpr uint64_t packed_bytes(uint64_t file_weight_bytes) {
  return (uint64_t{512} << 20) + 8 * file_weight_bytes;
}

// Constants computed while a model is converted. What is more, the model computes when it runs.
inline constexpr uint64_t kFoldedNodeBytes = uint64_t{256} << 20;
inline constexpr uint64_t kFoldedBytes = uint64_t{512} << 20;
inline constexpr uint64_t kFoldedOperations = uint64_t{1} << 32;

// The same while a file is read: nodes between constants cannot be left for later, since shapes may depend on them.
inline constexpr uint64_t kImportedNodeBytes = uint64_t{256} << 20;
inline constexpr uint64_t kImportedBytes = uint64_t{2} << 30;
inline constexpr uint64_t kImportedMacs = uint64_t{1} << 34;
// Constants that a file describes by a shape and a value (Fill, ScatterNd, zeros): all of them.
inline constexpr uint64_t kDescribedBytes = uint64_t{512} << 20;

// Sparse tensors are stored in full: at most so many times what the file has of them, or so many bytes.
inline constexpr uint64_t kSparseTimes = 256;
inline constexpr uint64_t kSparseBytes = uint64_t{64} << 10;

// Steps that the variants of a compiled model share are stored once but copied for each of them: all copies.
inline constexpr uint64_t kSharedStepBytes = uint64_t{256} << 20;

}  // namespace rk::budget
