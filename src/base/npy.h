// SPDX-License-Identifier: Apache-2.0
// numpy's .npy files, versions 1 to 3. In memory an array is always in C order and little-endian,
// whatever the file says. The kind is numpy's letter, so that this file needs no dtypes of the
// graph: 'f' float (2, 4 or 8 bytes), 'i' and 'u' integers (1, 2, 4 or 8), 'b' bool (1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace rk {

struct NpyArray {
  char kind = 'f';
  int item_size = 4;
  std::vector<int64_t> shape;  // empty: a scalar
  std::vector<uint8_t> bytes;  // product of shape times item_size
};

// The bytes of a whole .npy file. `name` stands in front of messages. kInvalidArgument when they
// are damaged, end early or go on too long; kUnsupported for dtypes other than those above.
Result<NpyArray> decode_npy(ByteSpan file, std::string_view name);
Result<NpyArray> read_npy(const std::string& path);

// Version 1, byte for byte as numpy.save (1.23 and later) writes it. kInvalidArgument when shape
// and bytes disagree.
Result<std::vector<uint8_t>> encode_npy(const NpyArray& array);
Status write_npy(const std::string& path, const NpyArray& array);

}  // namespace rk
