// SPDX-License-Identifier: Apache-2.0
// Weights and bias blocks of vendor convolutions that a Program cannot take as they lie in the file: rows of a picture's
// first layer, depthwise weights with their offsets between them, the bias blocks of chips and forms other than the
// dense per-channel one, turned kernels of transposed convolutions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "program/native_layout.h"
#include "target/registers.h"

namespace rk::format {

// A picture's first layer in rows: per output block [KH][block][KW padded to 4][lanes]. Elements stay bytes; plain OIHW.
Result<std::vector<uint8_t>> unpack_picture_rows(ByteSpan bytes,
                                                 std::span<const int32_t> native_shape,
                                                 const Shape& shape, size_t element_bytes);

// Depthwise int8 weights [1, C, KH, KW] whose offsets stand between them.
struct DepthwiseWeights {
  std::vector<uint8_t> weights;  // plain
  std::vector<int16_t> offset;   // per channel
};
Result<DepthwiseWeights> unpack_depthwise(ByteSpan bytes, std::span<const int32_t> native_shape,
                                          const Shape& shape, target::DepthwiseOffsets form);

// What a bias block holds beside the biases.
enum class BiasForm { kAll, kWithoutOffset, kAlone };
// Values that a form does not hold are 0 (offset) and 0 (multiplier): the caller knows them from elsewhere.
Result<program::BiasBlock> read_bias_block(ByteSpan bytes, int64_t channels,
                                           const target::ConvRegisters& chip, BiasForm form);

// OIHW blocks of a transposed convolution to ONNX's IOHW, both kernel axes turned.
std::vector<uint8_t> turn_kernels(const std::vector<uint8_t>& oihw, const Shape& oihw_shape,
                                  size_t element_bytes);

}  // namespace rk::format
