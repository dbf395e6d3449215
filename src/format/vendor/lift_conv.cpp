// SPDX-License-Identifier: Apache-2.0
// The convolution family. Geometry comes from the node's parameter table, weights and bias block from its constants,
// and the requantisation from the registers of its first task (docs/facts/container.md, 3.6 and 4.3).
#include <cmath>

#include "base/checked_math.h"
#include "base/half.h"
#include "format/vendor/lift_context.h"

namespace rk::format {
namespace {

using program::Activation;
using program::ConvParams;
using program::kNone;
using program::ProgramTensor;
using target::RegisterFile;
namespace reg = target::reg;

constexpr uint32_t kAluAdd = 2;  // *_ALU_ALGO

struct Operands {
  int32_t data = kNone, weight = kNone, bias = kNone, addend = kNone, out = kNone;
};

Result<Operands> find_operands(LiftContext& c) {
  const Operands o{c.input(0), c.input(1), c.input(2), c.input(3), c.node().outputs[0]};
  if (o.data == kNone || o.weight == kNone || !c.tensor(o.weight).is_constant()) {
    return unsupported("it has no constant weight");
  }
  if (c.tensor(o.data).shape.rank() != 4 || c.tensor(o.weight).shape.rank() != 4 ||
      c.tensor(o.out).shape.rank() != 4) {
    return unsupported("only two-dimensional convolutions are decoded");
  }
  return o;
}

Result<Window> find_window(LiftContext& c, const Operands& o) {
  WindowTexts texts;
  if (const auto* p = std::get_if<FileConvParams>(&c.node().params)) {
    texts.auto_pad = p->auto_pad;
    texts.kernel.assign(p->kernel_shape.begin(), p->kernel_shape.end());
    texts.stride.assign(p->strides.begin(), p->strides.end());
    texts.dilation.assign(p->dilations.begin(), p->dilations.end());
    texts.pads.assign(p->pads.begin(), p->pads.end());
  } else {
    return unsupported("its parameter table (kernel, stride, pads) is missing");
  }
  if (texts.kernel.empty()) {
    const Shape& weight = c.tensor(o.weight).shape;
    texts.kernel = {weight[2], weight[3]};
  }
  return make_window(texts, c.tensor(o.data).shape, c.tensor(o.out).shape);
}

// Read off the weight: the compiler may have spread a grouped weight over all channels.
Result<int32_t> find_group(LiftContext& c, const Operands& o) {
  const Shape& weight = c.tensor(o.weight).shape;
  const int64_t in = c.tensor(o.data).shape[1], out = c.tensor(o.out).shape[1];
  if (weight[0] == out && weight[1] == in) return 1;
  const bool per_channel =
      in == out && ((weight[0] == 1 && weight[1] == in) || (weight[0] == in && weight[1] == 1));
  if (per_channel) return static_cast<int32_t>(in);
  return unsupported(str("weight ", to_string(weight), " for ", in, " input and ", out,
                         " output channels: blocks of grouped convolutions are not known"));
}

Status refuse_stage(std::string_view what) {
  return unsupported(str("its register list uses ", what, ", which is not decoded"));
}

// Relu or clip of one stage of the DPU.
Status read_activation(bool relu, bool clip, int32_t limit, ConvParams& p) {
  if (!relu) return ok_status();
  if (p.activation != Activation::kNone) return refuse_stage("two activations before the addition");
  p.activation = clip ? Activation::kClip : Activation::kRelu;
  if (clip) p.clip_limit = limit;
  return ok_status();
}

Status read_bias_stage(const target::ConvRegisters& where, const RegisterFile& r, ConvParams& p) {
  if (r.is_on(reg::DPU_BS_CFG__BS_BYPASS)) return refuse_stage("no bias stage");
  if (r.is_on(reg::DPU_BS_CFG__BS_MUL_PRELU)) return refuse_stage("PRelu in the bias stage");
  if (r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS) || r.get(where.bias_operation) != kAluAdd) {
    return refuse_stage("a bias stage that does not add");
  }
  return read_activation(!r.is_on(reg::DPU_BS_CFG__BS_RELU_BYPASS),
                         r.is_on(reg::DPU_BS_CFG__BS_RELUX_EN),
                         r.get_signed(reg::DPU_BS_RELUX_CMP_VALUE), p);
}

Status read_norm_stage(const RegisterFile& r, ConvParams& p) {
  if (r.is_on(reg::DPU_BN_CFG__BN_BYPASS)) return ok_status();
  if (!r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS) || !r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS) ||
      r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU)) {
    return refuse_stage("arithmetic in the batch-norm stage");
  }
  return read_activation(!r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS),
                         r.is_on(reg::DPU_BN_CFG__BN_RELUX_EN),
                         r.get_signed(reg::DPU_BN_RELUX_CMP_VALUE), p);
}

Status read_elementwise_stage(const target::ConvRegisters& where, const RegisterFile& r,
                              bool has_addend, ConvParams& p) {
  const bool on = !r.is_on(reg::DPU_EW_CFG__EW_BYPASS);
  if (on && !r.is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS)) return refuse_stage("a lookup table");
  if (on && r.is_on(reg::DPU_EW_CFG__EW_RELUX_EN)) return refuse_stage("a clip after the addition");
  if (on && r.is_on(reg::DPU_EW_CFG__EW_MUL_PRELU)) return refuse_stage("element-wise PRelu");
  const bool adds = on && !r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS);
  if (adds != has_addend) {
    return refuse_stage(adds ? "an element-wise operand that the node does not have"
                             : "no element-wise operand although the node has one");
  }
  if (adds && (r.get(where.addend_operation) != kAluAdd || r.is_on(reg::DPU_EW_CFG__EW_OP_TYPE))) {
    return refuse_stage("an element-wise operation other than addition");
  }
  if (adds && r.is_on(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS)) p.addend = {0, {1, 0}};
  if (on && !r.is_on(reg::DPU_EW_CFG__EW_RELU_BYPASS)) p.post_activation = Activation::kRelu;
  return ok_status();
}

// Chips whose stage configuration is not known: the type says what is fused.
Status activations_from_type(const std::string& type, const LiftContext& c, ConvParams& p) {
  if (type == "Conv" || type == "ConvAdd") return ok_status();
  if (type == "ConvRelu") p.activation = Activation::kRelu;
  if (type == "ConvReluAdd") p.activation = Activation::kRelu;
  if (type == "ConvAddRelu") p.post_activation = Activation::kRelu;
  if (type == "ConvClip") {
    return unsupported(str("the register of the clip limit is not known on ", c.chip.name));
  }
  return ok_status();
}

Result<int32_t> read_multiplier_shift(LiftContext& c, const Task& task) {
  const target::ConvRegisters& where = *c.registers;
  if (where.multiplier_shift.offset != 0) {
    return static_cast<int32_t>(c.tasks.registers().get(where.multiplier_shift));
  }
  const auto table = c.lists.address_of(task, where.multiplier_table);
  const ByteSpan bytes = table ? c.bytes(table->tensor) : ByteSpan();
  if (!table || table->addend >= bytes.size()) {
    return unsupported("the table with the shift of its channel multipliers is missing");
  }
  return static_cast<int32_t>(bytes[table->addend]);
}

Status read_stages(LiftContext& c, const Task& task, bool has_addend, ConvParams& p) {
  const RegisterFile& r = c.tasks.registers();
  const target::ConvRegisters& where = *c.registers;
  p.output.scale = {static_cast<int32_t>(r.get(where.output_scale)),
                    static_cast<int32_t>(r.get(where.output_shift))};
  p.output.zero_point = r.get_signed(where.output_offset);
  if (p.output.scale.scale == 0) return refuse_stage("an output scale of 0");
  if (has_addend) {
    const auto offset = where.addend_offset_bits == 16
                            ? static_cast<int16_t>(r.get(where.addend_offset))
                            : r.get_signed(where.addend_offset);
    p.addend = {offset,
                {static_cast<int32_t>(r.get(where.addend_scale)),
                 static_cast<int32_t>(r.get(where.addend_shift))}};
  }
  RK_ASSIGN(p.multiplier_shift, read_multiplier_shift(c, task));
  if (!where.has_stages) return activations_from_type(c.node().type, c, p);
  if (r.is_on(where.truncate)) {
    return refuse_stage("CLIP_TRUNCATE (an accumulator that is shifted before the bias)");
  }
  if (r.is_on(reg::CNA_DCOMP_CTRL__DECOMP_CONTROL)) return refuse_stage("compressed weights");
  if (r.is_on(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP)) return refuse_stage("an output exponent");
  RK_TRY(read_bias_stage(where, r, p));
  RK_TRY(read_norm_stage(r, p));
  RK_TRY(read_elementwise_stage(where, r, has_addend, p));
  // Some lists leave the border register alone when nothing is padded.
  const program::Pads2& pads = p.pads;
  if (pads.top + pads.left + pads.bottom + pads.right > 0) {
    p.pad_value = static_cast<int8_t>(r.get(where.border));
  }
  return ok_status();
}

// Bias alone (per-layer weights): the offset o is one register, multipliers are absent. Brought to the form of a block.
Result<int32_t> bias_without_multipliers(LiftContext& c, const Operands& o) {
  const RegisterFile& r = c.tasks.registers();
  const auto channels = static_cast<size_t>(c.tensor(o.out).shape[1]);
  const ByteSpan bytes = c.bytes(o.bias);
  if (bytes.size() < channels * 4) {
    return invalid_model(str("bias '", c.tensor(o.bias).name, "' has ", bytes.size(), " bytes for ",
                             channels, " channels"));
  }
  if (!r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS))
    return refuse_stage("one multiplier for all channels");
  program::BiasBlock block;
  for (size_t i = 0; i < channels; ++i) {
    block.bias.push_back(load<int32_t>(bytes.data() + 4 * i));
    block.offset.push_back(static_cast<int16_t>(r.get(reg::DPU_BS_OW_OP__OW_OP)));
    block.multiplier.push_back(16384);
  }
  const target::WeightLayout& layout = c.chip.weights_i8;
  std::vector<uint8_t> packed =
      program::pack_bias(block, layout.bias_group, layout.bias_channel_align);
  const Shape shape{static_cast<int64_t>(packed.size() / 4)};
  return c.add_constant(c.tensor(o.bias).name + ".block", DType::kI32, shape, std::move(packed));
}

Status lift_integer(LiftContext& c, Operands o, ConvParams p) {
  if (c.registers == nullptr) {
    return unsupported(str("where ", c.chip.name, " keeps requantisation constants is not known"));
  }
  const Task* const task = c.tasks.next();
  if (task == nullptr ||
      (task->units & (kUnitCna | kUnitCore | kUnitDpu)) != (kUnitCna | kUnitCore | kUnitDpu)) {
    return unsupported(
        "its requantisation constants are missing: the file has no register list for it (container "
        "versions 1 and 2 keep lists in a form that is not decoded)");
  }
  if (o.bias == kNone || !c.tensor(o.bias).is_constant()) {
    return unsupported("an int8 convolution without a bias block is not known");
  }
  p.pad_value = c.tensor(o.data).zero_point;
  RK_TRY(read_stages(c, *task, o.addend != kNone, p));
  if (c.registers->has_stages) {
    constexpr uint32_t kBiasOnly = 1, kBiasOffsetMultiplier = 7;
    const uint32_t use = c.tasks.registers().get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE);
    if (use == kBiasOnly) {
      RK_ASSIGN(o.bias, bias_without_multipliers(c, o));
      p.multiplier_shift = 14;
    } else if (use != kBiasOffsetMultiplier) {
      return refuse_stage(str("bias block form ", use));
    }
  }
  std::vector<int32_t> inputs = {o.data, o.weight, o.bias};
  if (o.addend != kNone) inputs.push_back(o.addend);
  program::Step& step = c.add_step(std::move(inputs), {o.out}, p);
  const Shape& weight = c.tensor(o.weight).shape;
  const uint64_t taps = static_cast<uint64_t>(weight[2]) * static_cast<uint64_t>(weight[3]) *
                        static_cast<uint64_t>(p.group == 1 ? weight[1] : 1);
  step.macs =
      checked_mul(taps, static_cast<uint64_t>(c.tensor(o.out).shape.elements())).value_or(0);
  return ok_status();
}

// Two-byte lanes in blocks: the low and the high bytes are two weights of single bytes.
Result<std::vector<uint8_t>> unpack_f16(ByteSpan bytes, const ProgramTensor& weight) {
  std::vector<uint8_t> low(bytes.size() / 2), high(bytes.size() / 2);
  for (size_t i = 0; i < low.size(); ++i) {
    low[i] = bytes[2 * i];
    high[i] = bytes[2 * i + 1];
  }
  RK_ASSIGN(const std::vector<int8_t> plain_low,
            program::unpack_weights(low, weight.native_shape, weight.shape));
  RK_ASSIGN(const std::vector<int8_t> plain_high,
            program::unpack_weights(high, weight.native_shape, weight.shape));
  std::vector<uint8_t> out;
  out.reserve(plain_low.size() * 2);
  for (size_t i = 0; i < plain_low.size(); ++i) {
    out.push_back(static_cast<uint8_t>(plain_low[i]));
    out.push_back(static_cast<uint8_t>(plain_high[i]));
  }
  return out;
}

// One f32 per channel, whatever float the file has.
Result<int32_t> float_bias(LiftContext& c, const Operands& o) {
  const ProgramTensor& bias = c.tensor(o.bias);
  const auto channels = static_cast<size_t>(c.tensor(o.out).shape[1]);
  const ByteSpan bytes = c.bytes(o.bias);
  const size_t element = byte_size(bias.dtype);
  if (!is_float(bias.dtype) || element > 4 || bytes.size() < channels * element) {
    return unsupported(str("bias '", bias.name, "' of ", bytes.size(), " bytes of ",
                           to_string(bias.dtype), " for ", channels, " channels is not decoded"));
  }
  std::vector<uint8_t> out(channels * 4);
  for (size_t i = 0; i < channels; ++i) {
    const auto value = static_cast<float>(load_f64(bias.dtype, bytes.data() + i * element));
    std::memcpy(out.data() + 4 * i, &value, 4);
  }
  const std::string name = bias.name + ".f32";
  return c.add_constant(name, DType::kF32, {static_cast<int64_t>(channels)}, std::move(out));
}

Status lift_float(LiftContext& c, Operands o, ConvParams p) {
  const std::string& type = c.node().type;
  if (type == "ConvRelu") p.activation = Activation::kRelu;
  if (type == "ConvReluAdd") p.activation = Activation::kRelu;
  if (type == "ConvAddRelu") p.post_activation = Activation::kRelu;
  if (type == "ConvClip")
    return unsupported("the clip limit of a float16 convolution is not known");
  const ProgramTensor weight = c.tensor(o.weight);
  if (weight.dtype == DType::kF16 && weight.layout == program::Layout::kWeight) {
    RK_ASSIGN(std::vector<uint8_t> plain, unpack_f16(c.bytes(o.weight), weight));
    o.weight = c.add_constant(weight.name + ".plain", DType::kF16, weight.shape, std::move(plain));
  } else if (weight.layout == program::Layout::kWeight) {
    return unsupported(str("blocked ", to_string(weight.dtype), " weights are not decoded"));
  }
  if (o.bias != kNone) {
    RK_ASSIGN(o.bias, float_bias(c, o));
  }
  std::vector<int32_t> inputs = {o.data, o.weight};
  if (o.bias != kNone || o.addend != kNone) inputs.push_back(o.bias);
  if (o.addend != kNone) inputs.push_back(o.addend);
  c.add_step(std::move(inputs), {o.out}, p);
  return ok_status();
}

bool is_known_type(std::string_view type) {
  for (const std::string_view known :
       {"Conv", "ConvRelu", "ConvClip", "ConvAdd", "ConvAddRelu", "ConvReluAdd"}) {
    if (type == known) return true;
  }
  return false;
}

}  // namespace

Status lift_conv(LiftContext& c) {
  if (!is_known_type(c.node().type)) {
    return unsupported(
        "this fused form is not decoded; Conv, ConvRelu, ConvClip, ConvAdd, "
        "ConvAddRelu and ConvReluAdd are");
  }
  RK_ASSIGN(const Operands o, find_operands(c));
  RK_ASSIGN(const Window window, find_window(c, o));
  ConvParams p;
  p.kernel = window.kernel;
  p.stride = window.stride;
  p.dilation = window.dilation;
  p.pads = window.pads;
  RK_ASSIGN(p.group, find_group(c, o));
  if (c.is_i8(o.data)) return lift_integer(c, o, p);
  if (c.tensor(o.data).dtype == DType::kF16) return lift_float(c, o, p);
  return unsupported(
      str("convolutions of ", to_string(c.tensor(o.data).dtype), " are not decoded"));
}

}  // namespace rk::format
