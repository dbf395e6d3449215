// SPDX-License-Identifier: Apache-2.0
// Int8 convolutions whose DPU stages no integer step has. The formula of their registers is
// computed on real numbers, from the constants that the file holds, and rounded once at the end:
//
//   v = ((acc / 2^t + bias) * m / 2^s * f + a) / 2^n     t: CLIP_TRUNCATE; f, a, n: batch norm
//   w = v + e, or v * e / 2^u       e: the other operand's (x + offset) * scale / 2^shift
//   y = w * out_scale / 2^out_shift + zero point
//
// The chip rounds v, e and w to integers in units that are finer than a step of y, so that a result
// is one step off at most where these roundings meet a tie (docs/fidelity.md).
#include <cmath>

#include "base/checked_math.h"
#include "format/vendor/convolution.h"

namespace rk::format {
namespace {

using program::kNone;
using program::ProgramTensor;
using target::RegisterFile;
namespace reg = target::reg;

constexpr uint32_t kAluAdd = 2;  // *_ALU_ALGO

double unit(int64_t shift) { return std::ldexp(1.0, -static_cast<int>(shift)); }

// v * factor[c] + addend[c] for an accumulator that holds the bias.
struct Affine {
  std::vector<double> factor, addend;

  void scale(double by) {
    for (double& value : factor) value *= by;
    for (double& value : addend) value *= by;
  }
};

Result<int64_t> shift_of(const RegisterFile& r, const target::RegisterField& above,
                         const target::RegisterField& below) {
  if (r.get(above) != r.get(below)) return refuse_stage("another shift below zero");
  return int64_t{r.get(above)};
}

// Numbers of each channel that the batch-norm stage fetches.
template <typename T>
Result<std::vector<double>> norm_constants(LiftContext& c, const Task& task, size_t channels) {
  const auto from = c.lists.address_of(task, reg::DPU_RDMA_RDMA_BN_BASE_ADDR);
  const ByteSpan bytes = from && from->addend == 0 ? c.bytes(from->tensor) : ByteSpan();
  if (bytes.size() < channels * sizeof(T)) return refuse_stage("batch-norm constants elsewhere");
  std::vector<double> out(channels);
  for (size_t i = 0; i < channels; ++i)
    out[i] = static_cast<double>(load<T>(bytes.data() + i * sizeof(T)));
  return out;
}

Status read_bias_stage(LiftContext& c, const program::BiasBlock& block, Affine& v) {
  const RegisterFile& r = c.tasks.registers();
  if (r.is_on(reg::DPU_BS_CFG__BS_BYPASS) || r.is_on(reg::DPU_BS_CFG__BS_ALU_BYPASS) ||
      r.get(c.registers->bias_operation) != kAluAdd) {
    return refuse_stage("a bias stage that does not add");
  }
  if (!r.is_on(reg::DPU_BS_CFG__BS_RELU_BYPASS) || r.is_on(reg::DPU_BS_CFG__BS_MUL_PRELU))
    return refuse_stage("an activation in the bias stage");
  const double truncate = unit(r.get(c.registers->truncate));
  for (size_t i = 0; i < block.bias.size(); ++i) {
    v.factor.push_back(truncate);
    v.addend.push_back(block.bias[i]);
  }
  if (r.is_on(reg::DPU_BS_CFG__BS_MUL_BYPASS)) return ok_status();
  RK_ASSIGN(const int64_t shift, shift_of(r, reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE,
                                          reg::DPU_DATA_FORMAT__BS_MUL_SHIFT_VALUE_NEG));
  const auto common = static_cast<int16_t>(r.get(reg::DPU_BS_MUL_CFG__BS_MUL_OPERAND));
  const bool fetched = r.is_on(reg::DPU_BS_MUL_CFG__BS_MUL_SRC);
  for (size_t i = 0; i < block.bias.size(); ++i) {
    const double m = (fetched ? block.multiplier[i] : common) * unit(shift);
    v.factor[i] *= m;
    v.addend[i] *= m;
  }
  return ok_status();
}

Status read_norm_stage(LiftContext& c, const Task& task, Affine& v) {
  const RegisterFile& r = c.tasks.registers();
  if (r.is_on(reg::DPU_BN_CFG__BN_BYPASS)) return ok_status();
  const bool adds = !r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS);
  const bool multiplies = !r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS);
  if (r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU) || !r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS) ||
      (adds && r.get(reg::DPU_BN_CFG__BN_ALU_ALGO) != kAluAdd)) {
    return refuse_stage("an activation in the batch-norm stage");
  }
  const size_t channels = v.factor.size();
  std::vector<double> factor(channels, 1), addend(channels, 0);
  if (multiplies) {
    factor.assign(channels, static_cast<int16_t>(r.get(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND)));
    if (r.is_on(reg::DPU_BN_MUL_CFG__BN_MUL_SRC)) {
      RK_ASSIGN(factor, norm_constants<int16_t>(c, task, channels));
    }
  }
  if (adds) {
    addend.assign(channels, r.get_signed(reg::DPU_BN_ALU_CFG));
    if (r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC)) {
      if (multiplies && r.is_on(reg::DPU_BN_MUL_CFG__BN_MUL_SRC))
        return refuse_stage("batch-norm factors and addends of each channel");
      RK_ASSIGN(addend, norm_constants<int32_t>(c, task, channels));
    }
  }
  RK_ASSIGN(const int64_t shift, shift_of(r, reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE,
                                          reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG));
  for (size_t i = 0; i < channels; ++i) {
    v.addend[i] = v.addend[i] * factor[i] + addend[i];
    v.factor[i] *= factor[i];
  }
  v.scale(unit(shift));
  return ok_status();
}

// What the other operand brings: the factor of its real number in the result's real number, and
// what its offset adds.
struct Other {
  int32_t tensor = kNone;
  double factor = 1, addend = 0;
  bool multiplies = false, relu = false;
};

Result<Other> read_elementwise_stage(LiftContext& c, const Convolution& v) {
  const RegisterFile& r = c.tasks.registers();
  Other out;
  const bool wanted = v.has("Add") || v.has("Mul");
  if (r.is_on(reg::DPU_EW_CFG__EW_BYPASS)) {
    if (wanted) return refuse_stage("no element-wise operand although the node has one");
    return out;
  }
  const bool on = !r.is_on(reg::DPU_EW_CFG__EW_OP_BYPASS);
  if (on != wanted || !r.is_on(reg::DPU_EW_CFG__EW_LUT_BYPASS) ||
      r.is_on(reg::DPU_EW_CFG__EW_RELUX_EN) || r.is_on(reg::DPU_EW_CFG__EW_MUL_PRELU)) {
    return refuse_stage("another element-wise stage");
  }
  out.relu = !r.is_on(reg::DPU_EW_CFG__EW_RELU_BYPASS);
  if (!on) return out;
  out.multiplies = r.is_on(reg::DPU_EW_CFG__EW_OP_TYPE);
  if (v.o.others.size() != 1 || out.multiplies != v.has("Mul") ||
      (!out.multiplies && r.get(c.registers->addend_operation) != kAluAdd)) {
    return refuse_stage("another element-wise operation than the node's");
  }
  out.tensor = v.o.others[0];
  if (c.tensor(out.tensor).is_constant() || !c.is_i8(out.tensor) ||
      !(c.tensor(out.tensor).shape == c.tensor(v.o.out).shape)) {
    return refuse_stage("an element-wise operand that is not an int8 feature of that shape");
  }
  int64_t offset = 0;
  if (!r.is_on(reg::DPU_EW_CFG__EW_OP_CVT_BYPASS)) {
    offset = r.get_signed(reg::DPU_EW_CVT_OFFSET_VALUE);
    out.factor = static_cast<int16_t>(r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SCALE)) *
                 unit(r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_OP_CVT_SHIFT));
  }
  const ProgramTensor& t = c.tensor(out.tensor);
  out.addend = static_cast<double>(offset + t.zero_point) * out.factor;
  out.factor /= double{t.scale};
  if (out.multiplies) {
    const double truncate = unit(r.get(reg::DPU_EW_CVT_SCALE_VALUE__EW_TRUNCATE));
    out.factor *= truncate;
    out.addend *= truncate;
  }
  return out;
}

// Weights with their offsets times a factor of each channel, plain; their sum in each channel
// beside them.
struct RealWeights {
  std::vector<float> values;
  std::vector<double> sum;
};

Result<RealWeights> real_weights(LiftContext& c, const Convolution& v,
                                 const program::BiasBlock& block,
                                 const std::vector<double>& factor) {
  const ProgramTensor weight = c.tensor(v.o.weight);
  RK_ASSIGN(const std::vector<int8_t> plain,
            program::unpack_weights(c.bytes(v.o.weight), weight.native_shape, weight.shape));
  const size_t channels = factor.size(), taps = plain.size() / channels;
  RealWeights out;
  out.sum.assign(channels, 0);
  out.values.reserve(plain.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    const size_t channel = i / taps;
    const int number = plain[i] + block.offset[channel];
    out.sum[channel] += number;
    out.values.push_back(static_cast<float>(number * factor[channel]));
  }
  return out;
}

}  // namespace

bool shifts_only(const RegisterFile& r) {
  const bool adds = !r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS) &&
                    (r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC) || r.get(reg::DPU_BN_ALU_CFG) != 0);
  return !r.is_on(reg::DPU_BN_CFG__BN_BYPASS) && !adds &&
         !r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS) && !r.is_on(reg::DPU_BN_CFG__BN_MUL_PRELU) &&
         r.is_on(reg::DPU_BN_CFG__BN_RELU_BYPASS) && !r.is_on(reg::DPU_BN_MUL_CFG__BN_MUL_SRC) &&
         r.get(reg::DPU_BN_MUL_CFG__BN_MUL_OPERAND) == 1;
}

bool needs_real_numbers(const LiftContext& c, const Convolution& v) {
  if (c.registers == nullptr || !c.registers->has_stages || v.task == nullptr) return false;
  for (const std::string& name : v.fused) {
    if (name != "Add" && name != "Mul" && name != "Relu") return false;
  }
  const RegisterFile& r = c.tasks.registers();
  const bool norm = !r.is_on(reg::DPU_BN_CFG__BN_BYPASS) &&
                    (!r.is_on(reg::DPU_BN_CFG__BN_MUL_BYPASS) ||
                     (!r.is_on(reg::DPU_BN_CFG__BN_ALU_BYPASS) &&
                      (r.is_on(reg::DPU_BN_CFG__BN_ALU_SRC) || r.get(reg::DPU_BN_ALU_CFG) != 0)));
  return (norm && !shifts_only(r)) || v.has("Mul");
}

Status lift_real_conv(LiftContext& c, const Convolution& v) {
  const RegisterFile& r = c.tasks.registers();
  const ProgramTensor data = c.tensor(v.o.data), out = c.tensor(v.o.out);
  const int64_t channels = out.shape[1];
  if (v.p.transposed) return refuse_stage("these stages in a transposed convolution");
  if (r.is_on(reg::CNA_DCOMP_CTRL__DECOMP_CONTROL) != c.had_code(v.o.weight))
    return refuse_stage("compressed weights");
  if (r.is_on(reg::DPU_OUT_CVT_SHIFT__MINUS_EXP)) return refuse_stage("an output exponent");
  RK_ASSIGN(const BiasForm form, bias_form(c));
  RK_ASSIGN(program::BiasBlock block,
            read_bias_block(c.bytes(v.o.bias), channels, *c.registers, form));
  if (form == BiasForm::kAlone) {
    RK_ASSIGN(const int16_t offset, layer_offset(c, *v.task, v.p.group != 1));
    block.offset.assign(block.bias.size(), offset);
    block.multiplier.assign(block.bias.size(), 1);
  } else if (form != BiasForm::kAll) {
    return refuse_stage("weight offsets outside the bias block");
  }
  Affine affine;
  RK_TRY(read_bias_stage(c, block, affine));
  RK_TRY(read_norm_stage(c, *v.task, affine));
  RK_ASSIGN(Other other, read_elementwise_stage(c, v));
  // In real numbers of the output: y - zero point times its scale.
  const double to_real =
      r.get(c.registers->output_scale) * unit(r.get(c.registers->output_shift)) * double{out.scale};
  affine.scale(to_real);
  if (!other.multiplies) {
    other.factor *= to_real;
    other.addend *= to_real;
  }
  // acc counts stored bytes, the convolution real numbers: x = (stored - zero point) * scale.
  std::vector<double> weight_factor(affine.factor);
  for (double& value : weight_factor) value /= double{data.scale};
  RK_ASSIGN(const RealWeights weights, real_weights(c, v, block, weight_factor));
  std::vector<float> bias(static_cast<size_t>(channels));
  for (size_t i = 0; i < bias.size(); ++i) {
    bias[i] =
        static_cast<float>(affine.addend[i] + weights.sum[i] * data.zero_point * affine.factor[i]);
  }
  const std::string stem = out.name;
  const Shape& kernel = c.tensor(v.o.weight).shape;
  const Shape weight_shape = v.p.group == 1 ? kernel : Shape{channels, 1, kernel[2], kernel[3]};
  std::vector<int32_t> inputs = {v.o.data,
                                 c.add_floats(stem + ".weight", weight_shape, weights.values),
                                 c.add_floats(stem + ".bias", Shape{channels}, bias)};
  const program::ConvParams& p = v.p;
  AttrMap attrs;
  attrs["kernel_shape"] = std::vector<int64_t>{p.kernel.h, p.kernel.w};
  attrs["strides"] = std::vector<int64_t>{p.stride.h, p.stride.w};
  attrs["dilations"] = std::vector<int64_t>{p.dilation.h, p.dilation.w};
  attrs["pads"] = std::vector<int64_t>{p.pads.top, p.pads.left, p.pads.bottom, p.pads.right};
  attrs["group"] = int64_t{p.group};
  const auto next = [&](bool last, const char* part) {
    return last ? v.o.out : c.add_internal_f32(stem + part, out.shape);
  };
  int32_t result = next(other.tensor == kNone && !other.relu, ".conv");
  c.add_operator("Conv", std::move(inputs), result, std::move(attrs));
  if (other.tensor != kNone) {
    const int32_t scaled = c.add_internal_f32(stem + ".scaled", out.shape);
    const int32_t shifted = c.add_internal_f32(stem + ".operand", out.shape);
    const auto number = [&](const char* part, double value) {
      return c.add_floats(stem + part, Shape{1}, {static_cast<float>(value)});
    };
    c.add_operator("Mul", {other.tensor, number(".factor", other.factor)}, scaled);
    c.add_operator("Add", {scaled, number(".addend", other.addend)}, shifted);
    const int32_t combined = next(!other.relu, ".combined");
    c.add_operator(other.multiplies ? "Mul" : "Add", {result, shifted}, combined);
    result = combined;
  }
  if (other.relu) c.add_operator("Relu", {result}, v.o.out);
  return ok_status();
}

}  // namespace rk::format
