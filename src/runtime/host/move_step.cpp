// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements run as nested loops over the tensors where they lie. The loops are found by running
// the operator once, at load, on the numbers of its input's elements; so every such operator is served, and blocked
// tensors as well as plain ones.
//
// Note: padding lanes of a blocked output come from nowhere. Only whole channels and neighbors of a plain input move to
// such outputs; what else does is left to the general way.
#include <cstring>
#include <limits>
#include <numeric>

#include "evaluator/evaluate.h"
#include "ir/graph.h"
#include "kernels/eltwise/eltwise.h"
#include "kernels/layout/convert.h"
#include "kernels/layout/move.h"
#include "kernels/layout/quantize.h"
#include "runtime/host/select.h"
#include "runtime/host/stages.h"

namespace rk::runtime::host {
namespace {

using program::ProgramTensor;

// Finding the loops takes a few nanoseconds for each.
constexpr int64_t kMostElements = 1 << 24;
constexpr int64_t kTableCycles = 2048;  // of one unit of table_i8, roughly

// Where in memory the elements of a tensor lie, by their number in plain order.
class Places {
 public:
  Places(const ProgramTensor& tensor, const HostTensor& host)
      : blocked_(host.blocked), interleaved_(host.interleaved) {
    if (blocked_) extents_ = picture_extents(tensor.shape);
  }
  // Every place of the tensor's memory is an element's.
  bool full() const {
    return !interleaved_ && (!blocked_ || extents_.c % kernels::kHostBlock == 0);
  }
  bool known() const { return !interleaved_; }
  int64_t of(int64_t element) const {
    if (!blocked_) return element;
    const int64_t pixels = extents_.h * extents_.w;
    const int64_t pixel = element % pixels, c = element / pixels % extents_.c;
    const int64_t n = element / pixels / extents_.c;
    const int64_t blocks = (extents_.c + kernels::kHostBlock - 1) / kernels::kHostBlock;
    return ((n * blocks + c / kernels::kHostBlock) * pixels + pixel) * kernels::kHostBlock +
           c % kernels::kHostBlock;
  }

 private:
  bool blocked_, interleaved_;
  PictureExtents extents_;
};

// For each output the numbers of the input's elements, in plain order.
Result<std::vector<Tensor>> trace(const StepContext& context, const program::OpParams& p) {
  Graph graph(context.operators);
  NodeSpec spec{
      .op = p.op, .name = context.step.name, .inputs = {}, .outputs = {}, .attrs = p.attrs};
  const TensorType type{DType::kI32, context.input(0).shape};
  RK_ASSIGN(Value* const x, graph.add_input("x", type));
  spec.inputs.push_back(x);
  RK_ASSIGN(Tensor numbers, Tensor::try_make(type));
  auto* const first = numbers.mutable_data<int32_t>();
  std::iota(first, first + numbers.elements(), 0);
  std::vector<const Tensor*> arguments = {&numbers};
  for (size_t i = 1; i < context.step.inputs.size(); ++i) {
    arguments.push_back(nullptr);
    spec.inputs.push_back(nullptr);
    if (!context.has_input(i)) continue;
    RK_ASSIGN(Tensor constant, read_constant(context, i));
    spec.inputs.back() = graph.add_constant(str("c", i), std::move(constant));
    arguments.back() = &spec.inputs.back()->constant();
  }
  for (size_t i = 0; i < context.step.outputs.size(); ++i) spec.outputs.push_back(str("y", i));
  RK_ASSIGN(const Node* const node, graph.add_node(std::move(spec)));
  std::vector<Tensor> results;
  for (size_t i = 0; i < context.step.outputs.size(); ++i) {
    if (i >= node->output_count() ||
        node->output(i).type() != TensorType{DType::kI32, context.output(i).shape})
      return unsupported("the operator makes something else");
    RK_ASSIGN(Tensor result, Tensor::try_make(node->output(i).type()));
    results.push_back(std::move(result));
  }
  RK_TRY(evaluator::evaluate_node({*node, arguments, results, nullptr}));
  return results;
}

// The channel that each of the output's comes from, where a picture's pixels stay where they are; else empty.
std::vector<int32_t> channel_sources(const Shape& in, const Shape& out, const Tensor& sources) {
  if (in.rank() != 4 || out.rank() != 4 || in[0] != out[0] || in[2] != out[2] || in[3] != out[3])
    return {};
  const int64_t pixels = in[2] * in[3];
  const int32_t* at = sources.data<int32_t>();
  std::vector<int32_t> channels(static_cast<size_t>(out[1]));
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t c = 0; c < out[1]; ++c, at += pixels) {
      int32_t& channel = channels[static_cast<size_t>(c)];
      if (n == 0) channel = static_cast<int32_t>(*at / pixels);
      if (channel >= in[1]) return {};
      const int64_t first = (n * in[1] + channel) * pixels;
      for (int64_t i = 0; i < pixels; ++i) {
        if (at[i] != first + i) return {};
      }
    }
  }
  return channels;
}

// Moves from `source`, which lies as the step's input does, to one output.
using MoveFunction = std::function<void(const StepCall& call, const uint8_t* source)>;

// Between blocked pictures, whose padding lanes then need no source.
std::optional<MoveFunction> gather_of(const StepContext& context, size_t output,
                                      const Tensor& sources) {
  const int32_t from = context.step.inputs[0], to = context.step.outputs[output];
  const ProgramTensor &in = context.input(0), &out = context.output(output);
  if (!context.host(from).blocked || !context.host(to).blocked || byte_size(out.dtype) > 2)
    return std::nullopt;
  const std::vector<int32_t> channels = channel_sources(in.shape, out.shape, sources);
  if (channels.empty()) return std::nullopt;
  const kernels::ActivationShape shape = activation_shape(out.shape);
  const auto in_channels = static_cast<int32_t>(in.shape[1]);
  const auto bytes = static_cast<int32_t>(byte_size(out.dtype));
  return [=](const StepCall& call, const uint8_t* source) {
    const kernels::ChannelGatherArgs args{shape.batch,    shape.pixels(), bytes,
                                          source,         in_channels,    call.data<uint8_t>(to),
                                          shape.channels, channels.data()};
    call.parallel(kernels::gather_channels_units(args), 4 * shape.pixels(),
                  [&](IndexRange units) { kernels::gather_channels(args, units); });
  };
}

// Neighbors of a plain input, which become a blocked picture, or whole pictures of a blocked batch.
std::optional<MoveFunction> part_of(const StepContext& context, size_t output,
                                    const Tensor& sources) {
  const int32_t to = context.step.outputs[output];
  const HostTensor& from = context.host(context.step.inputs[0]);
  const ProgramTensor& out = context.output(output);
  if (from.interleaved || !context.host(to).blocked) return std::nullopt;
  const auto* const at = sources.data<int32_t>();
  for (int64_t i = 1; i < sources.elements(); ++i) {
    if (at[i] != at[0] + i) return std::nullopt;
  }
  if (from.blocked) {
    const PictureExtents in = picture_extents(context.input(0).shape);
    const PictureExtents picture = picture_extents(out.shape);
    if (in.c != picture.c || in.h != picture.h || in.w != picture.w ||
        at[0] % (in.c * in.h * in.w) != 0) {
      return std::nullopt;
    }
    // Blocks of a picture lie together, their padding lanes too.
    const int64_t begin = Places(context.input(0), from).of(at[0]);
    const auto offset = static_cast<uint64_t>(begin) * byte_size(out.dtype);
    const uint64_t bytes = context.host(to).size_bytes;
    return [=](const StepCall& call, const uint8_t* source) {
      std::memcpy(call.data<uint8_t>(to), source + offset, bytes);
    };
  }
  const uint64_t first = static_cast<uint64_t>(at[0]) * byte_size(out.dtype);
  return [=](const StepCall& call, const uint8_t* source) {
    // convert() only reads what it converts from.
    auto* const data = const_cast<uint8_t*>(source) + first;
    convert(picture_extents(out.shape), host_view(out, HostTensor{}, data),
            host_view(out, call.tensors[static_cast<size_t>(to)], call.data<uint8_t>(to)), {},
            call.pool);
  };
}

std::optional<MoveFunction> loops_of(const StepContext& context, size_t output,
                                     const Tensor& sources) {
  const int32_t input = context.step.inputs[0], index = context.step.outputs[output];
  const Places from(context.input(0), context.host(input));
  const Places to(context.output(output), context.host(index));
  if (!to.full()) return std::nullopt;
  std::vector<int32_t> order(static_cast<size_t>(sources.elements()));
  for (int64_t i = 0; i < sources.elements(); ++i) {
    order[static_cast<size_t>(to.of(i))] =
        static_cast<int32_t>(from.of(sources.data<int32_t>()[i]));
  }
  kernels::MoveArgs found;
  int64_t first = 0;
  if (!kernels::find_move_loops(order.data(), std::ssize(order), found, first)) return std::nullopt;
  found.element_bytes = static_cast<int32_t>(byte_size(context.output(output).dtype));
  const int64_t cost = std::ssize(order) / kernels::move_units(found) + 1;
  return [=](const StepCall& call, const uint8_t* source) {
    kernels::MoveArgs args = found;
    args.input = source + first * args.element_bytes;
    args.output = call.data<uint8_t>(index);
    call.parallel(kernels::move_units(args), cost,
                  [&](IndexRange units) { kernels::move_elements(args, units); });
  };
}

// int8 of one scale to int8 of another, element by element.
std::vector<int8_t> rescaling_table(const ProgramTensor& from, const ProgramTensor& to) {
  std::vector<int8_t> table(256);
  std::iota(table.begin(), table.end(), static_cast<int8_t>(-128));
  float values[256];
  kernels::i8_to_f32(table.data(), values, {from.scale, from.zero_point}, {0, 256});
  kernels::f32_to_i8(values, table.data(), {to.scale, to.zero_point}, {0, 256});
  return table;
}

// Bytes are moved first and then changed where they lie; padding lanes like all others.
MoveFunction rescaled(const StepContext& context, size_t output, MoveFunction move) {
  const int32_t to = context.step.outputs[output];
  const auto bytes = static_cast<int64_t>(context.host(to).size_bytes);
  return [=, table = rescaling_table(context.input(0), context.output(output))](
             const StepCall& call, const uint8_t* source) {
    move(call, source);
    const kernels::TableI8Args args = {call.data<int8_t>(to), call.data<int8_t>(to), table.data(),
                                       bytes};
    call.parallel(kernels::eltwise_units(bytes), kTableCycles,
                  [&](IndexRange units) { kernels::table_i8(args, units); });
  };
}

bool can_trace(const StepContext& context) {
  const ProgramTensor& in = context.input(0);
  if (in.is_constant() || in.shape.elements() == 0 || in.shape.elements() > kMostElements)
    return false;
  if (!Places(in, context.host(context.step.inputs[0])).known()) return false;
  for (size_t i = 1; i < context.step.inputs.size(); ++i) {
    if (context.has_input(i) && !context.input(i).is_constant()) return false;
  }
  for (size_t i = 0; i < context.step.outputs.size(); ++i) {
    const ProgramTensor& out = context.output(i);
    if (out.shape.elements() == 0 || out.shape.elements() > kMostElements) return false;
    if (!Places(out, context.host(context.step.outputs[i])).known()) return false;
  }
  const size_t bytes = byte_size(context.output().dtype);
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

}  // namespace

Attempt prepare_move(const StepContext& context, const program::OpParams& p) {
  if (!can_trace(context))
    return Refusal{"a further operand is not constant, or there are none or too many elements"};
  // What fails here is reported by the general way, if it is wrong at all.
  const auto sources = trace(context, p);
  if (!sources.ok()) return Refusal{"the operator does not take integers"};
  std::vector<MoveFunction> parts;
  for (size_t i = 0; i < sources->size(); ++i) {
    auto part = gather_of(context, i, (*sources)[i]);
    if (!part) part = part_of(context, i, (*sources)[i]);
    if (!part) part = loops_of(context, i, (*sources)[i]);
    if (!part) return Refusal{"its order is not that of a few nested loops"};
    parts.push_back(std::move(*part));
  }
  const int32_t input = context.step.inputs[0];
  ProgramTensor as = context.input(0);
  bool raw = true, bytes = as.dtype == DType::kI8;
  for (size_t i = 0; i < parts.size(); ++i) {
    raw &= same_element(as, context.output(i));
    bytes &= context.output(i).dtype == DType::kI8;
  }
  if (raw || bytes) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!same_element(as, context.output(i)))
        parts[i] = rescaled(context, i, std::move(parts[i]));
    }
    return [=](const StepCall& call) {
      for (const MoveFunction& part : parts) part(call, call.data<const uint8_t>(input));
      return ok_status();
    };
  }
  // Elements are converted where they lie, then moved.
  as.dtype = context.output().dtype;
  as.scale = context.output().scale;
  as.zero_point = context.output().zero_point;
  const auto places =
      static_cast<int64_t>(context.host(input).size_bytes / byte_size(context.input(0).dtype));
  return [=, from = context.input(0)](const StepCall& call) -> Status {
    const HostTensor& host = call.tensors[static_cast<size_t>(input)];
    RK_ASSIGN(Tensor converted, call.scratch->take({as.dtype, {places}}));
    auto* const data = converted.mutable_data<uint8_t>();
    convert(picture_extents(from.shape), host_view(from, host, call.data<uint8_t>(input)),
            host_view(as, host, data), {}, call.pool);
    for (const MoveFunction& part : parts) part(call, data);
    call.scratch->give(std::move(converted));
    return ok_status();
  };
}

}  // namespace rk::runtime::host
