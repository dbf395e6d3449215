// SPDX-License-Identifier: Apache-2.0
#include "analysis/simulate.h"

#include <unordered_map>

namespace rk::analysis {
namespace {

// The nodes alone, with their constants, fed by the values that others compute. What the last one computes is the result.
Result<Graph> graph_of(const Graph& graph, const std::vector<const Node*>& nodes) {
  Graph out(graph.registry());
  out.name = graph.name;
  std::unordered_map<const Value*, Value*> copies;
  for (const Node* const node : nodes) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) {
      if (input == nullptr) {
        inputs.push_back(nullptr);
        continue;
      }
      Value*& copy = copies[input];
      if (copy == nullptr && input->is_constant())
        copy = out.add_constant(input->name(), input->constant());
      if (copy == nullptr) {
        RK_ASSIGN(copy, out.add_input(input->name(), input->type()));
      }
      copy->quant = input->quant;
      inputs.push_back(copy);
    }
    NodeSpec spec{std::string(node->op()), node->name(), std::move(inputs), {}, node->attrs()};
    for (const Value* output : node->outputs()) spec.outputs.push_back(output->name());
    RK_ASSIGN(Node* const added, out.add_node(std::move(spec)));
    for (size_t i = 0; i < node->output_count(); ++i) {
      added->output(i).quant = node->output(i).quant;
      copies[&node->output(i)] = &added->output(i);
      if (node == nodes.back()) RK_TRY(out.add_output(&added->output(i)));
    }
  }
  return out;
}

}  // namespace

Status simulate(std::shared_ptr<const runtime::LoadedModel> model,
                const std::vector<Tensor>& raw_inputs, const TensorSink& sink) {
  RK_ASSIGN(auto session, runtime::Session::create(model));
  session->set_observer([&](int32_t tensor, const Tensor& stored) -> Status {
    const program::ProgramTensor& about = model->variant().tensors[static_cast<size_t>(tensor)];
    if (!about.quantized() && !is_float(about.dtype)) return ok_status();
    return sink(about.name, runtime::to_f32(about, stored));
  });
  for (size_t i = 0; i < raw_inputs.size(); ++i) {
    const Tensor& input = raw_inputs[i];
    runtime::CallerFormat format;
    format.dtype = input.dtype();
    if (input.shape().rank() == 4) format.format = runtime::TensorFormat::kNchw;
    RK_TRY(session->set_input(i, format, input.bytes().data(), input.size_bytes()));
  }
  return session->run();
}

Status simulate(program::Program program, const OpRegistry& operators,
                const std::vector<Tensor>& raw_inputs, const TensorSink& sink) {
  RK_ASSIGN(auto model,
            runtime::LoadedModel::from_program(
                std::move(program), {.device = {}, .operators = &operators, .announce = false}));
  return simulate(std::move(model), raw_inputs, sink);
}

Status simulate_alone(const Graph& graph, const std::vector<const Node*>& nodes,
                      const compiler::CompileOptions& compile,
                      const std::function<const Tensor&(const Value&)>& value_of,
                      const TensorSink& sink) {
  RK_ASSIGN(const Graph alone, graph_of(graph, nodes));
  compiler::CompileOptions options = compile;
  options.inputs.clear();
  RK_ASSIGN(program::Program program, compiler::compile(alone, options));
  std::vector<Tensor> inputs;
  for (const Value* input : alone.inputs()) inputs.push_back(value_of(*input));
  return simulate(std::move(program), graph.registry(), inputs, sink);
}

}  // namespace rk::analysis
