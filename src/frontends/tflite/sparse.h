// SPDX-License-Identifier: Apache-2.0
// Constants that a file stores without their zeros: levels of a tree, each a dense axis or a compressed one, with the
// values at its leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/flat_reader.h"
#include "ir/tensor.h"

namespace rk::frontends::tflite {

// How a constant is stored: the axes in the order of the levels, outermost first. Axes past the tensor's rank are those
// inside a block.
struct Sparsity {
  struct Level {
    bool is_compressed = false;
    int64_t size = 0;  // of a dense level
    // Of a compressed level: the children of node n are at indices[segments[n]] to indices[segments[n + 1]].
    std::vector<int64_t> segments, indices;
  };
  std::vector<int32_t> order;      // axis of each level
  std::vector<int32_t> block_map;  // the tensor's axis of each axis inside a block
  std::vector<Level> levels;
};

// Table SparsityParameters.
Result<Sparsity> read_sparsity(const FlatTable& table);

// Writes the stored values into `full`, which holds zeros and has the tensor's shape and type.
Status expand(const Sparsity& sparsity, ByteSpan values, Tensor& full);

}  // namespace rk::frontends::tflite
