// SPDX-License-Identifier: Apache-2.0
// Int8 weights of convolutions as some chips read them in coded form (config's compress_weight):
// several streams, each with a header and entropy-coded differences from one value
// (docs/facts/container.md, section 4.5). Differences wrap around within a byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "target/target.h"

namespace rk::program {

// Bytes of the blocks that a native weight shape stands for: groups of OC1, IC1, KH, KW, OC2, IC2. kInvalidModel when it
// is no such list or stands for more than one object may have.
Result<uint64_t> native_weight_bytes(std::span<const int32_t> native_shape);

// The `size` bytes of blocks that `coded` stands for. kInvalidModel when the streams are damaged, kUnsupported when they
// are of a form that no known file has.
Result<std::vector<uint8_t>> decode_weights(target::WeightCode code, ByteSpan coded, uint64_t size);

struct CodedStream {
  uint32_t begin = 0;         // in the code, a multiple of 64
  uint32_t header_bytes = 0;  // the list of runs included
  uint32_t data_bytes = 0;    // in words of four bytes
};

struct CodedWeights {
  std::vector<uint8_t> bytes;
  std::vector<CodedStream> streams;
};

// The code of `blocks`; decode_weights() gives them back. It can be longer than they are.
// kUnsupported where the chip has no code, or none for so many bytes.
Result<CodedWeights> encode_weights(target::WeightCode code, ByteSpan blocks);

}  // namespace rk::program
