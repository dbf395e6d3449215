// SPDX-License-Identifier: Apache-2.0
// How constants and features lie in the chip's memory: blocked weights, the bias block of a
// convolution, and the sizes of channel-blocked features. Packing is for files we write, unpacking
// for every file we read, the vendor's included.
//
// Note: a padded input lane of a weight block does not hold 0. The chip adds o[c]
// to every lane, so the lane holds -o[c] and cancels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "ir/type.h"
#include "program/program.h"
#include "target/target.h"

namespace rk::program {

// What decides the blocks of a weight.
enum class WeightUse {
  kDense,
  kPicture,    // first layer on a packed picture of 1, 3 or 4 channels
  kDepthwise,  // shape [1, C, KH, KW]
};

// Groups of OC1, IC1, KH, KW, OC2, IC2 for a weight of `shape` (OIHW), or empty when the chip's
// blocks for this use are not known; such a weight is written plain.
std::vector<int32_t> native_weight_shape(const target::WeightLayout& layout, const Shape& shape,
                                         WeightUse use);

// Plain OIHW int8 to blocks. `native_shape` must come from native_weight_shape() for the same
// shape; `offset` holds o per output channel. Padded lanes of a depthwise weight, which belong to no
// channel, hold what those of its first channel would.
std::vector<uint8_t> pack_weights(std::span<const int8_t> plain, const Shape& shape,
                                  std::span<const int16_t> offset,
                                  std::span<const int32_t> native_shape);

// Blocks back to plain OIHW. The shape of a depthwise weight may be [1, C, KH, KW] or
// [C, 1, KH, KW]. All arguments may come from a file: kInvalidModel when the blocks do not cover
// the shape or the bytes do not hold the blocks.
Result<std::vector<int8_t>> unpack_weights(ByteSpan bytes, std::span<const int32_t> native_shape,
                                           const Shape& shape);

// The same for elements of any size, which stay the bytes they are; blocks in rows are not looked for.
Result<std::vector<uint8_t>> unpack_weight_elements(ByteSpan bytes,
                                                    std::span<const int32_t> native_shape,
                                                    const Shape& shape, size_t element_bytes);

// The conditions of unpack_weights(), without unpacking.
Status check_native_weights(uint64_t size_bytes, std::span<const int32_t> native_shape,
                            const Shape& shape);

// Per output channel: bias, o (added to every weight of the channel) and the multiplier m.
struct BiasBlock {
  std::vector<int32_t> bias;
  std::vector<int16_t> offset;
  std::vector<int16_t> multiplier;
};

// Groups of `group` channels: int32 bias, int16 o, int16 m; the channel count is padded to
// `channel_align` with zeros.
std::vector<uint8_t> pack_bias(const BiasBlock& block, int group, int channel_align);
Result<BiasBlock> unpack_bias(ByteSpan bytes, int64_t channels, int group);

// The constants of an integer convolution step as kernels want them. The program must have passed
// verify().
struct ConvConstants {
  std::vector<int8_t> weights;  // plain, OIHW; IOHW for a transposed convolution
  BiasBlock channels;
};
Result<ConvConstants> unpack_conv_constants(const Program& program, const Variant& variant,
                                            const Step& step);

// Who made a feature or who reads it: decides its layout and its size in chip memory.
enum class FeatureUse {
  kInput,            // model input
  kConvOutput,       // written by a convolution
  kDepthwiseOutput,  // by a depthwise convolution or an average pooling, which runs as one
  kOther,
};

struct NativeFeature {
  Layout layout = Layout::kPlain;
  std::vector<int32_t> native_shape;
  uint64_t size_bytes = 0;
  uint32_t plane_align = 0;
  uint32_t width_align = 0;
};

// 4-D int8 and float16 features are channel-blocked, picture inputs are packed NHWC with aligned
// rows, everything else is plain. A model output written by a convolution shows the planes that
// were reserved, not those that are needed: pass is_model_output.
Result<NativeFeature> native_feature(const target::Target& target, DType dtype, const Shape& shape,
                                     FeatureUse use, bool is_model_output);

// True for the input shapes the chip reads as packed pictures.
bool is_picture(const Shape& shape);

}  // namespace rk::program
