// SPDX-License-Identifier: Apache-2.0
// The convolution family. Geometry comes from the node's parameter table (from registers in container 0x1004), weights
// and bias block from its constants, and the requantization from the registers of its first convolving task (container
// notes, sections 3.6 and 4.3). What is fused is in the type's name: Conv, then what follows from left to right.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "base/fixed_point.h"
#include "base/half.h"
#include "base/log.h"
#include "format/vendor/convolution.h"

namespace rk::format {
namespace {

using program::Activation;
using program::ConvParams;
using program::kNone;
using program::Layout;
using program::ProgramTensor;
using target::RegisterFile;
namespace reg = target::reg;

constexpr uint32_t kAluAdd = 2;  // *_ALU_ALGO

using Operands = ConvOperands;

// "ConvReluAdd" -> Relu, Add. Longer names first: HardSigmoid is not Sigmoid.
Result<std::vector<std::string>> fused_names(const std::string& type) {
  constexpr std::string_view kKnown[] = {"HardSigmoid", "LeakyRelu", "HardSwish", "Transpose",
                                         "ExSwish",     "Softplus",  "Sigmoid",   "ExGelu",
                                         "ExMish",      "PRelu",     "Relu",      "Clip",
                                         "Tanh",        "Elu",       "Add",       "Mul"};
  std::string text = type.substr(4);  // after Conv
  // "ConvExSwish", but "ConvTransposeexSwish".
  for (size_t at = text.find("ex"); at != std::string::npos; at = text.find("ex", at))
    text[at] = 'E';
  std::string_view rest = text;
  std::vector<std::string> out;
  while (!rest.empty()) {
    const auto found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](std::string_view name) { return rest.starts_with(name); });
    if (found == std::end(kKnown)) {
      return unsupported(str("'", rest, "' after a convolution is not decoded"));
    }
    out.emplace_back(*found);
    rest.remove_prefix(found->size());
  }
  return out;
}

Result<Operands> find_operands(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> all, c.operands(2));
  Operands o;
  o.data = all[0];
  o.weight = all[1];
  if (all.size() > 2) o.bias = all[2];
  if (all.size() > 3) o.others.assign(all.begin() + 3, all.end());
  o.out = c.output();
  if (c.tensor(o.weight).is_constant() && c.bytes(o.weight).empty()) {
    return unsupported(
        "its weights are not in the file (remove_weight at the vendor's converter): lending "
        "weights "
        "to such a file is not offered, convert the model with its weights");
  }
  if (c.tensor(o.data).shape.rank() != 4 || c.tensor(o.weight).shape.rank() != 4 ||
      c.tensor(o.out).shape.rank() != 4) {
    return unsupported("only two-dimensional convolutions are decoded");
  }
  if (c.tensor(o.data).shape.elements() < 1 || c.tensor(o.out).shape.elements() < 1) {
    return invalid_model("a convolution of nothing");
  }
  return o;
}

// In container 0x1004: from the registers. Pads at the end are what the output's extent needs.
Result<Window> register_window(LiftContext& c, const Convolution& v) {
  const Operands& o = v.o;
  if (c.registers == nullptr || v.task == nullptr || c.registers->geometry.stride_x.offset == 0) {
    return unsupported("kernel, stride and pads are in no register that is known on this chip");
  }
  const RegisterFile& r = c.tasks.registers();
  const target::GeometryRegisters& g = c.registers->geometry;
  const auto get = [&](const target::RegisterField& field) { return int64_t{r.get(field)}; };
  WindowTexts texts;
  texts.kernel = {get(g.kernel_h) + g.kernel_less, get(g.kernel_w) + g.kernel_less};
  texts.stride = {get(g.stride_y), get(g.stride_x)};
  texts.dilation = {get(g.dilation_y) + 1, get(g.dilation_x) + 1};
  texts.pads = {get(g.pad_top), get(g.pad_left), 0, 0};
  const Shape &in = c.tensor(o.data).shape, &out = c.tensor(o.out).shape;
  if (v.p.transposed) texts.stride = {get(g.deconv_y) + 1, get(g.deconv_x) + 1};
  for (int axis = 0; axis < 2; ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (v.p.transposed) {
      // A convolution of the spread picture: its pads are what the model's leave of the kernel.
      const int64_t window = (texts.kernel[i] - 1) * texts.dilation[i];
      texts.pads[i] = window - texts.pads[i];
      texts.pads[2 + i] =
          (in[2 + axis] - 1) * texts.stride[i] + window + 1 - texts.pads[i] - out[2 + axis];
      continue;
    }
    const int64_t reach = (out[2 + axis] - 1) * texts.stride[i] +
                          (texts.kernel[i] - 1) * texts.dilation[i] + 1 - texts.pads[i];
    texts.pads[2 + i] = std::max<int64_t>(0, reach - in[2 + axis]);
  }
  return make_window(texts, in, out);
}

Result<Window> find_window(LiftContext& c, const Convolution& v) {
  const Shape &in = c.tensor(v.o.data).shape, &out = c.tensor(v.o.out).shape;
  if (const auto* p = std::get_if<FileConvParams>(&c.node().params)) {
    WindowTexts texts;
    texts.auto_pad = p->auto_pad;
    texts.kernel.assign(p->kernel_shape.begin(), p->kernel_shape.end());
    texts.stride.assign(p->strides.begin(), p->strides.end());
    texts.dilation.assign(p->dilations.begin(), p->dilations.end());
    texts.pads.assign(p->pads.begin(), p->pads.end());
    if (texts.kernel.empty()) {
      const Shape& weight = c.tensor(v.o.weight).shape;
      texts.kernel = {weight[2], weight[3]};
    }
    return make_window(texts, in, out);
  }
  if (v.p.transposed && c.integers("kernel_shape")) return attribute_window(c, in, out);
  // A transposed convolution with an activation has no attributes.
  if (c.model.small || v.p.transposed) return register_window(c, v);
  return unsupported("its parameter table (kernel, stride, pads) is missing");
}

// Read off the weight: the compiler may have spread a grouped weight over all channels.
Result<int32_t> find_group(LiftContext& c, const Convolution& v) {
  const Shape& weight = c.tensor(v.o.weight).shape;
  const int64_t in = c.tensor(v.o.data).shape[1], out = c.tensor(v.o.out).shape[1];
  const bool per_channel =
      in == out && ((weight[0] == 1 && weight[1] == in) || (weight[0] == in && weight[1] == 1));
  if (v.p.transposed) {
    const bool by_register = !c.integers("kernel_shape") && c.registers != nullptr &&
                             v.task != nullptr && c.registers->geometry.depthwise.offset != 0 &&
                             c.tasks.registers().get(c.registers->geometry.depthwise) != 0;
    if (per_channel && in > 1 && (by_register || c.integer("group").value_or(1) == in))
      return static_cast<int32_t>(in);
    if (weight[0] == in && weight[1] == out) return 1;
  } else {
    if (weight[0] == out && weight[1] == in) return 1;
    if (per_channel) return static_cast<int32_t>(in);
  }
  return unsupported(str("weight ", to_string(weight), " for ", in, " input and ", out,
                         " output channels: blocks of grouped convolutions are not known"));
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

// What the output stage makes of a sum.
int64_t stored_value(const ConvParams& p, int32_t sum) {
  const int64_t scaled = scale_round(sum, p.output.scale.scale, p.output.scale.shift);
  return std::clamp<int64_t>(scaled + p.output.zero_point, INT8_MIN, INT8_MAX);
}

// Returns what the element-wise stage has to add again: the low end of a Clip, else 0.
Result<int32_t> read_norm_stage(const RegisterFile& r, ConvParams& p) {
  if (r.is_on(reg::DPU_BN_CFG__BN_BYPASS)) return 0;
  if (shifts_only(r)) {
    // A slope of 1: both sides of zero leave the stage by the shift.
    p.slope = program::SlopeStage{
        static_cast<int32_t>(r.get(reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG)),
        static_cast<int32_t>(r.get(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE)),
        static_cast<int32_t>(r.get(reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG)),
        {1}};
    return 0;
  }
  // A Clip is programmed as max(v - low, 0), at most high - low, then + low.
  const bool adds = !r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS) &&
                    (r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC) || r.get(reg::DPU_BN_ALU_CFG) != 0);
  const bool clips =
      !r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS) && r.is_on(reg::DPU_BN_CFG__BN_RELUX_EN);
  if ((adds && (!clips || r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC))) ||
      !r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS) || r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU)) {
    return refuse_stage("arithmetic in the batch-norm stage");
  }
  const int32_t limit = r.get_signed(reg::DPU_BN_RELUX_CMP_VALUE);
  if (adds) {
    const int64_t low = -int64_t{r.get_signed(reg::DPU_BN_ALU_CFG)}, high = low + limit;
    if (low < INT32_MIN || low > INT32_MAX || high < low || high > INT32_MAX)
      return refuse_stage("a clip out of the range of sums");
    // Its ends are those of the output's type: it does nothing that storing does not do.
    if (stored_value(p, static_cast<int32_t>(low)) == INT8_MIN &&
        stored_value(p, static_cast<int32_t>(high)) == INT8_MAX) {
      return static_cast<int32_t>(low);
    }
    return refuse_stage("a clip narrower than its output, with a low end other than 0");
  }
  RK_TRY(read_activation(!r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS),
                         r.is_on(reg::DPU_BN_CFG__BN_RELUX_EN), limit, p));
  return 0;
}

Status read_elementwise_stage(const target::ConvRegisters& where, const RegisterFile& r,
                              bool has_addend, int32_t restored, ConvParams& p) {
  const bool on = !r.is_on(reg::DPU_EW_CFG__EW_BYPASS);
  if (on && !r.is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS)) return refuse_stage("a lookup table");
  if (on && r.is_on(reg::DPU_EW_CFG__EW_RELUX_EN)) return refuse_stage("a clip after the addition");
  if (on && r.is_on(reg::DPU_EW_CFG__EW_MUL_PRELU)) return refuse_stage("element-wise PRelu");
  const bool adds_nothing = !r.is_on(reg::DPU_EW_CFG__EW_OP_SRC) &&
                            r.get_signed(reg::DPU_EW_OP_VALUE_0) == restored && !has_addend;
  if (restored != 0 && (!on || !adds_nothing || r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS) ||
                        r.get(where.addend_operation) != kAluAdd)) {
    return refuse_stage("a clip whose low end is not added again");
  }
  const bool adds = on && !r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS) && !adds_nothing;
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
void activations_from_type(const Convolution& v, ConvParams& p) {
  bool added = false;
  for (const std::string& name : v.fused) {
    if (name == "Add") added = true;
    if (name == "Relu") (added ? p.post_activation : p.activation) = Activation::kRelu;
    if (name == "Clip") p.activation = Activation::kClip;
  }
}

// A low end other than 0 is taken where the clip does nothing that storing does not do.
Status read_clip(const target::ConvRegisters& where, const RegisterFile& r, ConvParams& p) {
  p.clip_limit = r.get_signed(where.clip_limit);
  if (where.clip_low == 0) {
    // What is below the stored range cannot be seen, wherever the low end is.
    return p.output.zero_point == INT8_MIN ? ok_status()
                                           : refuse_stage("a clip whose low end is not known");
  }
  const int32_t low = r.get_signed(where.clip_low);
  if (low == 0) return ok_status();
  const int64_t high = int64_t{low} + p.clip_limit;
  if (high < low || high > INT32_MAX || stored_value(p, low) != INT8_MIN ||
      stored_value(p, static_cast<int32_t>(high)) != INT8_MAX) {
    return refuse_stage("a clip narrower than its output, with a low end other than 0");
  }
  p.activation = Activation::kNone;
  return ok_status();
}

// The table in memory that the register names.
Result<ByteSpan> table_at(LiftContext& c, const Task& task, uint16_t offset) {
  const auto table = c.lists.address_of(task, offset);
  const ByteSpan bytes = table ? c.bytes(table->tensor) : ByteSpan();
  if (!table || uint64_t{table->addend} + 2 > bytes.size())
    return unsupported("a table with constants of its stages is missing");
  return bytes.subspan(table->addend);
}

// That where RK3576 and RV1126B keep the shift of multipliers, or the one weight offset of a layer.
Result<ByteSpan> multiplier_table(LiftContext& c, const Task& task) {
  return table_at(c, task, c.registers->multiplier_table);
}

// Such a table of a layer whose channels share a multiplier: weight offset (unless a register holds it), multiplier and
// shifts, 16 bytes each.
struct LayerTable {
  int16_t multiplier;
  uint8_t positive_shift, negative_shift;
};
Result<LayerTable> layer_table(LiftContext& c, const Convolution& v) {
  constexpr size_t kPart = 16;
  RK_ASSIGN(const ByteSpan table, multiplier_table(c, *v.task));
  const bool has_offset = v.p.group == 1 || c.registers->depthwise_layer_offset.offset == 0;
  const size_t multiplier = has_offset ? kPart : 0, shifts = multiplier + kPart;
  if (table.size() < shifts + 2)
    return unsupported(str("its table of ", table.size(), " bytes has no multiplier of the layer"));
  return LayerTable{load<int16_t>(table.data() + multiplier), table[shifts], table[shifts + 1]};
}

Result<int32_t> read_multiplier_shift(LiftContext& c, const Task& task) {
  const target::ConvRegisters& where = *c.registers;
  if (where.multiplier_shift.offset != 0) {
    return static_cast<int32_t>(c.tasks.registers().get(where.multiplier_shift));
  }
  RK_ASSIGN(const ByteSpan table, multiplier_table(c, task));
  return static_cast<int32_t>(table[0]);
}

// LeakyRelu, PRelu: the two sides of zero leave the bias stage by different shifts.
Result<program::SlopeStage> read_slope_stage(LiftContext& c, const Convolution& v) {
  const target::ConvRegisters& where = *c.registers;
  const RegisterFile& r = c.tasks.registers();
  // A PRelu with one slope for all channels is programmed as a LeakyRelu.
  const bool one_slope = v.has("LeakyRelu") || (!v.o.others.empty() &&
                                                c.tensor(v.o.others.front()).shape.elements() == 1);
  program::SlopeStage stage;
  if (where.negative_shift.offset != 0) {
    const auto shift = [&](const target::RegisterField& field) {
      return field.offset == 0 ? 0 : static_cast<int32_t>(r.get(field));
    };
    stage.negative_multiplier_shift = shift(where.negative_shift);
    stage.positive_shift = shift(where.slope_positive_shift);
    stage.negative_shift = shift(where.slope_shift);
    if (one_slope) {
      stage.factor = {static_cast<int16_t>(r.get(where.slope))};
      return stage;
    }
  } else if (where.multiplier_table != 0 && v.task != nullptr) {
    // RK3576 and RV1126B: both shifts lie side by side in one table, the slope opens another.
    RK_ASSIGN(const BiasForm form, bias_form(c));
    if (form == BiasForm::kAlone) {
      RK_ASSIGN(const LayerTable table, layer_table(c, v));
      stage.negative_multiplier_shift = table.negative_shift;
    } else {
      RK_ASSIGN(const ByteSpan shifts, multiplier_table(c, *v.task));
      stage.negative_multiplier_shift = shifts[1];
    }
    if (one_slope) {
      RK_ASSIGN(const ByteSpan slope, table_at(c, *v.task, where.lookup.record_table));
      stage.factor = {load<int16_t>(slope.data())};
      return stage;
    }
  } else {
    return unsupported(str("where ", c.chip.name, " keeps the slope below zero is not known"));
  }
  const auto channels = static_cast<size_t>(c.tensor(v.o.out).shape[1]);
  const int32_t slopes = v.o.others.empty() ? kNone : v.o.others.front();
  const ByteSpan bytes =
      slopes != kNone && c.tensor(slopes).is_constant() ? c.bytes(slopes) : ByteSpan();
  if (bytes.size() < channels * 2 || c.tensor(slopes).dtype != DType::kI16) {
    return unsupported("its int16 slopes are missing");
  }
  for (size_t i = 0; i < channels; ++i) stage.factor.push_back(load<int16_t>(bytes.data() + 2 * i));
  return stage;
}

// Stages of RK3588 and RK3566, checked bit by bit.
Status read_known_stages(LiftContext& c, const Convolution& v, ConvParams& p) {
  const RegisterFile& r = c.tasks.registers();
  const target::ConvRegisters& where = *c.registers;
  if (r.is_on(reg::CNA_DCOMP_CTRL__DECOMP_CONTROL) != c.had_code(v.o.weight))
    return refuse_stage("compressed weights");
  if (r.is_on(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP)) return refuse_stage("an output exponent");
  RK_TRY(read_bias_stage(where, r, p));
  if (!p.lookup && !p.slope) {
    RK_ASSIGN(const int32_t restored, read_norm_stage(r, p));
    RK_TRY(read_elementwise_stage(where, r, v.addend() != kNone, restored, p));
  }
  // Some lists leave the border register alone when nothing is padded.
  const program::Pads2& pads = p.pads;
  if (pads.top + pads.left + pads.bottom + pads.right > 0) {
    p.pad_value = static_cast<int8_t>(r.get(where.border));
  }
  return ok_status();
}

Status read_stages(LiftContext& c, const Convolution& v, ConvParams& p) {
  const RegisterFile& r = c.tasks.registers();
  const target::ConvRegisters& where = *c.registers;
  p.output.scale = {static_cast<int32_t>(r.get(where.output_scale)),
                    static_cast<int32_t>(r.get(where.output_shift))};
  p.output.zero_point = r.get_signed(where.output_offset);
  if (p.output.scale.scale == 0) return refuse_stage("an output scale of 0");
  if (v.addend() != kNone) {
    if (where.addend_offset.offset == 0) return refuse_stage("an addend");
    const bool half = where.addend_offset.high - where.addend_offset.low == 15;
    const uint32_t stored = r.get(where.addend_offset);
    const int32_t offset = half ? static_cast<int16_t>(stored) : static_cast<int32_t>(stored);
    p.addend = {offset,
                {static_cast<int32_t>(r.get(where.addend_scale)),
                 static_cast<int32_t>(r.get(where.addend_shift))}};
  }
  for (const std::string& name : v.fused) {
    if (is_lookup_activation(name)) {
      RK_ASSIGN(p.lookup, read_lookup_stage(c, v.loaded));
    } else if (name == "LeakyRelu" || name == "PRelu") {
      RK_ASSIGN(p.slope, read_slope_stage(c, v));
    }
  }
  if (where.has_stages) return read_known_stages(c, v, p);
  activations_from_type(v, p);
  if (p.activation == Activation::kClip) return read_clip(where, r, p);
  return ok_status();
}

bool in_picture_rows(const LiftContext& c) {
  const target::RegisterField& flag = c.registers->picture_rows;
  return flag.offset != 0 && c.tasks.registers().is_on(flag);
}

// CLIP_TRUNCATE t: the chip adds the bias to acc >> t. (acc + bias * 2^t) / 2^t is less than one
// unit of the shifted sum away from that, whatever the chip does with the bits it cuts off.
Result<bool> fold_truncation(LiftContext& c, program::BiasBlock& block, ConvParams& p) {
  if (!c.registers->has_stages) return false;
  const uint32_t shift = c.tasks.registers().get(c.registers->truncate);
  if (shift == 0) return false;
  for (int32_t& bias : block.bias) {
    const int64_t scaled = int64_t{bias} * (int64_t{1} << shift);
    if (scaled < INT32_MIN || scaled > INT32_MAX)
      return refuse_stage(str("CLIP_TRUNCATE ", shift, " with a bias of ", bias));
    bias = static_cast<int32_t>(scaled);
  }
  p.multiplier_shift += static_cast<int32_t>(shift);
  if (p.slope) p.slope->negative_multiplier_shift += static_cast<int32_t>(shift);
  return true;
}

// Of sums from zero up.
Result<int32_t> first_multiplier_shift(LiftContext& c, const Convolution& v) {
  RK_ASSIGN(int32_t shift, read_multiplier_shift(c, *v.task));
  if (const auto& field = c.registers->slope_multiplier_shift; v.p.slope && field.offset != 0)
    shift = static_cast<int32_t>(c.tasks.registers().get(field));
  if (shift > 62) return refuse_stage(str("a shift of ", shift));
  return shift;
}

// One weight offset for all channels and no multipliers; with a slope one multiplier, which is 1 in its own unit.
Status read_layer_constants(LiftContext& c, const Convolution& v, program::BiasBlock& block,
                            ConvParams& p) {
  const target::ConvRegisters& where = *c.registers;
  if (where.has_stages && !c.tasks.registers().is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS) && !p.slope)
    return refuse_stage("one multiplier for all channels");
  RK_ASSIGN(const int16_t offset, layer_offset(c, *v.task, p.group != 1));
  int16_t multiplier = 16384;
  p.multiplier_shift = 14;
  // The product is off, its shift is not: indices of tables for Elu are twice as large otherwise.
  if (where.has_stages && !p.slope) {
    RK_ASSIGN(const int32_t shift, read_multiplier_shift(c, *v.task));
    p.multiplier_shift += shift;
  }
  if (p.slope && where.layer_multiplier.offset != 0) {
    multiplier = static_cast<int16_t>(c.tasks.registers().get(where.layer_multiplier));
    RK_ASSIGN(p.multiplier_shift, first_multiplier_shift(c, v));
  } else if (p.slope && where.multiplier_table != 0) {
    RK_ASSIGN(const LayerTable table, layer_table(c, v));
    multiplier = table.multiplier;
    p.multiplier_shift = table.positive_shift;
  } else if (p.slope) {
    return refuse_stage("a slope without channel multipliers");
  }
  block.offset.assign(block.bias.size(), offset);
  block.multiplier.assign(block.bias.size(), multiplier);
  return ok_status();
}

// Weights and bias as the Program takes them: the file's own where it can, else plain ones and a block of the usual form.
Status read_constants(LiftContext& c, Convolution& v) {
  Operands& o = v.o;
  ConvParams& p = v.p;
  const ProgramTensor weight = c.tensor(o.weight);
  const int64_t channels = c.tensor(o.out).shape[1];
  RK_ASSIGN(const BiasForm form, bias_form(c));
  RK_ASSIGN(program::BiasBlock block,
            read_bias_block(c.bytes(o.bias), channels, *c.registers, form));
  if (form == BiasForm::kAlone) {
    RK_TRY(read_layer_constants(c, v, block, p));
  } else {
    RK_ASSIGN(p.multiplier_shift, first_multiplier_shift(c, v));
  }
  RK_ASSIGN(const bool shifted, fold_truncation(c, block, p));
  std::optional<std::vector<uint8_t>> plain;
  Shape plain_shape = weight.shape;
  if (form == BiasForm::kWithoutOffset) {
    if (p.group == 1 && channels != 1) return refuse_stage("weight offsets outside the bias block");
    RK_ASSIGN(DepthwiseWeights weights,
              unpack_depthwise(c.bytes(o.weight), weight.native_shape, weight.shape,
                               c.registers->depthwise_offsets));
    block.offset = std::move(weights.offset);
    plain = std::move(weights.weights);
  } else if (in_picture_rows(c)) {
    RK_ASSIGN(plain, unpack_picture_rows(c.bytes(o.weight), weight.native_shape, weight.shape, 1));
  } else if (p.transposed || (!weight.native_shape.empty() && weight.native_shape.back() == 4)) {
    const Shape& kernel = weight.shape;
    const int64_t in = c.tensor(o.data).shape[1];
    if (p.transposed && p.group == 1) plain_shape = Shape{channels, in, kernel[2], kernel[3]};
    if (p.transposed && p.group != 1) plain_shape = Shape{1, channels, kernel[2], kernel[3]};
    RK_ASSIGN(plain, program::unpack_weight_elements(c.bytes(o.weight), weight.native_shape,
                                                     plain_shape, 1));
  }
  if (p.transposed) {
    *plain = turn_kernels(*plain, plain_shape, 1);
    plain_shape = Shape{plain_shape[1], plain_shape[0], plain_shape[2], plain_shape[3]};
  }
  if (p.activation == Activation::kClip && c.registers->clip_in_first_unit) {
    p.clip_limit = scale_round(p.clip_limit, block.multiplier[0], p.multiplier_shift);
  }
  if (plain) {
    o.weight = c.add_constant(weight.name + ".plain", DType::kI8, plain_shape, std::move(*plain));
  }
  const target::WeightLayout& layout = c.chip.weights_i8;
  const bool usual = form == BiasForm::kAll && !c.registers->byte_offsets &&
                     c.registers->bias_group == layout.bias_group && !shifted;
  if (usual) return ok_status();
  std::vector<uint8_t> packed =
      program::pack_bias(block, layout.bias_group, std::max(layout.bias_channel_align, 1));
  const Shape shape{static_cast<int64_t>(packed.size() / 4)};
  o.bias = c.add_constant(c.tensor(o.bias).name + ".block", DType::kI32, shape, std::move(packed));
  return ok_status();
}

Status lift_integer(LiftContext& c, Convolution& v) {
  Operands& o = v.o;
  if (c.registers == nullptr) {
    return unsupported(str("where ", c.chip.name, " keeps requantization constants is not known"));
  }
  if (v.task == nullptr) {
    return unsupported(
        "its requantization constants are missing: the file has no register list for it (container "
        "versions 1 and 2 keep lists in a form that is not decoded)");
  }
  if (o.bias == kNone || !c.tensor(o.bias).is_constant()) {
    return unsupported("an int8 convolution without a bias block is not known");
  }
  if (needs_real_numbers(c, v)) return lift_real_conv(c, v);
  if (v.has("Mul")) return unsupported(str("a product after a convolution on ", c.chip.name));
  v.p.pad_value = c.tensor(o.data).zero_point;
  RK_TRY(read_stages(c, v, v.p));
  RK_TRY(read_constants(c, v));
  std::vector<int32_t> inputs = {o.data, o.weight, o.bias};
  if (v.addend() != kNone) inputs.push_back(v.addend());
  const Shape weight = c.tensor(o.weight).shape;
  const uint64_t taps = static_cast<uint64_t>(weight[2]) * static_cast<uint64_t>(weight[3]) *
                        static_cast<uint64_t>(v.p.group == 1 ? weight[1] : 1);
  program::Step& step = c.add_step(std::move(inputs), {o.out}, std::move(v.p));
  step.macs =
      checked_mul(taps, static_cast<uint64_t>(c.tensor(o.out).shape.elements())).value_or(0);
  return ok_status();
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

Result<int32_t> float_weight(LiftContext& c, const Convolution& v) {
  const ProgramTensor weight = c.tensor(v.o.weight);
  if (weight.layout != Layout::kWeight) return c.plain(v.o.weight);
  if (weight.dtype != DType::kF16) {
    return unsupported(str("blocked ", to_string(weight.dtype), " weights are not decoded"));
  }
  const bool has_task = c.registers != nullptr && v.task != nullptr;
  if (has_task && c.registers->fully_connected.offset != 0 &&
      c.tasks.registers().is_on(c.registers->fully_connected)) {
    return unsupported(
        "a fully connected layer of RK2118: the vendor's converter stores only a part of its "
        "weights. Express it as a 1x1 convolution on a larger picture, or convert for another "
        "chip");
  }
  const Shape& kernel = weight.shape;
  const int64_t in = c.tensor(v.o.data).shape[1], out = c.tensor(v.o.out).shape[1];
  Shape shape = weight.shape;
  if (v.p.transposed)
    shape =
        v.p.group == 1 ? Shape{out, in, kernel[2], kernel[3]} : Shape{1, out, kernel[2], kernel[3]};
  std::vector<uint8_t> plain;
  if (has_task && in_picture_rows(c)) {
    RK_ASSIGN(plain, unpack_picture_rows(c.bytes(v.o.weight), weight.native_shape, shape, 2));
  } else {
    RK_ASSIGN(plain,
              program::unpack_weight_elements(c.bytes(v.o.weight), weight.native_shape, shape, 2));
  }
  if (v.p.transposed) {
    plain = turn_kernels(plain, shape, 2);
    shape = Shape{shape[1], shape[0], shape[2], shape[3]};
  }
  return c.add_constant(weight.name + ".plain", DType::kF16, shape, std::move(plain));
}

// A half: in a register, or where a table begins: that of the shifts of int8 layers, or where the batch-norm stage is on
// (depthwise layers), that stage's.
Result<float> read_float_slope(LiftContext& c, const Convolution& v) {
  if (c.registers == nullptr || v.task == nullptr ||
      (c.registers->slope.offset == 0 && c.registers->multiplier_table == 0)) {
    return unsupported(str("the register of its slope is not known on ", c.chip.name));
  }
  if (c.registers->slope.offset != 0)
    return half_to_float(static_cast<uint16_t>(c.tasks.registers().get(c.registers->slope)));
  const bool in_norm = !c.tasks.registers().is_on(reg::DPU_BN_CFG__BN_BYPASS);
  RK_ASSIGN(const ByteSpan table,
            table_at(c, *v.task,
                     in_norm ? c.registers->lookup.record_table : c.registers->multiplier_table));
  return half_to_float(load<uint16_t>(table.data()));
}

// What follows the convolution as an operator on its own.
struct FloatClip {
  float low, high;
};

// RK3588 has what it takes away from the low end and the distance of the ends, RK3576 the ends themselves.
Result<FloatClip> read_float_clip(const LiftContext& c, const Convolution& v) {
  if (c.registers == nullptr || v.task == nullptr || c.registers->clip_limit == 0) {
    return unsupported(str("the register of the clip limit is not known on ", c.chip.name));
  }
  const RegisterFile& r = c.tasks.registers();
  const auto number = [&](uint16_t offset) {
    const uint32_t bits = r.get(offset);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  FloatClip clip{0, number(c.registers->clip_limit)};
  if (c.registers->has_stages) {
    if (!r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS)) clip.low = -number(reg::DPU_BN_ALU_CFG);
    clip.high += clip.low;
  } else if (c.registers->clip_low_f32 != 0) {
    clip.low = number(c.registers->clip_low_f32);
  }
  if (!std::isfinite(clip.low) || !std::isfinite(clip.high) || !(clip.high > clip.low)) {
    return refuse_stage(str("a clip of ", clip.low, " to ", clip.high));
  }
  return clip;
}

Status add_fused_operator(LiftContext& c, const Convolution& v, const std::string& name,
                          size_t& next_other, int32_t in, int32_t out) {
  AttrMap attrs;
  std::string op = name;
  std::vector<int32_t> inputs = {in};
  if (name == "ExSwish" || name == "ExGelu" || name == "ExMish") op = "ex" + name.substr(2);
  if (name == "HardSigmoid") attrs = {{"alpha", 1.0f / 6}, {"beta", 0.5f}};
  if (name == "Elu") attrs = {{"alpha", 1.0f}};
  if (name == "LeakyRelu") {
    RK_ASSIGN(const float alpha, read_float_slope(c, v));
    attrs = {{"alpha", alpha}};
  }
  if (name == "Clip") {
    RK_ASSIGN(const FloatClip clip, read_float_clip(c, v));
    const std::string stem = c.tensor(out).name;
    inputs.push_back(c.add_floats(stem + ".low", Shape{}, {clip.low}));
    inputs.push_back(c.add_floats(stem + ".high", Shape{}, {clip.high}));
  }
  if (name == "PRelu" || name == "Add" || name == "Mul") {
    if (next_other >= v.o.others.size())
      return unsupported(str("the operand of ", name, " is missing"));
    RK_ASSIGN(int32_t other, c.plain(v.o.others[next_other++]));
    if (name == "PRelu") {
      RK_ASSIGN(std::vector<float> slopes, c.floats(other));
      const int64_t channels = c.tensor(out).shape[1];
      if (slopes.size() == 1) slopes.resize(static_cast<size_t>(channels), slopes[0]);
      if (std::ssize(slopes) != channels) return unsupported(str(slopes.size(), " slopes"));
      other = c.add_floats(c.tensor(out).name + ".slopes", Shape{channels, 1, 1}, slopes);
    }
    inputs.push_back(other);
  }
  c.add_operator(op, std::move(inputs), out, std::move(attrs));
  return ok_status();
}

Status lift_float(LiftContext& c, Convolution& v) {
  Operands& o = v.o;
  ConvParams& p = v.p;
  size_t done = 0;
  while (done < v.fused.size() && v.fused[done] == "Transpose") ++done;
  const auto next_is = [&](std::string_view name) {
    return done < v.fused.size() && v.fused[done] == name;
  };
  if (next_is("Relu")) {
    p.activation = Activation::kRelu;
    ++done;
  } else if (next_is("Clip")) {
    RK_ASSIGN(const FloatClip clip, read_float_clip(c, v));
    p.clip_limit_f32 = clip.high;
    if (clip.low == 0) {
      p.activation = Activation::kClip;
      ++done;
    }
  }
  size_t next_other = 0;
  int32_t addend = kNone;
  if (next_is("Add") && !o.others.empty() && !c.tensor(o.others[0]).is_constant() &&
      c.tensor(o.others[0]).shape == c.tensor(o.out).shape &&
      c.tensor(o.others[0]).dtype == DType::kF16) {
    addend = o.others[next_other++];
    ++done;
    if (next_is("Relu")) {
      p.post_activation = Activation::kRelu;
      ++done;
    }
  }
  RK_ASSIGN(o.weight, float_weight(c, v));
  if (o.bias != kNone) {
    RK_ASSIGN(o.bias, float_bias(c, o));
  }
  std::vector<int32_t> inputs = {o.data, o.weight};
  if (o.bias != kNone || addend != kNone) inputs.push_back(o.bias);
  if (addend != kNone) inputs.push_back(addend);
  const std::string stem = c.tensor(o.out).name;
  int32_t result =
      done == v.fused.size() ? o.out : c.add_internal(stem + ".conv", o.out, c.tensor(o.out).shape);
  c.add_step(std::move(inputs), {result}, p);
  for (; done < v.fused.size(); ++done) {
    const bool last = done + 1 == v.fused.size();
    const int32_t to =
        last ? o.out : c.add_internal_f32(str(stem, ".fused", done), c.tensor(o.out).shape);
    RK_TRY(add_fused_operator(c, v, v.fused[done], next_other, result, to));
    result = to;
  }
  return ok_status();
}

// Weights that another node computes: by the IR's definition.
Status lift_computed_weight(LiftContext& c, const Convolution& v) {
  if (!v.fused.empty() || v.p.transposed) return unsupported("it has no constant weight");
  const ConvParams& p = v.p;
  AttrMap attrs;
  attrs["kernel_shape"] = std::vector<int64_t>{p.kernel.h, p.kernel.w};
  attrs["strides"] = std::vector<int64_t>{p.stride.h, p.stride.w};
  attrs["dilations"] = std::vector<int64_t>{p.dilation.h, p.dilation.w};
  attrs["pads"] = std::vector<int64_t>{p.pads.top, p.pads.left, p.pads.bottom, p.pads.right};
  attrs["group"] = int64_t{p.group};
  std::vector<int32_t> inputs = {v.o.data, v.o.weight};
  if (v.o.bias != kNone) {
    RK_ASSIGN(const int32_t bias, float_bias(c, v.o));
    inputs.push_back(bias);
  }
  c.add_operator("Conv", std::move(inputs), v.o.out, std::move(attrs));
  return ok_status();
}

// The converter splits a grouped transposed convolution into branches and cuts its bias by input channels: branches
// after the first have the wrong values, the chip would compute with them, and so do we.
void warn_of_branch_bias(LiftContext& c, const Convolution& v) {
  if (!v.p.transposed || v.o.bias == kNone ||
      c.tensor(v.o.bias).name.find("_branch") == std::string::npos) {
    return;
  }
  log(LogLevel::kWarning,
      str("node '", c.node().name,
          "': the vendor's converter stores a wrong bias for grouped ConvTranspose; the "
          "file is run as it is"));
}

// The adapter that turns a packed picture into the chip's layout: nothing to compute.
bool is_adapter(LiftContext& c, const Operands& o) {
  return c.tensor(o.weight).name.starts_with("Pre_weight") &&
         c.tensor(o.data).shape.elements() == c.tensor(o.out).shape.elements();
}

Status lift_adapter(LiftContext& c, const Operands& o) {
  const Shape shape = c.tensor(o.out).shape;
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  c.add_operator("Reshape", {o.data, c.add_integers(c.tensor(o.out).name + ".shape", dims)}, o.out);
  return ok_status();
}

}  // namespace

Status refuse_stage(std::string_view what) {
  return unsupported(str("its register list uses ", what, ", which is not decoded"));
}

Result<BiasForm> bias_form(LiftContext& c) {
  const target::ConvRegisters& where = *c.registers;
  const uint32_t form = c.tasks.registers().get(where.bias_form);
  if (form == where.bias_form_all) return BiasForm::kAll;
  if (form == where.bias_form_without_offset) return BiasForm::kWithoutOffset;
  if (form == where.bias_form_alone) return BiasForm::kAlone;
  return refuse_stage(str("bias block form ", form));
}

Result<int16_t> layer_offset(LiftContext& c, const Task& task, bool depthwise) {
  const target::RegisterField& own = c.registers->depthwise_layer_offset;
  const target::RegisterField& field =
      depthwise && own.offset != 0 ? own : c.registers->layer_offset;
  if (field.offset != 0) {
    const uint32_t value = c.tasks.registers().get(field);
    if (field.high - field.low != 7) return static_cast<int16_t>(value);
    // The negative of a zero point, so a byte of 0x80 is +128.
    const auto byte = static_cast<int8_t>(value);
    return static_cast<int16_t>(byte == INT8_MIN ? 128 : byte);
  }
  RK_ASSIGN(const ByteSpan table, multiplier_table(c, task));
  return load<int16_t>(table.data());
}

Status lift_conv(LiftContext& c) {
  Convolution v;
  RK_ASSIGN(v.fused, fused_names(c.node().type));
  RK_ASSIGN(v.o, find_operands(c));
  if (is_adapter(c, v.o)) return lift_adapter(c, v.o);
  v.p.transposed = v.has("Transpose");
  const uint32_t units = c.registers != nullptr ? c.registers->units : kUnitCna;
  v.loaded = next_with_tables(c, units);
  v.task = v.loaded.task;
  RK_ASSIGN(const Window window, find_window(c, v));
  v.p.kernel = window.kernel;
  v.p.stride = window.stride;
  v.p.dilation = window.dilation;
  v.p.pads = window.pads;
  RK_ASSIGN(v.p.group, find_group(c, v));
  warn_of_branch_bias(c, v);
  if (!c.tensor(v.o.weight).is_constant()) return lift_computed_weight(c, v);
  if (c.is_i8(v.o.data) && c.is_i8(v.o.out)) return lift_integer(c, v);
  if (c.tensor(v.o.data).dtype == DType::kF16 && c.tensor(v.o.out).dtype == DType::kF16)
    return lift_float(c, v);
  return unsupported(str("convolutions of ", to_string(c.tensor(v.o.data).dtype), " to ",
                         to_string(c.tensor(v.o.out).dtype), " are not decoded"));
}

}  // namespace rk::format
