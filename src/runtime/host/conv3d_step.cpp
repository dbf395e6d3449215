// SPDX-License-Identifier: Apache-2.0
// 3-D convolutions of fp16 tensors on the kernel for pictures: the slices of the input become blocked pictures one after
// another, so that those which one output slice reads are the channels of one larger picture, where they lie.
//
// Note: slices beyond the volume count as channels too. They exist in scratch, filled with 0.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "ir/graph.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/layout/convert.h"
#include "ops/nn/conv.h"
#include "runtime/host/select.h"
#include "runtime/host/stages.h"

namespace rk::runtime::host {
namespace {

using program::ProgramTensor;

struct Volume {
  ops::ConvAttrs attrs;
  ops::Extent in, out;
  int64_t batch = 1;
  // Pictures that the input is cut into: its slices with those beyond it, which output slices share, or where channels do
  // not fill whole blocks one picture for each output slice.
  bool shared = false;
  int64_t pictures = 0, channels = 0;

  int64_t filter_channels() const { return attrs.in_channels * attrs.window.kernel.d; }
};

bool is_plain_half(const ProgramTensor& t) {
  return t.dtype == DType::kF16 && !t.quantized() && !t.is_constant() && t.shape.rank() == 5;
}

// The attributes as the operator understands them; only types are looked at.
Result<ops::ConvAttrs> attrs_of(const StepContext& context, const program::OpParams& p) {
  Graph graph(context.operators);
  NodeSpec spec{
      .op = p.op, .name = context.step.name, .inputs = {}, .outputs = {"y"}, .attrs = p.attrs};
  for (size_t i = 0; i < context.step.inputs.size(); ++i) {
    RK_ASSIGN(Value* const value,
              graph.add_input(str("x", i), {DType::kF32, context.input(i).shape}));
    spec.inputs.push_back(value);
  }
  RK_ASSIGN(const Node* const node, graph.add_node(std::move(spec)));
  if (!(node->output().shape() == context.output().shape))
    return invalid_model("the output has another shape");
  return ops::conv_attrs(*node);
}

std::variant<Volume, Refusal> volume_of(const StepContext& context, const program::OpParams& p) {
  if (p.op != "Conv" || context.step.inputs.size() < 2) return Refusal{"not a convolution"};
  for (size_t i = 0; i < context.step.inputs.size(); ++i) {
    if (!context.has_input(i) || (i > 0 && !is_float_constant(context.input(i))))
      return Refusal{"weights or bias are not float constants"};
  }
  if (!is_plain_half(context.input(0)) || !is_plain_half(context.output()))
    return Refusal{"input or output is not fp16 of rank 5"};
  const auto attrs = attrs_of(context, p);
  if (!attrs.ok() || attrs->group != 1 || context.output().shape.elements() == 0)
    return Refusal{"grouped, or without a result"};
  Volume v;
  v.attrs = *attrs;
  v.in = ops::spatial_extent(context.input(0).shape);
  v.out = ops::spatial_extent(context.output().shape);
  v.batch = context.input(0).shape[0];
  const ops::Window& window = v.attrs.window;
  v.shared = v.attrs.in_channels % kernels::kHostBlock == 0 && window.dilation.d == 1;
  v.pictures = v.shared ? (v.out.d - 1) * window.stride.d + window.kernel.d : v.out.d;
  v.channels = v.shared ? v.attrs.in_channels : v.filter_channels();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 16;
  const int64_t largest = std::max(
      {v.in.h * v.in.w, v.out.h * v.out.w, v.pictures, v.out.d, v.filter_channels(),
       v.attrs.out_channels, window.pads.begin(1), window.pads.begin(2), window.kernel.h,
       window.kernel.w, window.stride.h, window.stride.w, window.dilation.h, window.dilation.w});
  if (largest > kMost) return Refusal{"an extent is too large"};
  // Far steps through a wide border would ask for more scratch than a model's tensors are worth.
  const int64_t scratch[] = {v.pictures, align_up<int64_t>(v.channels, kernels::kHostBlock), v.in.h,
                             v.in.w};
  const auto elements = checked_product(scratch);
  const int64_t held = context.input(0).shape.elements() + context.output().shape.elements();
  if (!elements || *elements / 32 > static_cast<uint64_t>(held))
    return Refusal{"it would take more scratch than its tensors are worth"};
  return v;
}

// Weights [out][in][d][h][w] with slices before channels, as the pictures have them.
Tensor slices_first(const Tensor& weights, const ops::ConvAttrs& attrs) {
  const int64_t taps = attrs.window.kernel.h * attrs.window.kernel.w;
  const int64_t depth = attrs.window.kernel.d;
  const auto run = static_cast<size_t>(taps) * byte_size(weights.dtype());
  Tensor out = Tensor::make(weights.type());
  uint8_t* to = out.mutable_data<uint8_t>();
  for (int64_t o = 0; o < attrs.out_channels; ++o) {
    for (int64_t d = 0; d < depth; ++d) {
      for (int64_t c = 0; c < attrs.in_channels; ++c, to += run) {
        const int64_t from = (o * attrs.in_channels + c) * depth + d;
        std::memcpy(to, weights.data<uint8_t>() + static_cast<size_t>(from) * run, run);
      }
    }
  }
  return out;
}

Result<kernels::PackedConvF16> pack(const StepContext& context, const Volume& v) {
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  const ops::Window& window = v.attrs.window;
  kernels::ConvF16Params params;
  params.filter = {.in_channels = narrow(v.filter_channels()),
                   .out_channels = narrow(v.attrs.out_channels),
                   .kernel = {narrow(window.kernel.h), narrow(window.kernel.w)},
                   .stride = {narrow(window.stride.h), narrow(window.stride.w)},
                   .dilation = {narrow(window.dilation.h), narrow(window.dilation.w)}};
  RK_ASSIGN(const Tensor stored, stored_constant(context, 1));
  const Tensor weights = slices_first(stored, v.attrs);
  if (weights.dtype() == DType::kF16) {
    params.weights_f16 = weights.data<uint16_t>();
  } else {
    params.weights_f32 = weights.data<float>();
  }
  Tensor bias;
  if (context.has_input(2)) {
    RK_ASSIGN(const Tensor addend, stored_constant(context, 2));
    bias = addend.cast(DType::kF32);
    params.bias = bias.data<float>();
  }
  params.output_pixels = v.out.product();
  return kernels::pack_conv_f16(params);
}

// Planes of `from` by the input slice they show; -1 is a slice beyond.
struct Planes {
  const uint16_t* from;
  int64_t slices, plane;

  void copy(int64_t channel, int64_t slice, uint16_t* to) const {
    const auto bytes = static_cast<size_t>(plane) * sizeof(uint16_t);
    if (slice < 0 || slice >= slices) {
      std::memset(to, 0, bytes);
    } else {
      std::memcpy(to, from + (channel * slices + slice) * plane, bytes);
    }
  }
};

// [picture][channel][h][w], plain.
void cut_slices(const Volume& v, const uint16_t* input, const StepCall& call, uint16_t* to) {
  const ops::Window& window = v.attrs.window;
  const Planes planes{input, v.in.d, v.in.h * v.in.w};
  call.parallel(v.pictures, v.channels * planes.plane / 16, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      uint16_t* at = to + i * v.channels * planes.plane;
      const int64_t first = (v.shared ? i : i * window.stride.d) - window.pads.begin(0);
      for (int64_t k = 0; k < (v.shared ? 1 : window.kernel.d); ++k) {
        for (int64_t c = 0; c < v.attrs.in_channels; ++c, at += planes.plane)
          planes.copy(c, first + k * window.dilation.d, at);
      }
    }
  });
}

// [slice][channel] to [channel][slice].
void join_slices(const Volume& v, const uint16_t* from, const StepCall& call, uint16_t* output) {
  const int64_t plane = v.out.h * v.out.w;
  call.parallel(v.attrs.out_channels, v.out.d * plane / 16, [&](IndexRange range) {
    for (int64_t c = range.begin; c < range.end; ++c) {
      for (int64_t d = 0; d < v.out.d; ++d) {
        std::memcpy(output + (c * v.out.d + d) * plane,
                    from + (d * v.attrs.out_channels + c) * plane,
                    static_cast<size_t>(plane) * sizeof(uint16_t));
      }
    }
  });
}

kernels::ActivationShape pictures(int64_t count, int64_t channels, const ops::Extent& extent) {
  return {static_cast<int32_t>(count),
          static_cast<int32_t>(channels),
          {static_cast<int32_t>(extent.h), static_cast<int32_t>(extent.w)}};
}

void relayout(const kernels::ActivationShape& shape, const uint16_t* from, uint16_t* to,
              void (*kernel)(const kernels::PlainArgs&, IndexRange), const StepCall& call) {
  kernels::PlainArgs args{shape, sizeof(uint16_t), kernels::PlainLayout::kNchw, 0, from, to, 0};
  call.parallel(kernels::layout_units(shape), int64_t{shape.channels} * shape.extent.w / 4,
                [&](IndexRange units) { kernel(args, units); });
}

struct VolumeStep {
  Volume v;
  std::shared_ptr<const kernels::PackedConvF16> packed;
  int32_t input = program::kNone, output = program::kNone;

  Status operator()(const StepCall& call) const {
    const auto in = pictures(v.pictures, v.channels, v.in);
    const auto out = pictures(v.out.d, v.attrs.out_channels, v.out);
    // One pair of tensors serves both sides: plain, and in blocks.
    const int64_t elements =
        std::max(kernels::blocked_elements(in), kernels::blocked_elements(out));
    RK_ASSIGN(Tensor plain_tensor, call.scratch->take({DType::kF16, {elements}}));
    RK_ASSIGN(Tensor blocked_tensor, call.scratch->take({DType::kF16, {2, elements}}));
    auto* const plain = plain_tensor.mutable_data<uint16_t>();
    auto* const blocked = blocked_tensor.mutable_data<uint16_t>();
    kernels::ConvF16Args args;
    args.packed = packed.get();
    args.extents = {.batch = out.batch,
                    .in = in.extent,
                    .out = out.extent,
                    .pad_before = {static_cast<int32_t>(v.attrs.window.pads.begin(1)),
                                   static_cast<int32_t>(v.attrs.window.pads.begin(2))}};
    args.input = blocked;
    args.output = blocked + elements;
    if (v.shared) {
      args.input_batch_stride =
          v.attrs.window.stride.d * kernels::blocked_elements(pictures(1, v.channels, v.in));
    }
    const int64_t units = kernels::conv_f16_units(args);
    const double products = static_cast<double>(v.filter_channels()) * v.attrs.out_channels *
                            v.attrs.window.kernel.h * v.attrs.window.kernel.w * v.out.product();
    const auto cost = static_cast<int64_t>(std::min(products / (16.0 * units), 1e9)) + 1;
    for (int64_t n = 0; n < v.batch; ++n) {
      const int64_t in_volume = v.attrs.in_channels * v.in.product();
      cut_slices(v, call.data<const uint16_t>(input) + n * in_volume, call, plain);
      relayout(in, plain, blocked, kernels::plain_to_blocked, call);
      call.parallel(units, cost, [&](IndexRange range) { kernels::conv_f16(args, range); });
      relayout(out, args.output, plain, kernels::blocked_to_plain, call);
      join_slices(v, plain, call,
                  call.data<uint16_t>(output) + n * v.attrs.out_channels * v.out.product());
    }
    call.scratch->give(std::move(plain_tensor));
    call.scratch->give(std::move(blocked_tensor));
    return ok_status();
  }
};

}  // namespace

Result<Attempt> prepare_volume(const StepContext& context, const program::OpParams& p) {
  const auto found = volume_of(context, p);
  if (const auto* const refusal = std::get_if<Refusal>(&found)) return Attempt(*refusal);
  const auto* const volume = std::get_if<Volume>(&found);
  RK_ASSIGN(kernels::PackedConvF16 packed, pack(context, *volume));
  VolumeStep step{*volume, std::make_shared<const kernels::PackedConvF16>(std::move(packed)),
                  context.step.inputs[0], context.step.outputs[0]};
  return Attempt(StepFunction(std::move(step)));
}

}  // namespace rk::runtime::host
