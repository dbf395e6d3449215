// SPDX-License-Identifier: Apache-2.0
// Convolution steps: weights leave the chip's layout and are packed for the kernel once, at load.
#include <algorithm>

#include "base/checked_math.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/conv_f16.h"
#include "program/narrow_weights.h"
#include "program/native_layout.h"
#include "runtime/host/conv_f16_run.h"
#include "runtime/host/conv_phases.h"
#include "runtime/host/select.h"
#include "runtime/host/stages.h"

namespace rk::runtime::host {
namespace {

using program::ConvParams;

kernels::ConvFilter filter_of(const StepContext& context, const ConvParams& p) {
  return {.in_channels = static_cast<int32_t>(context.input(0).shape[1]),
          .out_channels = static_cast<int32_t>(context.output().shape[1]),
          .groups = p.group,
          .kernel = extent(p.kernel),
          .stride = extent(p.stride),
          .dilation = extent(p.dilation),
          .transposed = p.transposed};
}

kernels::ConvExtents extents_of(const StepContext& context, const ConvParams& p) {
  const Shape &in = context.input(0).shape, &out = context.output().shape;
  return {.batch = static_cast<int32_t>(in[0]),
          .in = {static_cast<int32_t>(in[2]), static_cast<int32_t>(in[3])},
          .out = {static_cast<int32_t>(out[2]), static_cast<int32_t>(out[3])},
          .pad_before = {p.pads.top, p.pads.left}};
}

kernels::WeightOrder order_of(const ConvParams& p) {
  return p.transposed ? kernels::WeightOrder::kIohw : kernels::WeightOrder::kOihw;
}

struct Activations {
  kernels::Activation before = kernels::Activation::kNone;
  bool relu_after_add = false;
};

kernels::Activation to_kernel(program::Activation activation) {
  switch (activation) {
    case program::Activation::kNone:
      return kernels::Activation::kNone;
    case program::Activation::kRelu:
      return kernels::Activation::kRelu;
    case program::Activation::kClip:
      return kernels::Activation::kClip;
  }
  return kernels::Activation::kNone;
}

// Stages that vendor files have in place of an activation.
bool has_table_or_slope(const ConvParams& p) { return p.lookup || p.slope; }

Result<Activations> activations_of(const StepContext& context, const ConvParams& p) {
  const bool has_addend = context.has_input(3);
  if (!has_addend && p.activation == program::Activation::kNone && !has_table_or_slope(p))
    return Activations{to_kernel(p.post_activation), false};
  if (p.post_activation == program::Activation::kClip) {
    return unsupported("a clip after the addition runs on no target; only Relu does");
  }
  return Activations{to_kernel(p.activation), p.post_activation == program::Activation::kRelu};
}

PackedConstants::ConvKey key_of(const StepContext& context, const ConvParams& p) {
  PackedConstants::ConvKey key;
  key.dtype = context.input(0).dtype;
  key.weight = context.input(1).weight;
  if (context.has_input(2)) key.bias = context.input(2).weight;
  if (context.has_input(4)) key.scales = context.input(4).weight;
  key.in_channels = context.input(0).shape[1];
  key.out_channels = context.output().shape[1];
  key.has_addend = context.has_input(3);
  key.params = p;
  key.params.pads = {};
  return key;
}

// Units are rows of tiles, rows innermost; a kernel that counts otherwise is not split between cores. A few neighboring
// rows share input and all rows of a small picture share weights.
StepCall::Rows rows_of(int64_t units, const kernels::ConvExtents& extents, int64_t cost) {
  constexpr int64_t kTallPicture = 28, kFewRows = 4, kManyTiles = 6;
  // The rows of a matrix: a few of them would read all weights.
  constexpr int64_t kMatrixRows = 24;
  const int64_t rows = extents.out.h;
  if (rows == 1 && extents.out.w == 1 && extents.batch >= kTallPicture)
    return {.tiles = 1, .rows = units, .cost = cost, .together = kMatrixRows};
  if (rows <= 0 || units % rows != 0) return {.tiles = 1, .rows = units, .cost = cost};
  const int64_t tiles = units / rows;
  const int64_t together = rows >= kTallPicture ? kFewRows : tiles >= kManyTiles ? rows : 1;
  return {.tiles = tiles, .rows = rows, .cost = cost, .together = together};
}

// Cycles of one of `units`, roughly, for a kernel that does `rate` products a cycle.
int64_t unit_cost(const kernels::ConvFilter& filter, const kernels::ConvExtents& extents,
                  int64_t units, int64_t rate) {
  if (filter.depthwise()) rate = 8;
  const double products = static_cast<double>(extents.batch) * extents.out.h * extents.out.w *
                          filter.in_per_group() * filter.out_channels * filter.kernel.h *
                          filter.kernel.w;
  const double cost = products / static_cast<double>(rate * std::max<int64_t>(units, 1));
  return static_cast<int64_t>(std::min(cost, 1e9)) + 1;
}

void set_stages(const ConvParams& p, kernels::ConvI8Params& params) {
  params.multiplier_shift = p.multiplier_shift;
  if (p.lookup) {
    const program::LookupStage& s = *p.lookup;
    params.lookup = kernels::ConvLookup{s.multiplier,  s.addend, s.shift, s.start, s.end,
                                        s.entry_shift, s.low,    s.high,  s.below, s.above};
  }
  if (p.slope) {
    const program::SlopeStage& s = *p.slope;
    params.slope = kernels::ConvSlope{s.negative_multiplier_shift, s.positive_shift,
                                      s.negative_shift, s.factor};
  }
}

// With `phases` the plain convolution that stands for a transposed one; kUnsupported where integers do not suffice.
Result<kernels::PackedConvI8> pack_i8(const StepContext& context, const ConvParams& p,
                                      const std::optional<ConvPhases>& phases) {
  RK_ASSIGN(const Activations activations, activations_of(context, p));
  RK_ASSIGN(const program::ConvConstants constants,
            program::unpack_conv_constants(context.program, context.variant, context.step));
  kernels::ConvI8Params params;
  params.filter = filter_of(context, p);
  params.order = order_of(p);
  params.weights = constants.weights.data();
  params.weight_offset = constants.channels.offset.data();
  params.bias = constants.channels.bias.data();
  params.multiplier = constants.channels.multiplier.data();
  params.input_zero_point = p.pad_value;
  params.activation = activations.before;
  params.clip = static_cast<int32_t>(p.clip_limit);
  set_stages(p, params);
  params.has_residual = context.has_input(3);
  params.residual_offset = p.addend.offset;
  params.residual_scale = p.addend.scale;
  params.relu_after_add = activations.relu_after_add;
  params.output = output_stage(p.output);
  params.usual_output = extents_of(context, p).out;
  int64_t& spare = context.constants.spare_bytes(context.program);
  params.spare_bytes = spare;
  params.pool = context.constants.pool;
  RK_TRY(kernels::check_conv_filter(params.filter));
  PhaseConstantsI8 held;
  if (phases && !to_phases(*phases, params, held))
    return unsupported("a constant of the phases leaves its type");
  RK_ASSIGN(kernels::PackedConvI8 packed, kernels::pack_conv_i8(params));
  const auto extra = static_cast<int64_t>(packed.weights.size()) - std::ssize(constants.weights);
  spare -= std::clamp<int64_t>(extra, 0, spare);
  return packed;
}

Result<std::shared_ptr<const kernels::PackedConvI8>> packed_i8(const StepContext& context,
                                                               const ConvParams& p) {
  return context.constants.conv<kernels::PackedConvI8>(
      key_of(context, p), [&] { return pack_i8(context, p, std::nullopt); });
}

std::optional<ConvPhases> phases_of(const StepContext& context, const ConvParams& p) {
  return find_phases(filter_of(context, p), extents_of(context, p), context.has_input(3));
}

// The output is all that the pixels of the input are spread over.
bool repeats_all_pixels(const kernels::ConvFilter& f, const kernels::ConvExtents& e) {
  const auto times = [](int32_t in, int32_t stride, int32_t out) {
    return int64_t{in} * stride == out;
  };
  return f.transposed && e.pad_before == kernels::Extent2{0, 0} &&
         times(e.in.h, f.stride.h, e.out.h) && times(e.in.w, f.stride.w, e.out.w);
}

Result<StepFunction> prepare_i8(const StepContext& context, const ConvParams& p) {
  // Phases are channels of their own, for which there would be no slopes.
  const bool one_slope = !p.slope || p.slope->factor.size() == 1;
  if (const auto phases = phases_of(context, p); phases && one_slope) {
    RK_TRY(kernels::check_conv_filter(phases->filter));
    RK_TRY(kernels::check_conv_extents(phases->extents));
    auto plain = pack_i8(context, p, phases);
    if (plain.ok()) {
      return run_phases(*phases, std::make_shared<const kernels::PackedConvI8>(std::move(*plain)),
                        context.step.inputs[0], context.step.outputs[0]);
    }
    if (plain.status().code() != Code::kUnsupported) return plain.status();
  }
  RK_ASSIGN(const auto packed, packed_i8(context, p));
  const kernels::ConvExtents extents = extents_of(context, p);
  RK_TRY(kernels::check_conv_extents(extents));
  if (repeats_all_pixels(packed->params.filter, extents)) {
    if (const auto bytes = kernels::repeated_bytes(*packed))
      return prepare_repeat(context, packed->params.filter.stride, *bytes);
  }
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  const int32_t residual = context.has_input(3) ? context.step.inputs[3] : program::kNone;
  const bool interleaved = context.host(input).interleaved;
  return StepFunction([=, core_rows = context.step.core_rows](const StepCall& call) {
    kernels::ConvI8Args args;
    args.packed = packed.get();
    args.extents = extents;
    args.input = call.data<int8_t>(input);
    args.interleaved_input = interleaved;
    if (residual != program::kNone) args.residual = call.data<int8_t>(residual);
    args.output = call.data<int8_t>(output);
    const int64_t units = kernels::conv_i8_units(args);
    const int64_t cost = unit_cost(packed->params.filter, extents, units, 64);
    const auto run = [&](IndexRange range) { kernels::conv_i8(args, range); };
    if (packed->kernel->units != nullptr) {
      // Such kernels prepare much for all that they are given: one part per thread.
      call.parallel(units, cost, run, ceil_div<int64_t>(units, call.threads()));
    } else {
      StepCall::Rows rows = rows_of(units, extents, cost);
      rows.one_part = packed->kernel->large_ranges;
      call.parallel_rows(rows, core_rows, run);
    }
    return ok_status();
  });
}

// Narrow weights become float16, the type they are multiplied in.
Result<Tensor> float_weights(const StepContext& context, const ConvParams& p) {
  const program::ProgramTensor& weight = context.input(1);
  const ByteSpan bytes = context.constant_bytes(1);
  if (weight.dtype == DType::kF16 || weight.dtype == DType::kF32) {
    const auto count = static_cast<size_t>(weight.shape.elements());
    return Tensor::from_bytes({weight.dtype, weight.shape},
                              bytes.first(count * byte_size(weight.dtype)));
  }
  const Shape& shape = context.input(4).shape;
  RK_ASSIGN(const Tensor constants,
            Tensor::from_bytes({DType::kF32, shape},
                               context.constant_bytes(4).first(
                                   static_cast<size_t>(shape.elements()) * sizeof(float))));
  const int64_t channels = context.output().shape[1];
  const auto channel_of =
      program::output_channels(weight.shape, p, context.input(0).shape[1], channels);
  const std::vector<float> values =
      program::widen_weights(weight.dtype, bytes, constants.span<float>(), channel_of, channels);
  return Tensor::f32(weight.shape, values).cast(DType::kF16);
}

Result<kernels::PackedConvF16> pack_f16(const StepContext& context, const ConvParams& p,
                                        const std::optional<ConvPhases>& phases) {
  RK_ASSIGN(const Activations activations, activations_of(context, p));
  kernels::ConvF16Params params;
  params.filter = filter_of(context, p);
  params.order = order_of(p);
  // The file's bytes may lie at any address; kernels read whole elements.
  RK_ASSIGN(const Tensor weight, float_weights(context, p));
  Tensor bias;
  if (weight.dtype() == DType::kF16) {
    params.weights_f16 = weight.data<uint16_t>();
  } else {
    params.weights_f32 = weight.data<float>();
  }
  if (context.has_input(2)) {
    const Shape& shape = context.input(2).shape;
    RK_ASSIGN(bias, Tensor::from_bytes({DType::kF32, shape},
                                       context.constant_bytes(2).first(
                                           static_cast<size_t>(shape.elements()) * 4)));
    params.bias = bias.data<float>();
  }
  const kernels::ConvExtents extents = extents_of(context, p);
  params.output_pixels = int64_t{extents.batch} * extents.out.h * extents.out.w;
  params.activation = activations.before;
  params.clip = p.clip_limit_f32;
  params.has_residual = context.has_input(3);
  params.relu_after_add = activations.relu_after_add;
  RK_TRY(kernels::check_conv_filter(params.filter));
  PhaseConstantsF16 held;
  if (phases) to_phases(*phases, params, held);
  return kernels::pack_conv_f16(params);
}

Result<std::shared_ptr<const kernels::PackedConvF16>> packed_f16(const StepContext& context,
                                                                 const ConvParams& p) {
  return context.constants.conv<kernels::PackedConvF16>(
      key_of(context, p), [&] { return pack_f16(context, p, std::nullopt); });
}

Result<StepFunction> prepare_f16(const StepContext& context, const ConvParams& p) {
  if (const auto phases = phases_of(context, p)) {
    RK_TRY(kernels::check_conv_filter(phases->filter));
    RK_TRY(kernels::check_conv_extents(phases->extents));
    RK_ASSIGN(kernels::PackedConvF16 plain, pack_f16(context, p, phases));
    return run_phases(*phases, std::make_shared<const kernels::PackedConvF16>(std::move(plain)),
                      context.step.inputs[0], context.step.outputs[0]);
  }
  RK_ASSIGN(const auto packed, packed_f16(context, p));
  F16Operands operands;
  operands.input = context.step.inputs[0];
  operands.output = context.step.outputs[0];
  if (context.has_input(3)) operands.residual = context.step.inputs[3];
  operands.interleaved = context.host(operands.input).interleaved;
  return run_conv_f16(context, packed, extents_of(context, p), operands);
}

}  // namespace

bool reads_interleaved(const StepContext& context) {
  const auto* const p = std::get_if<ConvParams>(&context.step.params);
  if (p == nullptr || p->transposed) return false;
  // What cannot be packed is reported when the step is prepared.
  const auto takes = [](const auto& packed) {
    return packed.ok() && kernels::takes_interleaved_input(**packed);
  };
  const DType dtype = context.input(0).dtype;
  return dtype == DType::kI8    ? takes(packed_i8(context, *p))
         : dtype == DType::kF16 ? takes(packed_f16(context, *p))
                                : false;
}

Result<StepFunction> run_conv_f16(const StepContext& context,
                                  const std::shared_ptr<const kernels::PackedConvF16>& packed,
                                  const kernels::ConvExtents& extents,
                                  const F16Operands& operands) {
  RK_TRY(kernels::check_conv_extents(extents));
  return StepFunction([=, core_rows = context.step.core_rows](const StepCall& call) {
    kernels::ConvF16Args args;
    args.packed = packed.get();
    args.extents = extents;
    args.input = call.data<uint16_t>(operands.input);
    args.interleaved_input = operands.interleaved;
    if (operands.residual != program::kNone) args.residual = call.data<uint16_t>(operands.residual);
    args.output = call.data<uint16_t>(operands.output);
    const int64_t units = kernels::conv_f16_units(args);
    const int64_t cost = unit_cost(packed->params.filter, extents, units, 16);
    auto rows = rows_of(units, extents, cost);
    rows.one_part = kernels::takes_large_ranges(*packed);
    call.parallel_rows(rows, core_rows, [&](IndexRange range) { kernels::conv_f16(args, range); });
    return ok_status();
  });
}

Result<StepFunction> prepare_conv(const StepContext& context, const ConvParams& params) {
  if (context.input(0).dtype != DType::kI8) return prepare_f16(context, params);
  return prepare_i8(context, params);
}

}  // namespace rk::runtime::host
