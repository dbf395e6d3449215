// SPDX-License-Identifier: Apache-2.0
// Add, Concat and Split. On RK3588, RK3566, RK3562 and RK3576 the DPU's registers hold each operand's
// offset and scale; where they are not known, constants are derived from the tensors' scales
// (docs/fidelity.md, "Vendor files").
#include <algorithm>
#include <cmath>

#include "format/vendor/lift_context.h"
#include "target/rk3562_registers.h"
#include "target/rk3576_registers.h"
#include "target/rv1106_registers.h"

namespace rk::format {
namespace {

using program::Activation;
using program::ConcatParams;
using program::InputStage;
using program::kNone;
using program::OutputStage;
using program::ProgramTensor;
using program::SumParams;
using target::RegisterFile;
namespace reg = target::reg;

constexpr uint32_t kAluAdd = 2;  // *_ALU_ALGO
constexpr ScaleShift kUnity{16384, 14};

bool has_rk3576_places(const LiftContext& c) {
  return c.model.platform == "rk3576" || c.model.platform == "rv1126b";
}
bool has_rv1106_places(const LiftContext& c) {
  return c.model.platform == "rv1106" || c.model.platform == "rv1103";
}
bool has_rk3562_places(const LiftContext& c) {
  return c.model.platform == "rk3562" || has_rk3576_places(c) || has_rv1106_places(c);
}

// The chip's stages are known, in the places of RK3588 or after translation.
bool knows_stages(const LiftContext& c) {
  return c.registers != nullptr && (c.registers->has_stages || has_rk3562_places(c));
}

// Registers of the task whose list was applied last, and where they are.
struct Stages {
  RegisterFile registers;
  const target::ConvRegisters* places = nullptr;
};
// RK3576: numbers of a stage in a constant of the file.
std::optional<target::StageNumbers> numbers_of(LiftContext& c, const Task& task,
                                               const target::RegisterField& use, uint16_t address) {
  const uint32_t rows = c.tasks.registers().get(use);
  if (rows == 0) return target::StageNumbers();
  const auto at = c.lists.address_of(task, address);
  const ByteSpan bytes = at ? c.bytes(at->tensor) : ByteSpan();
  if (!at || uint64_t{at->addend} + target::stage_bytes(rows) > bytes.size()) return std::nullopt;
  return target::read_stage(rows, bytes.subspan(at->addend));
}

std::optional<Stages> stages_of(LiftContext& c, const Task& task) {
  if (!has_rk3562_places(c)) return Stages{c.tasks.registers(), c.registers};
  RegisterFile raw = c.tasks.registers();
  if (has_rk3576_places(c)) {
    namespace here = target::rk3576_reg;
    const auto bias = numbers_of(c, task, here::kBiasUse, here::kBiasNumbers);
    const auto norm = numbers_of(c, task, here::kNormUse, here::kNormNumbers);
    if (!bias || !norm) return std::nullopt;
    auto form = target::rk3576_as_rk3562(raw, task.units, *bias, *norm);
    if (!form.ok()) return std::nullopt;
    raw = *std::move(form);
  }
  if (has_rv1106_places(c)) {
    auto form = target::rv1106_as_rk3562(raw, task.units);
    if (!form.ok()) return std::nullopt;
    raw = *std::move(form);
  }
  auto translated = target::rk3562_as_rk3588(raw, task.units);
  if (!translated.ok()) return std::nullopt;
  return Stages{*std::move(translated), target::conv_registers("rk3588")};
}

// The operand whose address a register of RK3588 takes.
std::optional<AddressWord> operand_of(const LiftContext& c, const Task& task, uint16_t offset) {
  if (has_rk3562_places(c) && !has_rv1106_places(c)) {
    for (const target::PlacedRegister& address : target::rk3562_addresses())
      if (address.rk3588 == offset) return c.lists.address_of(task, address.rk3562);
  }
  return c.lists.address_of(task, offset);
}

OutputStage read_output(const Stages& stages) {
  const RegisterFile& r = stages.registers;
  return {{static_cast<int32_t>(r.get(stages.places->output_scale)),
           static_cast<int32_t>(r.get(stages.places->output_shift))},
          r.get_signed(stages.places->output_offset)};
}

// The bias stage as a constant offset and multiplier; nothing when it does something else.
std::optional<InputStage> read_bias_stage(const Stages& stages) {
  const RegisterFile& r = stages.registers;
  InputStage stage{0, {1, 0}};
  if (r.is_on(reg::DPU_BS_CFG__BS_BYPASS)) return stage;
  if (!r.is_on(reg::DPU_BS_CFG__BS_RELU_BYPASS)) return std::nullopt;
  if (!r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS)) {
    const bool constant = !r.is_on(reg::DPU_BS_CFG__BS_ALU_SRC);
    if (!constant || r.get(stages.places->bias_operation) != kAluAdd) return std::nullopt;
    stage.offset = r.get_signed(reg::DPU_BS_ALU_CFG);
  }
  if (!r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS)) {
    if (r.is_on(reg::DPU_BS_MUL_CFG__BS_MUL_SRC)) return std::nullopt;
    stage.scale = {static_cast<int32_t>(r.get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND)),
                   static_cast<int32_t>(r.get(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE))};
  }
  return stage;
}

bool only_dpu(const Task* task) {
  return task != nullptr && (task->units & (kUnitCna | kUnitCore)) == 0 &&
         (task->units & (kUnitDpu | kUnitDpuRdma)) == (kUnitDpu | kUnitDpuRdma);
}

// Both operands' stages and the output's, from the DPU registers of the node's first task.
std::optional<SumParams> sum_from_registers(LiftContext& c, int32_t a, int32_t b) {
  const Task* const task = c.tasks.next();
  if (!only_dpu(task)) return std::nullopt;
  const auto stages = stages_of(c, *task);
  if (!stages) return std::nullopt;
  const RegisterFile& r = stages->registers;
  const auto source = operand_of(c, *task, reg::DPU_RDMA_RDMA_SRC_BASE_ADDR);
  const auto operand = operand_of(c, *task, reg::DPU_RDMA_RDMA_EW_BASE_ADDR);
  if (!source || !operand) return std::nullopt;
  const bool swapped = source->tensor == b && operand->tensor == a;
  if (!swapped && (source->tensor != a || operand->tensor != b)) return std::nullopt;
  const auto first = read_bias_stage(*stages);
  const bool adds =
      !r.is_on(reg::DPU_EW_CFG__EW_BYPASS) && !r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS) &&
      r.is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS) && !r.is_on(reg::DPU_EW_CFG__EW_RELUX_EN) &&
      !r.is_on(reg::DPU_EW_CFG__EW_OP_TYPE) && r.get(stages->places->addend_operation) == kAluAdd &&
      r.is_on(reg::DPU_BN_CFG__BN_BYPASS);
  if (!first || !adds) return std::nullopt;
  InputStage second{0, {1, 0}};
  if (!r.is_on(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS)) {
    second = {r.get_signed(reg::DPU_EW_CVT_OFFSET_VALUE),
              {static_cast<int32_t>(r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE)),
               static_cast<int32_t>(r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SHIFT))}};
  }
  SumParams p;
  p.inputs = {*first, second};
  if (swapped) std::swap(p.inputs[0], p.inputs[1]);
  p.output = read_output(*stages);
  if (!r.is_on(reg::DPU_EW_CFG__EW_RELU_BYPASS)) p.activation = Activation::kRelu;
  return p;
}

Result<SumParams> derived_sum(LiftContext& c, int32_t a, int32_t b, int32_t out) {
  SumParams p;
  for (const int32_t input : {a, b}) {
    RK_ASSIGN(const InputStage stage, derived_input_stage(c.tensor(input), c.tensor(out)));
    p.inputs.push_back(stage);
  }
  p.output = derived_output_stage(c.tensor(out));
  return p;
}

Status check_quantized(LiftContext& c, int32_t tensor) {
  if (c.is_i8(tensor)) return ok_status();
  return unsupported(str("operand '", c.tensor(tensor).name, "' is ",
                         to_string(c.tensor(tensor).dtype), " without a scale in the file"));
}

bool same_quantization(const ProgramTensor& a, const ProgramTensor& b) {
  return a.dtype == b.dtype && a.scale == b.scale && a.zero_point == b.zero_point;
}

// A task that only copies: (x + a) * scale / 2^shift + z as a stage in front of an output stage
// without a scale whose zero point is given. Nothing when it does something else.
std::optional<InputStage> copy_stage(LiftContext& c, const Task& task, int32_t zero_point) {
  if (!only_dpu(&task)) return std::nullopt;
  const auto stages = stages_of(c, task);
  if (!stages) return std::nullopt;
  const RegisterFile& r = stages->registers;
  const auto stage = read_bias_stage(*stages);
  const bool scales_only =
      r.is_on(reg::DPU_EW_CFG__EW_BYPASS) && r.is_on(reg::DPU_BN_CFG__BN_BYPASS);
  if (!stage || stage->scale != ScaleShift{1, 0} || !scales_only) return std::nullopt;
  const OutputStage output = read_output(*stages);
  InputStage copy{stage->offset, output.scale};
  if (output.scale == ScaleShift{1, 0}) {
    copy.offset += output.zero_point - zero_point;
  } else if (output.zero_point != zero_point) {
    return std::nullopt;
  }
  return copy;
}

// One copy with its own offset, scale and output offset per input.
std::optional<ConcatParams> concat_from_registers(LiftContext& c,
                                                  const std::vector<int32_t>& inputs, int32_t out) {
  ConcatParams p;
  p.inputs.resize(inputs.size());
  p.output = {kUnity, c.tensor(out).zero_point};
  std::vector<bool> found(inputs.size());
  bool identity = true;
  while (const Task* task = c.tasks.next()) {
    // Operands that do not fill their blocks are copied to scratch; a convolution then leaves out what is between them.
    const auto feature = operand_of(c, *task, reg::CNA_FEATURE_DATA_ADDR);
    if ((task->units & kUnitCna) != 0 && feature &&
        std::find(inputs.begin(), inputs.end(), feature->tensor) == inputs.end())
      continue;
    const auto source = operand_of(c, *task, reg::DPU_RDMA_RDMA_SRC_BASE_ADDR);
    const auto copy = copy_stage(c, *task, p.output.zero_point);
    if (!source || !copy) return std::nullopt;
    identity = identity && *copy == InputStage{-p.output.zero_point, {1, 0}};
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != source->tensor) continue;
      if (found[i] && !(p.inputs[i] == *copy)) return std::nullopt;
      p.inputs[i] = *copy;
      found[i] = true;
    }
  }
  if (std::find(found.begin(), found.end(), false) != found.end()) return std::nullopt;
  p.identity = identity;
  return p;
}

// The stage of each part, from the copies that write it.
std::optional<std::vector<InputStage>> split_from_registers(LiftContext& c,
                                                            const std::vector<int32_t>& parts) {
  std::vector<std::optional<InputStage>> found(parts.size());
  while (const Task* task = c.tasks.next()) {
    const auto to = operand_of(c, *task, reg::DPU_DST_BASE_ADDR);
    const auto part = to ? std::find(parts.begin(), parts.end(), to->tensor) : parts.end();
    if (part == parts.end()) return std::nullopt;
    // Channels in the middle of a block are rescaled with the others of the block; a convolution
    // then picks them.
    const auto stages = stages_of(c, *task);
    if (has_rk3562_places(c) && (task->units & kUnitCna) != 0 && stages &&
        read_output(*stages).scale == kUnity)
      continue;
    const auto copy = copy_stage(c, *task, c.tensor(*part).zero_point);
    auto& stage = found[static_cast<size_t>(part - parts.begin())];
    if (!copy || (stage && !(*stage == *copy))) return std::nullopt;
    stage = copy;
  }
  std::vector<InputStage> out;
  for (const auto& stage : found) {
    if (!stage) return std::nullopt;
    out.push_back(*stage);
  }
  return out;
}

Result<ConcatParams> derived_concat(LiftContext& c, const std::vector<int32_t>& inputs,
                                    int32_t out) {
  ConcatParams p;
  p.identity = std::all_of(inputs.begin(), inputs.end(), [&](int32_t i) {
    return same_quantization(c.tensor(i), c.tensor(out));
  });
  if (p.identity) return p;
  p.output = derived_output_stage(c.tensor(out));
  for (const int32_t input : inputs) {
    RK_TRY(check_quantized(c, input));
    RK_ASSIGN(const InputStage stage, derived_input_stage(c.tensor(input), c.tensor(out)));
    p.inputs.push_back(stage);
  }
  return p;
}

Result<int32_t> concat_axis(LiftContext& c, int rank) {
  int64_t axis = 0;
  if (const auto* p = std::get_if<FileConcatParams>(&c.node().params)) {
    axis = p->axis;
  } else if (const auto given = c.integer("axis")) {
    axis = *given;
  } else {
    return unsupported("its axis is missing");
  }
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank)
    return invalid_model(str("axis ", axis, " of ", rank, " dimensions"));
  return static_cast<int32_t>(axis);
}

}  // namespace

Status lift_sum(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(2));
  if (operands.size() > 2) return unsupported(str(operands.size(), " operands, two are known"));
  RK_ASSIGN(const int32_t a, c.plain(operands[0]));
  RK_ASSIGN(const int32_t b, c.plain(operands[1]));
  const int32_t out = c.output();
  const bool relu = c.node().type == "AddRelu";
  const bool same_shape =
      c.tensor(a).shape == c.tensor(out).shape && c.tensor(b).shape == c.tensor(out).shape;
  const bool integer = c.is_i8(a) && c.is_i8(out);
  const bool half = c.tensor(a).dtype == DType::kF16 && c.tensor(b).dtype == DType::kF16 &&
                    c.tensor(out).dtype == DType::kF16;
  if (!same_shape || (!integer && !half)) {
    if (!relu) return lift_operator(c);
    const int32_t sum = c.add_internal_f32(c.tensor(out).name + ".sum", c.tensor(out).shape);
    c.add_operator("Add", {a, b}, sum);
    c.add_operator("Relu", {sum}, out);
    return ok_status();
  }
  if (half) {
    c.add_step({a, b}, {out}, SumParams{{}, relu ? Activation::kRelu : Activation::kNone, {}});
    return ok_status();
  }
  if (!c.is_i8(b)) {
    if (relu) return check_quantized(c, b);
    return lift_operator(c);
  }
  if (knows_stages(c)) {
    if (auto p = sum_from_registers(c, operands[0], operands[1])) {
      c.add_step({a, b}, {out}, std::move(*p));
      return ok_status();
    }
  }
  RK_ASSIGN(SumParams p, derived_sum(c, a, b, out));
  if (relu) p.activation = Activation::kRelu;
  c.add_step({a, b}, {out}, std::move(p));
  return ok_status();
}

// The values move first, in the input's quantization; then a part with another one is rescaled as
// its copies do it.
Status lift_split(LiftContext& c) {
  RK_ASSIGN(std::vector<int32_t> inputs, plain_operands(c));
  if (inputs.empty() || inputs[0] == kNone) return unsupported("operand 0 is missing");
  const auto axis = c.integer("axis");
  if (!axis) return unsupported("its axis is not stored with the node");
  if (inputs.size() < 2) {
    const auto sizes = c.integers("split");
    if (!sizes) return unsupported("the sizes of its parts are not stored with the node");
    inputs.push_back(c.add_integers(c.tensor(c.output()).name + ".sizes", *sizes));
  }
  const int32_t in = inputs[0];
  const std::vector<int32_t> parts = outputs_of(c);
  const auto rescales = [&](int32_t part) {
    return part != kNone && c.is_i8(part) && !same_quantization(c.tensor(in), c.tensor(part));
  };
  const program::OpParams split{"Split", {{"axis", *axis}}};
  std::optional<std::vector<InputStage>> stages;
  if (c.is_i8(in) && knows_stages(c) && std::any_of(parts.begin(), parts.end(), rescales)) {
    stages = split_from_registers(c, parts);
  }
  if (!stages) {
    c.add_step(std::move(inputs), parts, split);
    return ok_status();
  }
  std::vector<int32_t> moved = parts;
  for (int32_t& part : moved) {
    if (!rescales(part)) continue;
    const Shape shape = c.tensor(part).shape;
    part = c.add_internal(c.tensor(part).name + ".part", in, shape);
  }
  c.add_step(std::move(inputs), moved, split);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (moved[i] == parts[i]) continue;
    ConcatParams copy;
    copy.axis = 0;
    copy.inputs = {(*stages)[i]};
    copy.output = {kUnity, c.tensor(parts[i]).zero_point};
    c.add_step({moved[i]}, {parts[i]}, std::move(copy));
  }
  return ok_status();
}

Status lift_concat(LiftContext& c) {
  const int32_t out = c.output();
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(1));
  RK_ASSIGN(const int32_t axis, concat_axis(c, c.tensor(out).shape.rank()));
  std::optional<ConcatParams> decoded;
  if (c.is_i8(out) && knows_stages(c)) {
    decoded = concat_from_registers(c, operands, out);
  }
  std::vector<int32_t> inputs;
  for (const int32_t operand : operands) {
    if (operand == kNone) return unsupported("an operand is missing");
    RK_ASSIGN(const int32_t input, c.plain(operand));
    inputs.push_back(input);
  }
  const auto is_of_output = [&](int32_t i) { return c.tensor(i).dtype == c.tensor(out).dtype; };
  if (!std::all_of(inputs.begin(), inputs.end(), is_of_output)) {
    c.add_step(std::move(inputs), {out},
               program::OpParams{"Concat", {{"axis", static_cast<int64_t>(axis)}}});
    return ok_status();
  }
  if (!decoded) {
    RK_ASSIGN(decoded, derived_concat(c, inputs, out));
  }
  decoded->axis = axis;
  c.add_step(std::move(inputs), {out}, std::move(*decoded));
  return ok_status();
}

}  // namespace rk::format
