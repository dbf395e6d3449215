// SPDX-License-Identifier: Apache-2.0
// Operators that look at one element at a time, between tensors of one 8- or 16-bit type: every possible element is
// evaluated at load, and a run only looks up. The result is the operator's own, bit for bit, in any layout.
#include <cmath>
#include <optional>
#include <span>

#include "base/fixed_point.h"
#include "base/half.h"
#include "evaluator/evaluate.h"
#include "ir/graph.h"
#include "kernels/eltwise/eltwise.h"
#include "ops/registry.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
namespace {

using program::ProgramTensor;

// Below this many elements a table of 65536 halves costs more than it saves.
constexpr int64_t kLeastForHalfTable = 16384;

// The operator on a vector of numbers; its further operands are constants.
Result<Tensor> evaluate_all(const StepContext& context, const program::OpParams& p,
                            const Tensor& numbers) {
  Graph graph(ops::registry());
  NodeSpec spec{
      .op = p.op, .name = context.step.name, .inputs = {}, .outputs = {"y"}, .attrs = p.attrs};
  RK_ASSIGN(Value* const x, graph.add_input("x", numbers.type()));
  spec.inputs.push_back(x);
  std::vector<Tensor> constants(context.step.inputs.size());
  std::vector<const Tensor*> arguments = {&numbers};
  for (size_t i = 1; i < context.step.inputs.size(); ++i) {
    arguments.push_back(nullptr);
    spec.inputs.push_back(nullptr);
    if (!context.has_input(i)) continue;
    RK_ASSIGN(constants[i], read_constant(context, i));
    spec.inputs.back() = graph.add_constant(str("c", i), constants[i]);
    arguments.back() = &constants[i];
  }
  RK_ASSIGN(const Node* const node, graph.add_node(std::move(spec)));
  if (node->output().type() != numbers.type()) return unsupported("the result has another type");
  RK_ASSIGN(Tensor result, Tensor::try_make(numbers.type()));
  RK_TRY(evaluator::evaluate_node({*node, arguments, {&result, 1}, nullptr}));
  return result;
}

Result<StepFunction> int8_table(const StepContext& context, const program::OpParams& p) {
  const ProgramTensor &in = context.input(0), &out = context.output();
  Tensor numbers = Tensor::make({DType::kF32, {256}});
  for (int x = -128; x < 128; ++x) {
    numbers.mutable_data<float>()[x + 128] = static_cast<float>(x - in.zero_point) * in.scale;
  }
  RK_ASSIGN(const Tensor results, evaluate_all(context, p, numbers));
  program::TableParams table{p.op, {}};
  for (const float y : results.span<float>())
    table.table.push_back(quantize_f32(y, out.scale, out.zero_point));
  return prepare_table(context, table);
}

// Activations that vectors compute faster than a table is read.
std::optional<StepFunction> half_vectors(const StepContext& context, const program::OpParams& p) {
  if (p.op == "Relu") {
    program::SumParams relu;
    relu.activation = program::Activation::kRelu;
    auto sum = prepare_sum(context, relu);
    if (!sum.ok()) return std::nullopt;
    return std::move(sum).value();
  }
  kernels::ActivateF16Args prototype;
  if (p.op == "HardSwish") {
    prototype.kind = kernels::ActivationF16::kHardSwish;
    prototype.alpha = 1.0f / 6.0f;
    prototype.beta = 0.5f;
  } else if (p.op == "HardSigmoid") {
    prototype.kind = kernels::ActivationF16::kHardSigmoid;
    prototype.alpha = attribute<float>(context, p, "alpha");
    prototype.beta = attribute<float>(context, p, "beta");
  } else if (p.op == "LeakyRelu") {
    prototype.kind = kernels::ActivationF16::kLeakyRelu;
    prototype.alpha = attribute<float>(context, p, "alpha");
  } else {
    return std::nullopt;
  }
  if (!std::isfinite(prototype.alpha)) return std::nullopt;
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  prototype.elements = static_cast<int64_t>(context.host(output).size_bytes / 2);
  return StepFunction([=](const StepCall& call) {
    kernels::ActivateF16Args args = prototype;
    args.input = call.data<const uint16_t>(input);
    args.output = call.data<uint16_t>(output);
    call.parallel(kernels::eltwise_units(args.elements), kernels::kEltwiseRun / 4,
                  [&](IndexRange units) { kernels::activate_f16(args, units); });
    return ok_status();
  });
}

Result<PackedConstants::HalfTable> make_half_table(const StepContext& context,
                                                   const program::OpParams& p) {
  constexpr int64_t kHalves = 65536;
  Tensor numbers = Tensor::make({DType::kF32, {kHalves}});
  for (int64_t i = 0; i < kHalves; ++i)
    numbers.mutable_data<float>()[i] = half_to_float(static_cast<uint16_t>(i));
  RK_ASSIGN(const Tensor results, evaluate_all(context, p, numbers));
  PackedConstants::HalfTable table;
  table.reserve(kHalves);
  for (const float y : results.span<float>()) table.push_back(float_to_half(y));
  return table;
}

Result<StepFunction> half_table(const StepContext& context, const program::OpParams& p) {
  if (auto vectors = half_vectors(context, p)) return std::move(*vectors);
  const auto make = [&] { return make_half_table(context, p); };
  std::shared_ptr<const PackedConstants::HalfTable> table;
  if (context.step.inputs.size() == 1) {
    RK_ASSIGN(table, context.constants.half_table(p, make));
  } else {  // constant operands are part of the function
    RK_ASSIGN(PackedConstants::HalfTable own, make());
    table = std::make_shared<const PackedConstants::HalfTable>(std::move(own));
  }
  const int32_t input = context.step.inputs[0], output = context.step.outputs[0];
  const auto elements = static_cast<int64_t>(context.host(output).size_bytes / 2);
  return StepFunction([=](const StepCall& call) {
    const kernels::TableF16Args args = {call.data<const uint16_t>(input),
                                        call.data<uint16_t>(output), table->data(), elements};
    call.parallel(kernels::eltwise_units(elements), kernels::kEltwiseRun,
                  [&](IndexRange units) { kernels::table_f16(args, units); });
    return ok_status();
  });
}

}  // namespace

bool runs_by_table(const program::Variant& variant, const program::Step& step) {
  const auto* const p = std::get_if<program::OpParams>(&step.params);
  const OpDef* const def = p == nullptr ? nullptr : ops::registry().find(p->op);
  if (def == nullptr || def->elements != Elements::kUnary || step.outputs.size() != 1 ||
      step.inputs.empty())
    return false;
  const auto tensor = [&](int32_t i) -> const ProgramTensor& {
    return variant.tensors[static_cast<size_t>(i)];
  };
  if (step.inputs[0] == program::kNone || tensor(step.inputs[0]).is_constant()) return false;
  for (size_t i = 1; i < step.inputs.size(); ++i) {
    if (step.inputs[i] != program::kNone && !tensor(step.inputs[i]).is_constant()) return false;
  }
  const ProgramTensor &in = tensor(step.inputs[0]), &out = tensor(step.outputs[0]);
  if (in.dtype != out.dtype || in.shape != out.shape) return false;
  if (in.dtype == DType::kI8) return in.quantized() && out.quantized();
  return in.dtype == DType::kF16 && !in.quantized() && !out.quantized() &&
         out.shape.elements() >= kLeastForHalfTable;
}

Attempt prepare_by_table(const StepContext& context, const program::OpParams& p) {
  if (!runs_by_table(context.variant, context.step))
    return Refusal{"not a function of one int8 or fp16 element, or too few of them"};
  if (context.host(context.step.inputs[0]).blocked != context.host(context.step.outputs[0]).blocked)
    return Refusal{"input and output differ in layout"};
  // A failure here (a constant operand that is not a scalar) says nothing about the step: it runs the general way.
  auto function =
      context.input(0).dtype == DType::kI8 ? int8_table(context, p) : half_table(context, p);
  if (!function.ok()) return Refusal{"a constant operand is not a scalar"};
  return std::move(function).value();
}

}  // namespace rk::runtime::host
