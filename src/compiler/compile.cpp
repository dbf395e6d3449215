// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include "compiler/builder.h"
#include "compiler/conv_tail.h"
#include "compiler/emit.h"
#include "compiler/layout.h"
#include "compiler/memory_plan.h"
#include "compiler/placement.h"
#include "program/core_split.h"

namespace rk::compiler {
namespace {

// An output that no step writes (the model passes an input or a constant through) gets a copy.
int32_t output_tensor(const Value& value, Builder& builder) {
  const int32_t home = builder.home(value);
  if (value.producer() != nullptr) return home;
  const program::ProgramTensor from = builder.variant().tensors[static_cast<size_t>(home)];
  const DType dtype = from.is_constant() && is_float(from.dtype) ? DType::kF16 : from.dtype;
  const int32_t copy =
      builder.add_internal(value.name(), dtype, value.shape(), {from.scale, from.zero_point});
  builder.variant().tensors[static_cast<size_t>(copy)].kind = program::TensorKind::kOutput;
  builder.set_processor(program::Processor::kCpu);
  builder.add_step({.type = "Identity",
                    .name = str("Identity:", value.name()),
                    .inputs = {home},
                    .outputs = {copy},
                    .params = program::OpParams{.op = "Identity"}});
  return copy;
}

Result<program::Variant> compile_variant(const Graph& graph, const target::Target& target,
                                         const CompileOptions& options, WeightTable& weights,
                                         std::vector<UnfitLayer>& unfit) {
  Builder builder(graph, target, options, weights);
  const ConvTails tails(graph, target, options);
  const auto emit_node = [&](const Node& node) -> Status {
    builder.set_processor(place(node, target, options));
    Status status = emit(node, builder);
    if (status.ok() || !node.output().quantized()) return status;
    unfit.push_back({node.output().name(), std::move(status)});
    return ok_status();
  };
  for (const Node* node : graph.nodes()) {
    if (tails.joins_later(*node)) continue;
    const ConvTail* const tail = tails.ending_at(*node);
    if (tail == nullptr) {
      RK_TRY(emit_node(*node));
      continue;
    }
    builder.set_processor(program::Processor::kNpu);
    auto joined = emit(*tail, builder);
    if (!joined.ok()) {
      unfit.push_back({tail->conv->output().name(), joined.status()});
    } else if (!*joined) {
      // No step for both after all.
      for (const Node* const part : tails.parts_of(*node)) RK_TRY(emit_node(*part));
    }
  }
  if (!unfit.empty()) return unfit.front().why;
  for (const Value* value : graph.outputs()) {
    const int32_t tensor = output_tensor(*value, builder);
    builder.variant().outputs.push_back(tensor);
  }
  RK_TRY(assign_layouts(target, builder.variant()));
  RK_TRY(assign_memory(target, builder.variant()));
  if (!options.single_core) program::split_over_cores(target, builder.variant());
  return std::move(builder.variant());
}

Status check_graph(const Graph& graph, size_t inputs) {
  if (graph.inputs().size() != inputs) {
    return invalid_argument(
        str("variants differ in their inputs: ", graph.inputs().size(), " and ", inputs));
  }
  for (const Value* value : graph.values()) {
    if (value->quantized() && !value->is_constant() && !is_i8(*value) && !is_i16(*value)) {
      return unsupported(str("value '", value->name(), "' is quantized to ",
                             to_string(value->quant.dtype),
                             value->quant.per_channel() ? " per channel" : "",
                             "; activations are int8 or int16 with one scale"));
    }
    if (is_i8(*value) && !(value->quant.scale[0] > 0)) {
      return invalid_model(str("value '", value->name(), "' has scale ", value->quant.scale[0],
                               ", expected a positive number"));
    }
  }
  return ok_status();
}

// What all variants share, from the first graph.
Result<program::Program> describe(const Graph& first, const target::Target& target,
                                  const CompileOptions& options) {
  RK_TRY(check_op_target(first, options));
  if (options.inputs.size() > first.inputs().size()) {
    return invalid_argument(str(options.inputs.size(), " input descriptions for ",
                                first.inputs().size(), " model inputs"));
  }
  program::Program out;
  out.target = target.name;
  out.framework = options.framework;
  out.toolkit_version = options.toolkit_version;
  out.compiler_version = options.compiler_version;
  out.custom_string = options.custom_string;
  out.name = first.name;
  out.single_core = options.single_core;
  out.weights.resize(1);
  out.inputs = options.inputs;
  for (size_t i = out.inputs.size(); i < first.inputs().size(); ++i) {
    out.inputs.push_back({.model_dtype = first.inputs()[i]->dtype()});
  }
  return out;
}

class ProgramMaker {
 public:
  ProgramMaker(const target::Target& target, const CompileOptions& options)
      : target_(target), options_(options), weights_(program_) {}

  Status add(const Graph& graph) {
    if (program_.variants.empty()) {
      RK_ASSIGN(program_, describe(graph, target_, options_));
    }
    RK_TRY(check_graph(graph, program_.inputs.size()));
    RK_ASSIGN(program::Variant variant,
              compile_variant(graph, target_, options_, weights_, unfit_));
    program_.variants.push_back(std::move(variant));
    return ok_status();
  }
  Result<program::Program> finish() {
    RK_TRY(program::verify(program_));
    return std::move(program_);
  }
  // Of the graph that add() refused.
  std::vector<UnfitLayer>& unfit() { return unfit_; }

 private:
  const target::Target& target_;
  const CompileOptions& options_;
  program::Program program_;
  WeightTable weights_;
  std::vector<UnfitLayer> unfit_;
};

}  // namespace

Result<program::Program> compile(const GraphSource& graph, size_t count,
                                 const CompileOptions& options) {
  if (count == 0) return invalid_argument("no graph to compile");
  RK_ASSIGN(const target::Target* const target, target::find_target(options.target));
  ProgramMaker maker(*target, options);
  for (size_t i = 0; i < count; ++i) {
    RK_ASSIGN(const Graph made, graph(i));
    RK_TRY(maker.add(made));
  }
  return maker.finish();
}

Result<program::Program> compile(const Graph& graph, const CompileOptions& options) {
  RK_ASSIGN(const target::Target* const target, target::find_target(options.target));
  ProgramMaker maker(*target, options);
  RK_TRY(maker.add(graph));
  return maker.finish();
}

Result<Compiled> compile_or_find_unfit(const Graph& graph, const CompileOptions& options) {
  RK_ASSIGN(const target::Target* const target, target::find_target(options.target));
  ProgramMaker maker(*target, options);
  Compiled out;
  const Status status = maker.add(graph);
  out.unfit = std::move(maker.unfit());
  if (!status.ok() && out.unfit.empty()) return status;
  if (!out.unfit.empty()) return out;
  RK_ASSIGN(out.program, maker.finish());
  return out;
}

}  // namespace rk::compiler
