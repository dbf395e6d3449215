// SPDX-License-Identifier: Apache-2.0
#include "program/memory.h"

#include <algorithm>
#include <set>

#include "base/checked_math.h"
#include "program/cost.h"
#include "target/memory_rules.h"

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

// Operands of an Add or a Concat that come to another scale on the way: all but one of a Concat, whose largest range is
// the result's. Whether scales really differ is not asked: without a dataset none do.
uint64_t rescaled(const Step& step) {
  if (const auto* sum = std::get_if<SumParams>(&step.params)) return sum->inputs.size();
  if (!std::holds_alternative<ConcatParams>(step.params)) return 0;
  return step.inputs.size() - 1;
}

// Channels that begin inside a block are moved to their place: behind a Concat once, at a Split for each end.
uint64_t realigned(const target::Target& target, const Variant& variant, const Step& step) {
  const auto* concat = std::get_if<ConcatParams>(&step.params);
  const auto* op = std::get_if<OpParams>(&step.params);
  const bool splits = op != nullptr && op->op == "Split";
  if (!splits && (concat == nullptr || concat->axis != 1)) return 0;
  const std::vector<int32_t>& parts = splits ? step.outputs : step.inputs;
  const Shape& whole =
      variant.tensors[static_cast<size_t>(splits ? step.inputs[0] : step.outputs[0])].shape;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i] == kNone || whole.rank() != 4) continue;
    const Shape& shape = variant.tensors[static_cast<size_t>(parts[i])].shape;
    const bool along_channels = shape.rank() == 4 && shape[1] != whole[1];
    if (along_channels && shape[1] % std::max(1, target.c2_i8) != 0) return splits ? 2 : 1;
  }
  return 0;
}

// float16 tensors that int8 ones became, and what only moves them. The vendor's compiler converts behind the moves, not
// before them: a Concat of such tensors is one of int8 to it.
std::vector<bool> converted_early(const Variant& variant) {
  std::vector<bool> converted(variant.tensors.size(), false);
  for (const Step& step : variant.steps) {
    const auto* op = std::get_if<OpParams>(&step.params);
    if (op == nullptr || step.inputs.empty() || step.inputs[0] == kNone) continue;
    const auto in = static_cast<size_t>(step.inputs[0]);
    const bool converts = step.type == "exDataConvert" && variant.tensors[in].dtype == DType::kI8;
    const bool moves = converted[in] && (op->op == "Reshape" || op->op == "Transpose");
    for (const int32_t out : step.outputs) converted[static_cast<size_t>(out)] = converts || moves;
  }
  return converted;
}

// In int8 a normalization's scale and variance are int16.
std::vector<bool> halved_constants(const Variant& variant) {
  std::vector<bool> halved(variant.tensors.size(), false);
  for (const Step& step : variant.steps) {
    const auto* op = std::get_if<OpParams>(&step.params);
    if (op == nullptr || op->op != "BatchNormalization" || step.inputs.size() < 5) continue;
    if (step.inputs[0] == kNone ||
        variant.tensors[static_cast<size_t>(step.inputs[0])].dtype != DType::kI8)
      continue;
    for (const size_t i : {size_t{1}, size_t{4}})
      if (step.inputs[i] != kNone) halved[static_cast<size_t>(step.inputs[i])] = true;
  }
  return halved;
}

// Slopes of a PRelu have two bytes a channel, in whatever type the features are.
std::vector<bool> slopes(const Variant& variant) {
  std::vector<bool> found(variant.tensors.size(), false);
  for (const Step& step : variant.steps) {
    if (step.type == "PRelu" && step.inputs.size() > 1 && step.inputs[1] != kNone)
      found[static_cast<size_t>(step.inputs[1])] = true;
  }
  return found;
}

// What the chip keeps beside the constants of a model.
uint64_t setting_bytes(const target::Target& target, const Variant& variant) {
  const target::MemoryModel& memory = target.memory;
  const target::MemoryRules& rules = target::memory_rules(target);
  const auto times = [](int bytes, uint64_t count) { return static_cast<uint64_t>(bytes) * count; };
  uint64_t bytes = times(memory.fixed_bytes, 1);
  bool resizes = false;
  const std::vector<bool> converted = converted_early(variant);
  for (const Step& step : variant.steps) {
    if (step.inputs.empty() || step.inputs[0] == kNone) continue;
    // Shapes that we leave to the CPU run on the NPU too.
    if (step.type == "Softmax" || step.type == "exSoftmax13") bytes += times(memory.table_bytes, 1);
    if (step.processor != Processor::kNpu) continue;
    const ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
    const Shape& out = variant.tensors[static_cast<size_t>(step.outputs[0])].shape;
    const bool i8 = in.dtype == DType::kI8;
    const bool repeats = repeats_pixels(variant, step);
    resizes |= repeats || std::holds_alternative<ResizeParams>(step.params);
    if (const auto* conv = std::get_if<ConvParams>(&step.params); conv != nullptr && !repeats) {
      const bool single = out.rank() == 4 && out[1] == 1;
      if (i8) bytes += times(memory.conv_bytes_i8, single ? 2 : 1);
      if (!i8 && conv->group > 1) bytes += times(memory.depthwise_bytes_f16, 1);
    }
    if (i8)
      bytes += times(rules.operand_bytes_i8, rescaled(step) + realigned(target, variant, step));
    // With the conversion behind it.
    if (i8 && made_convolution(target, variant, step)) bytes += times(memory.conv_bytes_i8, 1);
    if (std::holds_alternative<ConcatParams>(step.params) &&
        std::ranges::all_of(step.inputs, [&](int32_t index) {
          return index != kNone && converted[static_cast<size_t>(index)];
        }))
      bytes += times(rules.operand_bytes_i8, step.inputs.size());
    const ActivationForm form = activation_form(step);
    if (form == ActivationForm::kTable || form == ActivationForm::kGate)
      bytes += times(memory.table_bytes, 1);
    if (form == ActivationForm::kSlope)
      bytes += times(i8 ? rules.slope_bytes_i8 : rules.slope_bytes_f16, 1);
  }
  return bytes + (resizes ? times(rules.resize_bytes, 1) : 0);
}

int32_t weight_of(const Variant& variant, int32_t tensor) {
  return variant.tensors[static_cast<size_t>(tensor)].weight;
}

std::vector<bool> read_by_npu(const Variant& variant) {
  std::vector<bool> reads(variant.tensors.size(), false);
  for (const Step& step : variant.steps) {
    if (step.processor != Processor::kNpu) continue;
    for (const int32_t index : step.inputs)
      if (index != kNone) reads[static_cast<size_t>(index)] = true;
  }
  return reads;
}

bool has_integers(const Variant& variant) {
  return std::ranges::any_of(variant.tensors, [](const ProgramTensor& tensor) {
    return tensor.dtype == DType::kI8 && !tensor.is_constant();
  });
}

// The NPU has no float32: matrices lie in float16, operands of element-wise steps as features of the model's type.
uint64_t constant_bytes(const target::Target& target, const ProgramTensor& tensor, bool integers) {
  constexpr int64_t kPlaneAlign = 4;
  const int rank = tensor.shape.rank();
  const int64_t elements = tensor.shape.elements();
  if (tensor.dtype != DType::kF32 || rank < 2 || elements < 2) return tensor.size_bytes;
  if (rank == 2) return static_cast<uint64_t>(elements) * 2;
  const int64_t channels = std::max<int64_t>(1, tensor.shape[1]);
  const int64_t block = integers ? target.c2_i8 : target.c2_f16;
  const auto planes = checked_mul(static_cast<uint64_t>(align_up<int64_t>(channels, block)),
                                  static_cast<uint64_t>(align_up<int64_t>(
                                      std::max<int64_t>(1, elements / channels), kPlaneAlign)));
  return planes.value_or(tensor.size_bytes) * (integers ? 1 : 2);
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
      if (const auto made = made_convolution(target, variant, step)) {
        memory.weight_bytes += target::weight_bytes(target, *made);
        if (step.inputs.size() > 1) counted.insert(weight_of(variant, step.inputs[1]));
        continue;
      }
      const auto geometry = conv_geometry(variant, step);
      if (step.processor != Processor::kNpu || !geometry) continue;
      // An average has weights of its own, which are no constants of the Program.
      if (step.inputs.size() > 1) {
        if (!counted.insert(weight_of(variant, step.inputs[1])).second) continue;
        if (step.inputs.size() > 2 && step.inputs[2] != kNone)
          counted.insert(weight_of(variant, step.inputs[2]));
      }
      if (repeats_pixels(variant, step)) continue;
      memory.weight_bytes += target::weight_bytes(target, *geometry);
      if (const auto tiles = average_of_tiles(variant, step))
        memory.weight_bytes += target::weight_bytes(target, *tiles);
    }
    const std::vector<bool> on_npu = read_by_npu(variant), halved = halved_constants(variant),
                            slope = slopes(variant);
    const bool integers = has_integers(variant);
    for (size_t i = 0; i < variant.tensors.size(); ++i) {
      const ProgramTensor& tensor = variant.tensors[i];
      if (!is_counted(tensor) || !counted.insert(tensor.weight).second) continue;
      const uint64_t whole =
          on_npu[i] ? constant_bytes(target, tensor, integers) : tensor.size_bytes;
      const uint64_t bytes = slope[i]    ? 2 * static_cast<uint64_t>(tensor.shape.elements())
                             : halved[i] ? whole / 2
                                         : whole;
      memory.weight_bytes += align_up<uint64_t>(bytes, 64);
    }
    memory.command_bytes = std::max(memory.command_bytes, commands_of(target, variant));
  }
  memory.weight_bytes += setting_bytes(target, program.main_variant());
  return memory;
}

uint64_t bytes_in_sram(const ProgramTensor& tensor, uint64_t sram_bytes) {
  if (tensor.kind != TensorKind::kInternal || tensor.offset_in_arena >= sram_bytes) return 0;
  return std::min(tensor.size_bytes, sram_bytes - tensor.offset_in_arena);
}

MemoryTraffic memory_traffic(const Variant& variant, uint64_t sram_bytes) {
  MemoryTraffic traffic;
  for (const Step& step : variant.steps) {
    for (const auto* tensors : {&step.inputs, &step.outputs}) {
      for (const int32_t index : *tensors) {
        if (index == kNone) continue;
        const ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
        (tensor.is_constant() ? traffic.constant_bytes : traffic.feature_bytes) +=
            tensor.size_bytes;
        traffic.sram_bytes += bytes_in_sram(tensor, sram_bytes);
      }
    }
  }
  return traffic;
}

}  // namespace rk::program
