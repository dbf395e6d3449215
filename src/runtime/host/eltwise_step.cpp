// SPDX-License-Identifier: Apache-2.0
// Sum, concatenation and table steps. Sum and table work on flat arrays: their operands have one shape and dtype, so
// the plan gives all of them the same layout, and padding lanes are computed along with the rest.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/eltwise/eltwise.h"
#include "kernels/layout/convert.h"
#include "runtime/host/select.h"
#include "runtime/host/stages.h"

namespace rk::runtime::host {
namespace {

constexpr int64_t kRunCycles = kernels::kEltwiseRun / 2;  // of the slower ones

int64_t flat_elements(const StepContext& context) {
  return static_cast<int64_t>(context.host(context.step.outputs[0]).size_bytes /
                              byte_size(context.output().dtype));
}

StepFunction sum_f16(const StepContext& context, const program::SumParams& p) {
  const std::vector<int32_t> inputs = context.step.inputs;
  const int32_t output = context.step.outputs[0];
  const int64_t elements = flat_elements(context);
  const bool relu = p.activation == program::Activation::kRelu;
  return [=](const StepCall& call) {
    kernels::SumF16Args args;
    args.output = call.data<uint16_t>(output);
    args.elements = elements;
    args.a = call.data<uint16_t>(inputs[0]);
    // Two operands at a time; each partial sum is rounded, as it would be in the chip's memory.
    for (size_t i = 1; i < std::max<size_t>(2, inputs.size()); ++i) {
      args.b = i < inputs.size() ? call.data<uint16_t>(inputs[i]) : nullptr;
      args.relu = relu && i + 1 >= inputs.size();
      call.parallel(kernels::eltwise_units(elements), kRunCycles,
                    [&](IndexRange units) { kernels::sum_f16(args, units); });
      args.a = args.output;
    }
    return ok_status();
  };
}

// Bytes of one input of a concatenation: `outer` runs of `run` bytes, `output_stride` apart in the output.
struct ConcatPart {
  int32_t tensor = program::kNone;
  int32_t channels = 0;  // blocked, channel axis
  int32_t channel_begin = 0;
  int64_t run_bytes = 0;  // otherwise
  int64_t output_offset = 0;
  bool rescale = false;
  std::array<int8_t, 256> table{};
};

struct ConcatPlan {
  std::vector<ConcatPart> parts;
  int32_t output = program::kNone;
  bool by_channel = false;
  kernels::ActivationShape shape;  // of the output, when by_channel
  int32_t element_bytes = 1;
  int64_t outer = 1;
  int64_t output_run_bytes = 0;
};

// Extents as they lie in memory: [n, C1, h, w, 16] for a blocked tensor.
struct MemoryAxis {
  int64_t outer = 1;
  int64_t inner_bytes = 1;
};
MemoryAxis memory_axis(const program::ProgramTensor& tensor, bool blocked, int axis) {
  MemoryAxis out;
  const Shape& shape = tensor.shape;
  const auto extent_of = [&](int i) {
    return blocked && i == 1 ? kernels::channel_blocks(static_cast<int32_t>(shape[1])) : shape[i];
  };
  for (int i = 0; i < axis; ++i) out.outer *= extent_of(i);
  for (int i = axis + 1; i < shape.rank(); ++i) out.inner_bytes *= extent_of(i);
  out.inner_bytes *=
      static_cast<int64_t>(byte_size(tensor.dtype)) * (blocked ? kernels::kHostBlock : 1);
  return out;
}

Status copy_by_channel(const ConcatPlan& plan, const StepCall& call) {
  const int64_t rows = kernels::layout_units(plan.shape);
  for (const ConcatPart& part : plan.parts) {
    kernels::ChannelCopyArgs args;
    args.batch = plan.shape.batch;
    args.extent = plan.shape.extent;
    args.element_bytes = plan.element_bytes;
    args.input = call.data<uint8_t>(part.tensor);
    args.input_channels = part.channels;
    args.output = call.data<uint8_t>(plan.output);
    args.output_channels = plan.shape.channels;
    args.output_begin = part.channel_begin;
    args.count = part.channels;
    args.table = part.rescale ? part.table.data() : nullptr;
    call.parallel(rows, int64_t{part.channels} * plan.shape.extent.w / 16,
                  [&](IndexRange units) { kernels::copy_channels(args, units); });
  }
  return ok_status();
}

Status copy_runs(const ConcatPlan& plan, const StepCall& call) {
  for (const ConcatPart& part : plan.parts) {
    const uint8_t* const from = call.data<uint8_t>(part.tensor);
    uint8_t* const to = call.data<uint8_t>(plan.output) + part.output_offset;
    call.parallel(plan.outer, part.run_bytes / 16, [&](IndexRange range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const uint8_t* const source = from + i * part.run_bytes;
        uint8_t* const target = to + i * plan.output_run_bytes;
        if (!part.rescale) {
          std::memcpy(target, source, static_cast<size_t>(part.run_bytes));
          continue;
        }
        kernels::table_i8({reinterpret_cast<const int8_t*>(source),
                           reinterpret_cast<int8_t*>(target), part.table.data(), part.run_bytes},
                          {0, kernels::eltwise_units(part.run_bytes)});
      }
    });
  }
  return ok_status();
}

Status set_rescale(const program::ConcatParams& p, size_t input, ConcatPart& part) {
  if (p.identity) return ok_status();
  const kernels::InputStage in = input_stage(p.inputs[input]);
  const kernels::OutputStage out = output_stage(p.output);
  RK_TRY(kernels::check_rescale(in, out));
  part.rescale = !kernels::make_rescale_table(in, out, part.table.data());
  return ok_status();
}

}  // namespace

Result<StepFunction> prepare_sum(const StepContext& context, const program::SumParams& p) {
  if (context.input(0).dtype != DType::kI8) return sum_f16(context, p);
  const int32_t output = context.step.outputs[0];
  const std::vector<int32_t> tensors = context.step.inputs;
  std::vector<kernels::SumI8Input> inputs(tensors.size());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].stage = input_stage(p.inputs[i]);
  kernels::SumI8Args prototype;
  prototype.inputs = inputs.data();
  prototype.input_count = static_cast<int32_t>(inputs.size());
  prototype.relu = p.activation == program::Activation::kRelu;
  prototype.output_stage = output_stage(p.output);
  prototype.elements = flat_elements(context);
  RK_TRY(kernels::check_sum_i8(prototype));
  return StepFunction([=](const StepCall& call) {
    std::vector<kernels::SumI8Input> operands = inputs;
    for (size_t i = 0; i < operands.size(); ++i) operands[i].data = call.data<int8_t>(tensors[i]);
    kernels::SumI8Args args = prototype;
    args.inputs = operands.data();
    args.output = call.data<int8_t>(output);
    call.parallel(kernels::eltwise_units(args.elements), kRunCycles,
                  [&](IndexRange units) { kernels::sum_i8(args, units); });
    return ok_status();
  });
}

Result<StepFunction> prepare_concat(const StepContext& context, const program::ConcatParams& p) {
  auto plan = std::make_shared<ConcatPlan>();
  plan->output = context.step.outputs[0];
  const bool blocked = context.host(plan->output).blocked;
  plan->by_channel = blocked && p.axis == 1;
  plan->element_bytes = static_cast<int32_t>(byte_size(context.output().dtype));
  if (plan->by_channel) plan->shape = activation_shape(context.output().shape);
  const MemoryAxis out = memory_axis(context.output(), blocked, p.axis);
  plan->outer = out.outer;
  plan->output_run_bytes = out.inner_bytes * context.output().shape[p.axis];
  int32_t channel = 0;
  int64_t offset = 0;
  uint64_t placed_bytes = 0;
  for (size_t i = 0; i < context.step.inputs.size(); ++i) {
    ConcatPart part;
    part.tensor = context.step.inputs[i];
    const Shape& shape = context.input(i).shape;
    if (shape.elements() == 0) continue;  // adds nothing, and has no layout
    const bool in_place = context.host(part.tensor).parent == plan->output &&
                          context.host(part.tensor).offset_in_parent == placed_bytes;
    placed_bytes += context.host(part.tensor).size_bytes;
    part.channels = plan->by_channel ? static_cast<int32_t>(shape[1]) : 0;
    part.channel_begin = channel;
    part.run_bytes = out.inner_bytes * shape[p.axis];
    part.output_offset = offset;
    RK_TRY(set_rescale(p, i, part));
    channel += part.channels;
    offset += part.run_bytes;
    if (!in_place) plan->parts.push_back(part);
  }
  return StepFunction(
      [plan = std::shared_ptr<const ConcatPlan>(std::move(plan))](const StepCall& call) {
        return plan->by_channel ? copy_by_channel(*plan, call) : copy_runs(*plan, call);
      });
}

Result<StepFunction> prepare_table(const StepContext& context, const program::TableParams& p) {
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  const int64_t elements = flat_elements(context);
  return StepFunction([=, table = p.table](const StepCall& call) {
    const kernels::TableI8Args args{call.data<int8_t>(input), call.data<int8_t>(output),
                                    table.data(), elements};
    call.parallel(kernels::eltwise_units(elements), kRunCycles,
                  [&](IndexRange units) { kernels::table_i8(args, units); });
    return ok_status();
  });
}

}  // namespace rk::runtime::host
