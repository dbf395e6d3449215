// SPDX-License-Identifier: Apache-2.0
// What a chip's memory holds beside features in their native layout and weights: copies, scratch, settings. Found by
// asking the vendor's compiler for networks of one operator (docs/board-model.md).
#pragma once

#include <cstdint>

#include "target/target.h"

namespace rk::target {

// Which additions a convolution computes in its own step (docs/facts/small-chips.md, section 3).
enum class AddFusion : uint8_t {
  kAny,
  kWithoutActivation,  // Conv + Add, not Conv + Relu + Add
  kNone,
};

// Which activations that are not limits a convolution computes in its own int8 step (docs/facts/lookup-tables.md).
enum class ActivationFusion : uint8_t {
  kAny,       // by table, by a slope, and the Add behind a slope
  kOneSlope,  // LeakyRelu
  kNone,
};

// How outputs come into the order of the application.
enum class OutputCopy : uint8_t {
  kNone,  // the CPU does it
  kTransposed,  // the NPU, after all other steps: rows as channels; int8 four times where they fill blocks
  kNhwc,  // the NPU, after all other steps
};

// How a Transpose makes channels the last axis. Its result has rows and channels in full blocks.
enum class NhwcScratch : uint8_t {
  kNone,   // the CPU does it
  kPlain,  // what has no padding first; with more channels than a block the operand once more
  kTwice,  // the result's size, twice
};

// Attention over sequences of s: bytes = square * s * s + padded * s * (s up to 32) + row * s + fixed.
struct AttentionScratch {
  int square = 0, padded = 0, row = 0, fixed = 0;
};

// A Softmax over c numbers: bytes of a position = padded * 2 * (c up to 16) + blocks * 2 * (c up to 8) + fixed.
struct SoftmaxScratch {
  int padded = 0, blocks = 0, fixed = 0;
};

struct MemoryRules {
  AddFusion add_fusion = AddFusion::kAny;
  ActivationFusion activation_fusion = ActivationFusion::kAny;
  OutputCopy output_copy = OutputCopy::kNone;
  // Float16 features lie so many times behind an activation by table (Sigmoid, Tanh), behind one that its argument is
  // part of (Swish, Gelu, Elu), and in front of a normalization.
  int table_copies_f16 = 1, gate_copies_f16 = 1, norm_copies_f16 = 1;
  // Int8 features lie so many times behind such an activation that joins no convolution.
  int alone_copies_i8 = 1;
  int gray_lane_i8 = 0;  // weights of pictures of one channel, where it is not that of three
  NhwcScratch nhwc = NhwcScratch::kNone;
  // A depthwise int8 convolution that reads more bytes than this writes half a block of channels more. 0: another rule.
  int depthwise_whole_bytes_i8 = 0;
  bool depthwise_add = false;  // a depthwise convolution takes an Add into its own step too
  // DepthToSpace is a ConvTranspose by blocks of 2, 4 and 8; by others too where this holds, else the CPU does it.
  bool depth_to_space_any = true;
  // A ConvTranspose with more input than output channels writes a block of channels more.
  bool deconv_spare = false;
  // Linear Resize by factors that are no integers, or with aligned corners. False: the CPU does it.
  bool linear_any = false;
  bool reshape_scratch = false;  // batches and channels change places through copies
  // Kernels of more than 32 output channels of which 64 take more bytes run as two halves of the input channels, in
  // float16. 0: never.
  int deep_kernel_bytes_i8 = 0;
  AttentionScratch attention_i8, attention_f16;              // one head
  AttentionScratch attention_heads_i8, attention_heads_f16;  // several
  SoftmaxScratch softmax;
  // Settings beside the constants, more than MemoryModel has: LeakyRelu and PRelu, an operand that Add or Concat bring
  // to another scale, once where there is a Resize.
  int slope_bytes_i8 = 0, slope_bytes_f16 = 0, operand_bytes_i8 = 0, resize_bytes = 0;
};

const MemoryRules& memory_rules(const Target& target);

}  // namespace rk::target
