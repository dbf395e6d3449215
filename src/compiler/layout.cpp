// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout.h"

#include <algorithm>
#include <set>

#include "base/checked_math.h"
#include "compiler/scratch.h"
#include "program/cost.h"
#include "program/native_layout.h"
#include "target/memory_rules.h"

namespace rk::compiler {

using program::FeatureUse;
using program::ProgramTensor;
using program::TensorKind;

namespace {

FeatureUse use_of(const target::Target& target, const program::Variant& variant,
                  const program::Step& step) {
  if (program::made_convolution(target, variant, step)) return FeatureUse::kConvOutput;
  if (const auto* conv = std::get_if<program::ConvParams>(&step.params)) {
    const Shape& in = variant.tensors[static_cast<size_t>(step.inputs[0])].shape;
    const bool depthwise = conv->group > 1 && in.rank() == 4 && conv->group == in[1];
    return depthwise ? FeatureUse::kDepthwiseOutput : FeatureUse::kConvOutput;
  }
  if (resize_form(target, variant, step) != ResizeForm::kRepeats)
    return FeatureUse::kDepthwiseOutput;
  const auto* pool = std::get_if<program::PoolParams>(&step.params);
  return pool != nullptr && pool->kind == program::PoolKind::kAverage ? FeatureUse::kDepthwiseOutput
                                                                      : FeatureUse::kOther;
}

// Operands joined along the channels keep their own blocks, the last one of each not always full.
Result<uint64_t> joined_bytes(const program::Variant& variant, const program::Step& step) {
  const ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  const int64_t block = out.native_shape.back();
  const int64_t channels = align_up<int64_t>(std::max<int64_t>(out.shape[1], 1), block);
  int64_t taken = 0;
  for (const int32_t index : step.inputs) {
    if (index == program::kNone) continue;
    const Shape& in = variant.tensors[static_cast<size_t>(index)].shape;
    taken += align_up<int64_t>(in.rank() == 4 ? in[1] : 0, block);
  }
  const auto size = checked_mul(out.size_bytes / static_cast<uint64_t>(channels),
                                static_cast<uint64_t>(std::max(taken, channels)));
  if (!size) return invalid_model(str("'", out.name, "' exceeds the chip's memory"));
  return *size;
}

// Channels that a transposed convolution writes past its own.
Result<uint64_t> with_spare(const target::Target& target, const program::Variant& variant,
                            const program::Step& step, const ProgramTensor& out) {
  const auto* conv = std::get_if<program::ConvParams>(&step.params);
  const bool made = conv == nullptr && program::made_convolution(target, variant, step).has_value();
  const bool transposed = conv != nullptr && conv->transposed && conv->group == 1;
  const auto* op = std::get_if<program::OpParams>(&step.params);
  if (!transposed && !(made && op->op == "DepthToSpace")) return out.size_bytes;
  const Shape& in = variant.tensors[static_cast<size_t>(step.inputs[0])].shape;
  if (in.rank() != 4 || in[1] <= out.shape[1]) return out.size_bytes;
  const int64_t block = std::max(1, out.dtype == DType::kI8 ? target.conv_output_channel_align_i8
                                                            : target.conv_output_channel_align_f16);
  const auto blocks = static_cast<uint64_t>(ceil_div<int64_t>(out.shape[1], block));
  const auto size = checked_mul(out.size_bytes / std::max<uint64_t>(1, blocks), blocks + 1);
  if (!size) return invalid_model(str("'", out.name, "' exceeds the chip's memory"));
  return *size;
}

// Channels that a depthwise convolution writes, where its operand's size decides.
Result<uint64_t> depthwise_bytes(const target::Target& target, const program::Variant& variant,
                                 const program::Step& step, const ProgramTensor& out) {
  const int whole = target::memory_rules(target).depthwise_whole_bytes_i8;
  const auto* conv = std::get_if<program::ConvParams>(&step.params);
  const bool internal = out.kind == TensorKind::kInternal && out.dtype == DType::kI8;
  if (whole == 0 || conv == nullptr || !internal ||
      use_of(target, variant, step) != FeatureUse::kDepthwiseOutput)
    return out.size_bytes;
  const Shape& in = variant.tensors[static_cast<size_t>(step.inputs[0])].shape;
  const int64_t align = std::max(1, target.memory.depthwise_align_i8), channels = out.shape[1];
  const auto had = static_cast<uint64_t>(
      std::max<int64_t>(1, target::depthwise_channels(target, out.dtype, channels)));
  const int64_t spare = channels > align && in.elements() > whole ? align / 2 : 0;
  const auto size = checked_mul(out.size_bytes / had,
                                static_cast<uint64_t>(align_up<int64_t>(channels, align) + spare));
  if (!size) return invalid_model(str("'", out.name, "' exceeds the chip's memory"));
  return *size;
}

Status copy_pooled(int copies, program::Variant& variant) {
  std::set<int32_t> pooled;
  for (const program::Step& step : variant.steps) {
    const auto* pool = std::get_if<program::PoolParams>(&step.params);
    if (pool == nullptr || pool->kind != program::PoolKind::kMax) continue;
    pooled.insert({step.inputs[0], step.outputs[0]});
  }
  for (const int32_t index : pooled) {
    ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
    if (tensor.kind != TensorKind::kInternal) continue;
    const auto size = checked_mul(tensor.size_bytes, static_cast<uint64_t>(copies));
    if (!size) return invalid_model(str("'", tensor.name, "' exceeds the chip's memory"));
    tensor.size_bytes = *size;
  }
  return ok_status();
}

}  // namespace

Status assign_layouts(const target::Target& target, program::Variant& variant) {
  std::vector<const program::Step*> writer(variant.tensors.size());
  for (const program::Step& step : variant.steps) {
    for (const int32_t i : step.outputs) writer[static_cast<size_t>(i)] = &step;
  }
  for (size_t i = 1; i < variant.tensors.size(); ++i) {
    ProgramTensor& tensor = variant.tensors[i];
    if (tensor.is_constant()) continue;
    const program::Step* step = writer[i];
    FeatureUse use = FeatureUse::kOther;
    if (tensor.kind == TensorKind::kInput) use = FeatureUse::kInput;
    if (step != nullptr) use = use_of(target, variant, *step);
    auto feature = program::native_feature(target, tensor.dtype, tensor.shape, use,
                                           tensor.kind == TensorKind::kOutput);
    if (!feature.ok()) return feature.status().with_context(str("tensor '", tensor.name, "'"));
    tensor.layout = feature->layout;
    tensor.native_shape = std::move(feature->native_shape);
    tensor.size_bytes = feature->size_bytes;
    tensor.plane_align = feature->plane_align;
    tensor.width_align = feature->width_align;
    const bool blocked = tensor.layout == program::Layout::kNc1hwc2;
    if (step != nullptr && blocked) {
      RK_ASSIGN(tensor.size_bytes, depthwise_bytes(target, variant, *step, tensor));
    }
    if (step != nullptr && blocked && target::memory_rules(target).deconv_spare) {
      RK_ASSIGN(tensor.size_bytes, with_spare(target, variant, *step, tensor));
      const int64_t block = tensor.shape[0] * tensor.shape[2] * tensor.shape[3] *
                            tensor.native_shape[4] * static_cast<int64_t>(byte_size(tensor.dtype));
      if (tensor.kind == TensorKind::kOutput && block != 0)
        tensor.native_shape[1] =
            static_cast<int32_t>(static_cast<int64_t>(tensor.size_bytes) / block);
    }
    if (step == nullptr || !blocked || tensor.kind != TensorKind::kInternal) continue;
    const auto* concat = std::get_if<program::ConcatParams>(&step->params);
    if (concat == nullptr || concat->axis != 1) continue;
    RK_ASSIGN(tensor.size_bytes, joined_bytes(variant, *step));
  }
  if (target.memory.pool_copies > 1) return copy_pooled(target.memory.pool_copies, variant);
  return ok_status();
}

}  // namespace rk::compiler
