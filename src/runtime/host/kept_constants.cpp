// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/kept_constants.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/conv_f16.h"
#include "program/native_layout.h"
#include "target/target.h"

namespace rk::runtime::host {
namespace {

using program::Blob;
using program::Program;
using program::ProgramTensor;
using program::Step;

const ProgramTensor& operand(const Program& program, const Step& step, size_t i) {
  return program.main_variant().tensors[static_cast<size_t>(step.inputs[i])];
}

// A convolution with its weight, where that is what the packed form holds and nothing else.
bool is_whole_convolution(const Program& program, const Step& step) {
  if (!std::holds_alternative<program::ConvParams>(step.params)) return false;
  const ProgramTensor& weight = operand(program, step, 1);
  const DType input = operand(program, step, 0).dtype;
  const bool same = input == DType::kI8
                        ? weight.dtype == DType::kI8
                        : weight.dtype == DType::kF16 || weight.dtype == DType::kF32;
  return same && weight.is_constant();
}

bool can_unpack(DType input, const void* packed) {
  if (packed == nullptr) return false;
  if (input != DType::kI8) return true;
  return kernels::can_unpack_conv_i8(*static_cast<const kernels::PackedConvI8*>(packed));
}

// In the file's order. The offsets of an integer convolution are in its bias block, which is kept.
Result<std::vector<uint8_t>> unpack(const Program& program, const Step& step, const void* packed) {
  const ProgramTensor& weight = operand(program, step, 1);
  const auto elements = static_cast<size_t>(weight.shape.elements());
  if (operand(program, step, 0).dtype != DType::kI8) {
    std::vector<uint8_t> out(elements * byte_size(weight.dtype));
    const auto& form = *static_cast<const kernels::PackedConvF16*>(packed);
    if (weight.dtype == DType::kF16) {
      kernels::unpack_conv_f16(form, reinterpret_cast<uint16_t*>(out.data()));
    } else {
      kernels::unpack_conv_f16(form, reinterpret_cast<float*>(out.data()));
    }
    return out;
  }
  RK_ASSIGN(const target::Target* const target, target::find_target(program.target));
  const ProgramTensor& bias = operand(program, step, 2);
  const auto& form = *static_cast<const kernels::PackedConvI8*>(packed);
  RK_ASSIGN(const program::BiasBlock channels,
            program::unpack_bias(program.weights[static_cast<size_t>(bias.weight)].bytes,
                                 form.params.filter.out_channels, target->weights_i8.bias_group));
  std::vector<int8_t> plain(elements);
  kernels::unpack_conv_i8(form, channels.offset.data(), plain.data());
  if (weight.layout == program::Layout::kWeight)
    return program::pack_weights(plain, weight.shape, channels.offset, weight.native_shape);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(plain.data());
  return std::vector<uint8_t>(bytes, bytes + plain.size());
}

}  // namespace

std::vector<bool> recoverable_weights(const Program& program, const PackedConstants& constants) {
  std::vector<bool> out(program.weights.size(), false);
  for (const Step& step : program.main_variant().steps) {
    if (!is_whole_convolution(program, step)) continue;
    const ProgramTensor& weight = operand(program, step, 1);
    const auto at = static_cast<size_t>(weight.weight);
    const auto bytes = checked_byte_size({weight.dtype, weight.shape});
    const DType input = operand(program, step, 0).dtype;
    out[at] = can_unpack(input, constants.packed_conv(weight.weight, input)) && bytes.ok() &&
              program.weights[at].bytes.size() == *bytes;
  }
  return out;
}

Status keep_constants(Program& program, const std::vector<bool>& released,
                      const PackedConstants& constants) {
  const auto is_copied = [&](size_t i) {
    return !released[i] && program.weights[i].owner == nullptr && !program.weights[i].bytes.empty();
  };
  uint64_t total = 0;  // of bytes that are in memory
  for (size_t i = 0; i < program.weights.size(); ++i) {
    if (released[i]) program.weights[i] = {};
    const Tensor held =
        constants.tensor_of_bytes(static_cast<int32_t>(i), program.weights[i].bytes);
    if (!held.empty()) {
      const auto owner = std::make_shared<const Tensor>(held);
      program.weights[i] = {owner, owner->bytes()};
    }
    if (is_copied(i)) total += align_up<uint64_t>(program.weights[i].bytes.size(), 64);
  }
  RK_ASSIGN(Buffer copies, Buffer::try_make(total, total));
  const auto owner = std::make_shared<Buffer>(std::move(copies));
  size_t used = 0;
  for (size_t i = 0; i < program.weights.size(); ++i) {
    if (!is_copied(i)) continue;
    const ByteSpan from = program.weights[i].bytes;
    std::memcpy(owner->data() + used, from.data(), from.size());
    program.weights[i] = {owner, owner->span().subspan(used, from.size())};
    used += align_up(from.size(), size_t{64});
  }
  return ok_status();
}

Result<Program> restore_constants(const Program& program, const PackedConstants& constants) {
  Program out = program;
  for (const Step& step : program.main_variant().steps) {
    if (!is_whole_convolution(program, step)) continue;
    const int32_t weight = operand(program, step, 1).weight;
    Blob& blob = out.weights[static_cast<size_t>(weight)];
    if (!blob.bytes.empty()) continue;
    const DType input = operand(program, step, 0).dtype;
    RK_ASSIGN(std::vector<uint8_t> bytes,
              unpack(program, step, constants.packed_conv(weight, input)));
    blob = program::make_blob(std::move(bytes));
  }
  return out;
}

}  // namespace rk::runtime::host
