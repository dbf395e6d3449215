// SPDX-License-Identifier: Apache-2.0
// What steps need of the chip's memory beside their operands. The sizes were found by asking the vendor's compiler for
// networks made to isolate one operator (docs/board-model.md).
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"
#include "target/target.h"

namespace rk::compiler {

// Bytes of scratch while a step runs; 0 for most.
uint64_t scratch_bytes(const target::Target& target, const program::Variant& variant,
                       const program::Step& step);

// A Transpose to channels last that the NPU does.
bool makes_channels_last(const target::Target& target, const program::Variant& variant,
                         const program::Step& step);

// How the chip resizes a picture.
enum class ResizeForm : uint8_t {
  kRepeats,  // pixels, by integers; or the CPU does it: the result is a plain feature
  kPlanes,   // each plane by itself: the result is that of a depthwise convolution
  kLinear,   // the same, from a copy of the operand with a border
};
ResizeForm resize_form(const target::Target& target, const program::Variant& variant,
                       const program::Step& step);

// Activations, by step, that have a place of their own: other than Relu and Clip, and not behind a convolution.
std::vector<bool> activations_alone(const target::Target& target, const program::Variant& variant);

// Bytes of the copies in which a chip hands a model's output over, all of them alive when the last step is done.
std::vector<uint64_t> output_copies(const target::Target& target,
                                    const program::ProgramTensor& output);

// Tensors that the chip stores larger than their native layout says: float16 features behind activations by table, what
// normalizations read, batches that changed places with channels; and smaller: operands of attention, which are laid
// out by sequence and depth. By tensor, after assign_layouts().
std::vector<uint64_t> stored_bytes(const target::Target& target, const program::Variant& variant);

// Steps that the chip runs as one attention: two products, scaling and Softmax between them. Tensors between them have
// no places of their own; scratch has.
struct AttentionRegion {
  std::vector<size_t> steps;   // in order
  std::vector<int32_t> inner;  // tensors
  uint64_t scratch_bytes = 0;
};
std::vector<AttentionRegion> attention_regions(const target::Target& target,
                                               const program::Variant& variant);

}  // namespace rk::compiler
