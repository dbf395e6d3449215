// SPDX-License-Identifier: Apache-2.0
#include "evaluator/evaluate.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/fixed_point.h"
#include "evaluator/integer_layers.h"
#include "evaluator/select.h"

namespace rk::evaluator {
namespace {

// The tensors alive at one point of the run, with the uses each still has to serve.
class LiveTensors {
 public:
  explicit LiveTensors(const Graph& graph) : graph_(graph) {}

  void put(const Value& value, Tensor tensor) {
    if (value.uses().empty() && !graph_.is_output(value)) return;
    live_[&value] = {std::move(tensor), value.uses().size()};
  }
  const Tensor& get(const Value& value) const {
    return value.is_constant() ? value.constant() : live_.at(&value).tensor;
  }
  void used(const Value& value) {
    const auto it = live_.find(&value);
    if (it != live_.end() && --it->second.uses == 0 && !graph_.is_output(value)) live_.erase(it);
  }

 private:
  struct Entry {
    Tensor tensor;
    size_t uses = 0;
  };
  const Graph& graph_;
  std::unordered_map<const Value*, Entry> live_;
};

Status check_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return invalid_argument(
        str(inputs.size(), " inputs given, the graph has ", graph.inputs().size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = *graph.inputs()[i];
    if (inputs[i].type() != value.type()) {
      return invalid_argument(str("input ", i, " '", value.name(), "' is ",
                                  to_string(inputs[i].type()), ", expected ",
                                  to_string(value.type())));
    }
  }
  return ok_status();
}

// The model brought the scale: parameters made from a range have that range.
bool has_own_scale(const Value& value) {
  return value.quantized() && value.quant.min.empty() && !value.quant.per_channel() &&
         value.dtype() == DType::kF32 && !value.is_constant();
}

// What QuantizeLinear and DequantizeLinear made of the value before take_activations() took them away.
void round_to_own_scale(const Value& value, Tensor& tensor) {
  const QuantParams& quant = value.quant;
  const double scale = quant.scale[0], zero = quant.zero_point.empty() ? 0 : quant.zero_point[0];
  const double levels = std::exp2(8.0 * static_cast<double>(byte_size(quant.dtype)));
  const bool is_signed = quant.dtype == DType::kI8 || quant.dtype == DType::kI16;
  const double least = is_signed ? -levels / 2 : 0, most = least + levels - 1;
  for (float& x : std::span(tensor.mutable_data<float>(), static_cast<size_t>(tensor.elements()))) {
    const double stored = round_even(x / static_cast<float>(scale)) + zero;
    const double held = stored == stored ? std::clamp(stored, least, most) : zero;
    x = static_cast<float>((held - zero) * scale);
  }
}

}  // namespace

Status evaluate_node(const EvalCall& call) {
  if (is_integer_layer(call.node)) return run_integer_layer(call);
  if (const FastKernel kernel = find_fast_kernel(call)) return kernel(call);
  return call.node.def().reference(call);
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                                     const EvaluateOptions& options) {
  RK_TRY(check_inputs(graph, inputs));
  LiveTensors live(graph);
  const auto observe = [&](const Value& value, const Tensor& tensor, const FiniteRange& range) {
    return options.observer ? options.observer(value, tensor, range) : ok_status();
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    RK_TRY(observe(*graph.inputs()[i], inputs[i], {}));
    Tensor input = inputs[i];
    if (has_own_scale(*graph.inputs()[i])) {
      input = input.clone();
      round_to_own_scale(*graph.inputs()[i], input);
    }
    live.put(*graph.inputs()[i], std::move(input));
  }
  for (const Node* node : graph.nodes()) {
    std::vector<const Tensor*> arguments;
    for (const Value* input : node->inputs()) {
      arguments.push_back(input == nullptr ? nullptr : &live.get(*input));
    }
    std::vector<Tensor> results;
    for (const Value* output : node->outputs()) {
      RK_ASSIGN(Tensor result, Tensor::try_make(output->type()));
      results.push_back(std::move(result));
    }
    FiniteRange range;
    RK_TRY(evaluate_node(
               {*node, arguments, results, options.pool, options.observer ? &range : nullptr})
               .with_context(node->label()));
    for (size_t i = 0; i < results.size(); ++i) {
      const bool rounded = has_own_scale(node->output(i));
      if (rounded) round_to_own_scale(node->output(i), results[i]);
      RK_TRY(observe(node->output(i), results[i], i == 0 && !rounded ? range : FiniteRange{}));
      live.put(node->output(i), std::move(results[i]));
    }
    for (const Value* input : node->inputs()) {
      if (input != nullptr) live.used(*input);
    }
  }
  std::vector<Tensor> outputs;
  for (const Value* output : graph.outputs()) outputs.push_back(live.get(*output));
  return outputs;
}

}  // namespace rk::evaluator
