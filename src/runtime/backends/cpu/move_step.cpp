// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements run as nested loops over the tensors where they lie. The loops are found by running
// the operator once, at load, on the numbers of its input's elements; so every such operator is served, and blocked
// tensors as well as plain ones.
//
// A newcomer's mistake: padding lanes of a blocked output come from nowhere. Such outputs are left to the general way.
#include <limits>
#include <numeric>

#include "exec/evaluate.h"
#include "ir/graph.h"
#include "kernels/layout/move.h"
#include "runtime/backends/cpu/select.h"

namespace rk::runtime::cpu {
namespace {

using program::ProgramTensor;

// Finding the loops takes a few nanoseconds for each.
constexpr int64_t kMostElements = 1 << 24;

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
  RK_TRY(exec::evaluate_node({*node, arguments, results, nullptr}));
  return results;
}

struct Move {
  int32_t output = program::kNone;
  kernels::MoveArgs args;
  int64_t first = 0;
};

std::optional<Move> move_of(const StepContext& context, size_t output, const Tensor& sources) {
  const int32_t index = context.step.outputs[output];
  const Places from(context.input(0), context.host(context.step.inputs[0]));
  const Places to(context.output(output), context.host(index));
  std::vector<int32_t> order(static_cast<size_t>(sources.elements()));
  for (int64_t i = 0; i < sources.elements(); ++i) {
    order[static_cast<size_t>(to.of(i))] =
        static_cast<int32_t>(from.of(sources.data<int32_t>()[i]));
  }
  Move out{index, {}, 0};
  if (!kernels::find_move_loops(order.data(), std::ssize(order), out.args, out.first))
    return std::nullopt;
  out.args.element_bytes = static_cast<int32_t>(byte_size(context.input(0).dtype));
  return out;
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
    if (!Places(out, context.host(context.step.outputs[i])).full()) return false;
  }
  const size_t bytes = byte_size(in.dtype);
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

}  // namespace

std::optional<StepFunction> prepare_move(const StepContext& context, const program::OpParams& p) {
  if (!can_trace(context)) return std::nullopt;
  // What fails here is reported by the general way, if it is wrong at all.
  const auto sources = trace(context, p);
  if (!sources.ok()) return std::nullopt;
  std::vector<Move> moves;
  for (size_t i = 0; i < sources->size(); ++i) {
    const auto move = move_of(context, i, (*sources)[i]);
    if (!move) return std::nullopt;
    moves.push_back(*move);
  }
  const int32_t input = context.step.inputs[0];
  return [=](const StepCall& call) {
    for (const Move& move : moves) {
      kernels::MoveArgs args = move.args;
      args.input = call.data<const uint8_t>(input) + move.first * args.element_bytes;
      args.output = call.data<uint8_t>(move.output);
      const int64_t units = kernels::move_units(args);
      int64_t elements = 1;
      for (int i = 0; i < args.count; ++i) elements *= args.loops[i].extent;
      call.parallel(units, elements / units + 1,
                    [&](IndexRange range) { kernels::move_elements(args, range); });
    }
    return ok_status();
  };
}

}  // namespace rk::runtime::cpu
