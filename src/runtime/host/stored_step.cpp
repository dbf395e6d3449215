// SPDX-License-Identifier: Apache-2.0
// Operators that compute on tensors as they are stored, without a float32 copy of them: sums, products and quotients of
// two operands of which one may be repeated, and BatchNormalization by constants.
//
// Note: the lanes beyond the last channel take part like all others. They are finite or not, nobody
// reads them.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/fixed_point.h"
#include "kernels/eltwise/broadcast.h"
#include "kernels/layout/blocked.h"
#include "ops/shared/shape_util.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
namespace {

using kernels::BroadcastShape;
using kernels::RunOperand;
using program::ProgramTensor;

std::optional<kernels::BinaryOp> binary_op(const program::Step& step) {
  const auto* const p = std::get_if<program::OpParams>(&step.params);
  if (p == nullptr || step.inputs.size() != 2 || step.outputs.size() != 1) return std::nullopt;
  if (p->op == "Add") return kernels::BinaryOp::kAdd;
  if (p->op == "Sub") return kernels::BinaryOp::kSub;
  if (p->op == "Mul") return kernels::BinaryOp::kMul;
  if (p->op == "Div") return kernels::BinaryOp::kDiv;
  return std::nullopt;
}

bool is_batch_norm(const program::Step& step) {
  const auto* const p = std::get_if<program::OpParams>(&step.params);
  return p != nullptr && p->op == "BatchNormalization" && step.inputs.size() == 5 &&
         step.outputs.size() == 1;
}

const ProgramTensor& tensor_of(const program::Variant& variant, int32_t index) {
  return variant.tensors[static_cast<size_t>(index)];
}

// Both hold fp16 or both quantized int8.
bool stored_alike(const ProgramTensor& a, const ProgramTensor& b) {
  if (a.dtype != b.dtype) return false;
  if (a.dtype == DType::kI8) return a.quantized() && b.quantized();
  return a.dtype == DType::kF16 && !a.quantized() && !b.quantized();
}

// Extent of an operand along an axis of the output's rank, counted from the end.
int64_t extent_from_end(const Shape& shape, int from_end) {
  return from_end <= shape.rank() ? shape[shape.rank() - from_end] : 1;
}

// The output has the operands' common shape: a file may say otherwise, and then the operator itself refuses.
bool broadcasts_to(const Shape& a, const Shape& b, const Shape& out) {
  if (std::max(a.rank(), b.rank()) != out.rank()) return false;
  for (int i = 1; i <= out.rank(); ++i) {
    const int64_t extent = extent_from_end(out, i);
    const int64_t in_a = extent_from_end(a, i), in_b = extent_from_end(b, i);
    if ((in_a != extent && in_a != 1) || (in_b != extent && in_b != 1)) return false;
    if (in_a != extent && in_b != extent) return false;
  }
  return true;
}

// read_constant() gives float32.
bool is_real(const ProgramTensor& tensor) {
  return tensor.quantized() || tensor.dtype == DType::kF16 || tensor.dtype == DType::kBF16 ||
         tensor.dtype == DType::kF32;
}

// Two operands that are stored like the result, or one and a constant.
bool binary_as_stored(const program::Variant& variant, const program::Step& step) {
  if (step.inputs[0] == program::kNone || step.inputs[1] == program::kNone) return false;
  const ProgramTensor& out = tensor_of(variant, step.outputs[0]);
  const ProgramTensor &a = tensor_of(variant, step.inputs[0]),
                      &b = tensor_of(variant, step.inputs[1]);
  const auto fits = [&](const ProgramTensor& in, const ProgramTensor& other) {
    return in.is_constant() ? is_real(in) && !other.is_constant() : stored_alike(in, out);
  };
  return out.shape.elements() > 0 && stored_alike(out, out) && fits(a, b) && fits(b, a) &&
         broadcasts_to(a.shape, b.shape, out.shape);
}

// A picture that is stored like the result, and constants.
bool norm_as_stored(const program::Variant& variant, const program::Step& step) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] == program::kNone) return false;
    if (tensor_of(variant, step.inputs[i]).is_constant() != (i > 0)) return false;
  }
  const ProgramTensor &in = tensor_of(variant, step.inputs[0]),
                      &out = tensor_of(variant, step.outputs[0]);
  return out.shape.rank() == 4 && out.shape.elements() > 0 && in.shape == out.shape &&
         stored_alike(in, out);
}

// One number, or one per channel (and picture), against a rank-4 output.
bool is_per_channel(const Shape& shape, const Shape& out) {
  return shape.rank() <= 4 && extent_from_end(shape, 1) == 1 && extent_from_end(shape, 2) == 1 &&
         extent_from_end(shape, 3) == out[1] &&
         (extent_from_end(shape, 4) == 1 || extent_from_end(shape, 4) == out[0]);
}

// An operand bound to where it lies: a tensor of the plan, or a constant's values in the output's layout.
struct BoundOperand {
  int32_t tensor = program::kNone;
  std::shared_ptr<const Tensor> values;
  RunOperand kind = RunOperand::kStream;
  std::array<int64_t, kernels::kMaxBroadcastAxes> step{};
};

// The values of a constant in plain order or, given the rank-4 shape they have, blocked.
std::shared_ptr<const Tensor> constant_values(const StepContext& context, size_t input,
                                              const Shape* blocked_as) {
  auto plain = read_constant(context, input);
  if (!plain.ok() || plain.value().dtype() != DType::kF32) return nullptr;
  if (blocked_as == nullptr) return std::make_shared<const Tensor>(std::move(plain).value());
  const PictureExtents extents = picture_extents(*blocked_as);
  const Strides strides = blocked_strides(extents, kernels::kHostBlock);
  auto blocked = Tensor::try_make({DType::kF32, {extents.n * strides.n}});
  if (!blocked.ok()) return nullptr;
  auto* const from = const_cast<uint8_t*>(plain.value().data<uint8_t>());
  convert(extents, {DType::kF32, 0, 0, nchw_strides(extents), from},
          {DType::kF32, 0, 0, strides, blocked.value().mutable_data<uint8_t>()}, {}, nullptr);
  return std::make_shared<const Tensor>(std::move(blocked).value());
}

// An operand against a blocked output, whose axes are pictures and channel blocks and whose runs are planes.
std::optional<BoundOperand> bind_blocked(const StepContext& context, size_t input) {
  const ProgramTensor& type = context.input(input);
  const Shape& out = context.output().shape;
  const int64_t block = kernels::kHostBlock, blocks = (out[1] + block - 1) / block;
  const int64_t plane = out[2] * out[3] * block;
  BoundOperand operand;
  operand.tensor = context.step.inputs[input];
  const bool constant = type.is_constant();
  const bool blocked = !constant && context.host(operand.tensor).blocked;
  if (type.shape.elements() == 1) {
    operand.kind = RunOperand::kScalar;
    if (constant) operand.values = constant_values(context, input, nullptr);
  } else if (type.shape == out) {
    operand.step = {blocks * plane, plane};
    if (constant) operand.values = constant_values(context, input, &out);
    if (!constant && !blocked) return std::nullopt;
  } else if (is_per_channel(type.shape, out)) {
    operand.kind = RunOperand::kBlock;
    operand.step = {extent_from_end(type.shape, 4) == 1 ? 0 : blocks * block, block};
    const Shape gate = {extent_from_end(type.shape, 4), out[1], 1, 1};
    if (constant) operand.values = constant_values(context, input, &gate);
    // Whole blocks of one pixel lie in plain order too.
    if (!constant && !blocked && out[1] % block != 0) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (constant && operand.values == nullptr) return std::nullopt;
  return operand;
}

std::optional<BoundOperand> bind_plain(const StepContext& context, size_t input) {
  const ProgramTensor& type = context.input(input);
  BoundOperand operand;
  operand.tensor = context.step.inputs[input];
  if (type.is_constant()) {
    operand.values = constant_values(context, input, nullptr);
    if (operand.values == nullptr) return std::nullopt;
    return operand;
  }
  const HostTensor& host = context.host(operand.tensor);
  if ((host.blocked || host.interleaved) && type.shape.elements() != 1) return std::nullopt;
  return operand;
}

struct PlainAxis {
  int64_t extent, a, b;  // steps of the operands
};

// The output's axes with the operands' steps; neighbors that both operands walk through as through one are one.
std::vector<PlainAxis> merged_axes(const Shape& out, const Shape& a, const Shape& b) {
  std::vector<PlainAxis> axes;  // innermost first
  int64_t a_step = 1, b_step = 1;
  for (int i = 1; i <= out.rank(); ++i) {
    const int64_t extent = extent_from_end(out, i);
    const int64_t in_a = extent_from_end(a, i), in_b = extent_from_end(b, i);
    const PlainAxis axis = {extent, in_a == 1 ? 0 : a_step, in_b == 1 ? 0 : b_step};
    a_step *= in_a;
    b_step *= in_b;
    if (extent == 1) continue;
    if (!axes.empty() && axis.a == axes.back().a * axes.back().extent &&
        axis.b == axes.back().b * axes.back().extent) {
      axes.back().extent *= extent;
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

struct BoundBinary {
  BroadcastShape shape;
  BoundOperand a, b;
};

std::optional<BoundBinary> bind_binary(const StepContext& context) {
  const HostTensor& host = context.host(context.step.outputs[0]);
  if (host.interleaved) return std::nullopt;
  const auto bind = host.blocked ? bind_blocked : bind_plain;
  const auto a = bind(context, 0), b = bind(context, 1);
  if (!a || !b) return std::nullopt;
  BoundBinary bound = {{}, *a, *b};
  const Shape& out = context.output().shape;
  if (host.blocked) {
    bound.shape.axes = 2;
    bound.shape.extent[0] = out[0];
    bound.shape.extent[1] = kernels::channel_blocks(static_cast<int32_t>(out[1]));
    bound.shape.run = out[2] * out[3] * kernels::kHostBlock;
    bound.shape.a = a->kind;
    bound.shape.b = b->kind;
    std::ranges::copy(a->step, bound.shape.a_step);
    std::ranges::copy(b->step, bound.shape.b_step);
    return bound;
  }
  const auto axes = merged_axes(out, context.input(0).shape, context.input(1).shape);
  if (axes.size() - 1 > kernels::kMaxBroadcastAxes) return std::nullopt;
  bound.shape.run = axes[0].extent;
  bound.shape.a = axes[0].a == 0 ? RunOperand::kScalar : RunOperand::kStream;
  bound.shape.b = axes[0].b == 0 ? RunOperand::kScalar : RunOperand::kStream;
  bound.shape.axes = static_cast<int>(axes.size()) - 1;
  for (int i = 0; i < bound.shape.axes; ++i) {
    const PlainAxis& axis = axes[axes.size() - 1 - static_cast<size_t>(i)];
    bound.shape.extent[i] = axis.extent;
    bound.shape.a_step[i] = axis.a;
    bound.shape.b_step[i] = axis.b;
  }
  return bound;
}

template <typename T, typename Args>
StepFunction binary_function(const BoundBinary& bound, const Args& prototype, int32_t output,
                             void (*kernel)(const Args&, IndexRange)) {
  const int64_t units = kernels::broadcast_units(bound.shape);
  const int64_t cost = std::min(bound.shape.run, kernels::kBroadcastPiece) / 8 + 16;
  return [=](const StepCall& call) {
    Args args = prototype;
    if (bound.a.values == nullptr) args.a = call.data<const T>(bound.a.tensor);
    if (bound.b.values == nullptr) args.b = call.data<const T>(bound.b.tensor);
    if (bound.a.values != nullptr) args.a_values = bound.a.values->template data<float>();
    if (bound.b.values != nullptr) args.b_values = bound.b.values->template data<float>();
    args.output = call.data<T>(output);
    call.parallel(units, cost, [&](IndexRange range) { kernel(args, range); });
    return ok_status();
  };
}

kernels::QuantScale quant_scale(const ProgramTensor& tensor) {
  return {tensor.scale, tensor.zero_point};
}

Attempt prepare_binary(const StepContext& context, kernels::BinaryOp op) {
  const auto bound = bind_binary(context);
  if (!bound) return Refusal{"an operand's layout or repetition does not fit the output's"};
  const int32_t output = context.step.outputs[0];
  if (context.output().dtype == DType::kF16) {
    kernels::BinaryArgs<uint16_t> args;
    args.shape = bound->shape;
    args.op = op;
    return binary_function<uint16_t>(*bound, args, output, kernels::binary_f16);
  }
  kernels::BinaryI8Args args;
  args.shape = bound->shape;
  args.op = op;
  args.a_scale = quant_scale(context.input(0));
  args.b_scale = quant_scale(context.input(1));
  args.output_scale = quant_scale(context.output());
  return binary_function<int8_t>(*bound, args, output, kernels::binary_i8);
}

// What a constant normalization does to a channel's number: (x - mean) * factor + bias.
struct ChannelNorm {
  double mean, factor, bias;
  double operator()(float x) const { return (x - mean) * factor + bias; }
};

Result<std::vector<ChannelNorm>> channel_norms(const StepContext& context,
                                               const program::OpParams& p) {
  if (attribute<int64_t>(context, p, "training_mode") != 0)
    return unsupported("statistics of training");
  std::array<Tensor, 5> constants;
  for (size_t i = 1; i < 5; ++i) {
    RK_ASSIGN(constants[i], read_constant(context, i));
    if (constants[i].dtype() != DType::kF32 || constants[i].elements() != context.output().shape[1])
      return unsupported("parameters of another type");
  }
  const double added = attribute<float>(context, p, "epsilon");
  std::vector<ChannelNorm> norms;
  for (int64_t c = 0; c < constants[1].elements(); ++c) {
    const auto at = [&](size_t i) { return constants[i].data<float>()[c]; };
    norms.push_back({at(3), at(1) / std::sqrt(static_cast<double>(at(4)) + added), at(2)});
  }
  return norms;
}

struct AffineTables {
  std::vector<float> scale, shift;  // of whole blocks
};

// Scale and shift of stored bytes that give the operator's own bytes for all 256, if there are any: in float32 a result
// may fall on the other side of a half, which a shift by less than the halves' distance can mend.
bool fit_bytes(const ChannelNorm& norm, const ProgramTensor& in, const ProgramTensor& out,
               float& scale, float& shift) {
  std::array<int8_t, 256> wanted;
  for (int x = -128; x < 128; ++x) {
    const float number = static_cast<float>(x - in.zero_point) * in.scale;
    wanted[static_cast<size_t>(x + 128)] =
        quantize_f32(static_cast<float>(norm(number)), out.scale, out.zero_point);
  }
  const double a = static_cast<double>(in.scale) * norm.factor / out.scale;
  const double b = norm(static_cast<float>(-in.zero_point) * in.scale) / out.scale + out.zero_point;
  constexpr double kLimit = 1 << 20;
  if (!(std::fabs(a) * 128 + std::fabs(b) < kLimit)) return false;
  scale = static_cast<float>(a);
  for (const int step : {0, 1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, -8}) {
    shift = static_cast<float>(b + step * 0x1p-18);
    bool fits = true;
    for (int x = -128; x < 128 && fits; ++x) {
      fits = kernels::affine_byte(static_cast<int8_t>(x), scale, shift) ==
             wanted[static_cast<size_t>(x + 128)];
    }
    if (fits) return true;
  }
  return false;
}

template <typename T>
StepFunction affine_function(const StepContext& context, std::shared_ptr<const AffineTables> tables,
                             void (*kernel)(const kernels::AffineArgs<T>&, IndexRange)) {
  const Shape& shape = context.output().shape;
  const int64_t blocks = kernels::channel_blocks(static_cast<int32_t>(shape[1]));
  kernels::AffineArgs<T> prototype;
  prototype.shape = {shape[0] * blocks, blocks, shape[2] * shape[3]};
  prototype.scale = tables->scale.data();
  prototype.shift = tables->shift.data();
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  return [=, tables = std::move(tables)](const StepCall& call) {
    kernels::AffineArgs<T> args = prototype;
    args.input = call.data<const T>(input);
    args.output = call.data<T>(output);
    call.parallel(args.shape.planes, args.shape.pixels * 4,
                  [&](IndexRange planes) { kernel(args, planes); });
    return ok_status();
  };
}

Attempt prepare_batch_norm(const StepContext& context, const program::OpParams& p) {
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  if (!context.host(input).blocked || !context.host(output).blocked)
    return Refusal{"input or output is not blocked by channels"};
  const auto norms = channel_norms(context, p);
  if (!norms.ok()) return Refusal{"statistics of training, or parameters of another type"};
  const bool integer = context.output().dtype == DType::kI8;
  auto tables = std::make_shared<AffineTables>();
  const size_t channels = norms.value().size();
  tables->scale.resize((channels + kernels::kHostBlock - 1) / kernels::kHostBlock *
                       kernels::kHostBlock);
  tables->shift.resize(tables->scale.size());
  for (size_t c = 0; c < channels; ++c) {
    const ChannelNorm& norm = norms.value()[c];
    tables->scale[c] = static_cast<float>(norm.factor);
    tables->shift[c] = static_cast<float>(norm.bias - norm.mean * norm.factor);
    if (integer &&
        !fit_bytes(norm, context.input(0), context.output(), tables->scale[c], tables->shift[c]))
      return Refusal{"no scale and shift in float32 give the operator's own bytes"};
  }
  if (integer) return affine_function<int8_t>(context, std::move(tables), kernels::affine_i8);
  return affine_function<uint16_t>(context, std::move(tables), kernels::affine_f16);
}

}  // namespace

LayoutGroup layout_group(const program::Variant& variant, const program::Step& step) {
  LayoutGroup group;
  if (wants_blocked(step) || step.outputs.empty()) return group;
  if (!std::holds_alternative<program::OpParams>(step.params)) {
    // Sums, tables and concatenations have one layout in all their operands.
    group.partners = step.inputs;
    group.partners.push_back(step.outputs[0]);
    std::erase(group.partners, program::kNone);
    return group;
  }
  if (step.outputs.size() != 1 || step.inputs.empty()) return group;
  const Shape& out = tensor_of(variant, step.outputs[0]).shape;
  if (out.rank() != 4) return group;
  if (runs_by_table(variant, step) || (is_batch_norm(step) && norm_as_stored(variant, step))) {
    group.partners = {step.inputs[0], step.outputs[0]};
    return group;
  }
  if (std::get<program::OpParams>(step.params).op == "Pad" && step.inputs[0] != program::kNone) {
    const Shape& in = tensor_of(variant, step.inputs[0]).shape;
    if (in.rank() == 4 && in[1] == out[1]) group.partners = {step.inputs[0], step.outputs[0]};
    return group;
  }
  if (!binary_op(step) || !binary_as_stored(variant, step)) return group;
  group.partners = {step.outputs[0]};
  for (const int32_t input : step.inputs) {
    const ProgramTensor& type = tensor_of(variant, input);
    if (type.shape.elements() == 1) continue;
    if (type.shape != out && !is_per_channel(type.shape, out)) return {};
    if (type.is_constant()) continue;
    (type.shape == out ? group.partners : group.followers).push_back(input);
  }
  return group;
}

Attempt prepare_as_stored(const StepContext& context, const program::OpParams& p) {
  if (is_batch_norm(context.step) && norm_as_stored(context.variant, context.step))
    return prepare_batch_norm(context, p);
  const auto op = binary_op(context.step);
  if (!op) return Refusal{"not a sum, product, quotient or constant normalization"};
  if (!binary_as_stored(context.variant, context.step))
    return Refusal{"operands and result are not all fp16 or all quantized int8"};
  return prepare_binary(context, *op);
}

}  // namespace rk::runtime::host
