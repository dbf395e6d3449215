// SPDX-License-Identifier: Apache-2.0
#include "program/memory.h"

#include <algorithm>
#include <set>

#include "base/checked_math.h"
#include "program/cost.h"
#include "target/target.h"

namespace rk::program {
namespace {

bool is_counted(const ProgramTensor& tensor) {
  return tensor.kind == TensorKind::kNpuConstant || tensor.kind == TensorKind::kCpuConstant;
}

uint64_t commands_of(const target::Target& target, const Variant& variant) {
  uint64_t on_npu = 0;
  for (const Step& step : variant.steps) on_npu += step.processor == Processor::kNpu;
  return on_npu * static_cast<uint64_t>(target.memory.command_bytes);
}

// Activations that an int8 convolution looks up.
bool has_table(const Step& step, const ConvParams& conv) {
  return conv.lookup || step.type.find("Ex") != std::string::npos ||
         step.type.find("Sigmoid") != std::string::npos;
}

// What the chip keeps beside the constants of a model.
uint64_t extra_bytes(const target::MemoryModel& memory, const Variant& variant) {
  auto bytes = static_cast<uint64_t>(memory.fixed_bytes);
  for (const Step& step : variant.steps) {
    const auto* conv = std::get_if<ConvParams>(&step.params);
    if (step.processor != Processor::kNpu) continue;
    if (conv == nullptr) continue;
    const ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
    if (in.dtype == DType::kI8) {
      bytes += static_cast<uint64_t>(memory.conv_bytes_i8);
      if (has_table(step, *conv)) bytes += static_cast<uint64_t>(memory.table_bytes);
    } else if (conv->group > 1) {
      bytes += static_cast<uint64_t>(memory.depthwise_bytes_f16);
    }
  }
  return bytes;
}

// An average over a window runs as a depthwise convolution with weights of its own.
uint64_t average_bytes(const target::Target& target, const Variant& variant, const Step& step) {
  const auto* pool = std::get_if<PoolParams>(&step.params);
  if (pool == nullptr || pool->kind != PoolKind::kAverage) return 0;
  const ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  if (in.shape.rank() != 4) return 0;
  return target::weight_bytes(target, {.dtype = in.dtype == DType::kI8 ? DType::kI8 : DType::kF16,
                                       .in_channels = in.shape[1],
                                       .out_channels = in.shape[1],
                                       .kernel_h = pool->kernel.h,
                                       .kernel_w = pool->kernel.w,
                                       .group = in.shape[1]});
}

uint64_t largest_arena(const Program& program) {
  uint64_t bytes = 0;
  for (const Variant& variant : program.variants) bytes = std::max(bytes, variant.arena_bytes);
  return bytes;
}

}  // namespace

ChipMemory memory_of_file(const Program& program) {
  ChipMemory memory{.internal_bytes = largest_arena(program)};
  std::set<int32_t> of_others;  // constants that only further variants have, each once
  for (const Variant& variant : program.variants) {
    const bool first = &variant == &program.main_variant();
    for (const ProgramTensor& tensor : variant.tensors) {
      if (!is_counted(tensor)) continue;
      const bool seen = !of_others.insert(tensor.weight).second;
      if (first || !seen) memory.weight_bytes += align_up<uint64_t>(tensor.size_bytes, 64);
    }
  }
  return memory;
}

ChipMemory memory_of(const target::Target& target, const Program& program) {
  ChipMemory memory{.internal_bytes = largest_arena(program)};
  std::set<int32_t> counted;  // each constant once, whoever reads it
  for (const Variant& variant : program.variants) {
    for (const Step& step : variant.steps) {
      const auto* conv = std::get_if<ConvParams>(&step.params);
      if (step.processor != Processor::kNpu) continue;
      memory.weight_bytes += average_bytes(target, variant, step);
      if (conv == nullptr) continue;
      const auto geometry = conv_geometry(variant, step, *conv);
      if (!geometry ||
          !counted.insert(variant.tensors[static_cast<size_t>(step.inputs[1])].weight).second)
        continue;
      if (step.inputs.size() > 2 && step.inputs[2] != kNone)
        counted.insert(variant.tensors[static_cast<size_t>(step.inputs[2])].weight);
      memory.weight_bytes += target::weight_bytes(target, *geometry);
    }
    for (const ProgramTensor& tensor : variant.tensors) {
      if (!is_counted(tensor) || !counted.insert(tensor.weight).second) continue;
      memory.weight_bytes += align_up<uint64_t>(tensor.size_bytes, 64);
    }
    memory.command_bytes = std::max(memory.command_bytes, commands_of(target, variant));
  }
  memory.weight_bytes += extra_bytes(target.memory, program.main_variant());
  return memory;
}

uint64_t bytes_in_sram(const ProgramTensor& tensor, uint64_t sram_bytes) {
  if (tensor.kind != TensorKind::kInternal || tensor.offset_in_arena >= sram_bytes) return 0;
  return std::min(tensor.size_bytes, sram_bytes - tensor.offset_in_arena);
}

FeatureTraffic feature_traffic(const Variant& variant, uint64_t sram_bytes) {
  FeatureTraffic traffic;
  for (const Step& step : variant.steps) {
    for (const auto* tensors : {&step.inputs, &step.outputs}) {
      for (const int32_t index : *tensors) {
        if (index == kNone) continue;
        const ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
        if (tensor.is_constant()) continue;
        traffic.bytes += tensor.size_bytes;
        traffic.sram_bytes += bytes_in_sram(tensor, sram_bytes);
      }
    }
  }
  return traffic;
}

}  // namespace rk::program
