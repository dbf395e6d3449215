// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/run_case.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "evaluator/evaluate.h"
#include "ops/registry.h"
#include "ops/shared/bounded.h"
#include "tests/conformance/compare.h"

namespace rk::conformance {
namespace {

struct Imported {
  Graph graph;
  frontends::ImportOptions options;
};

// The inputs from `first_constant` on are known at conversion, as they are in models that pass
// shapes, axes or k.
frontends::ImportOptions import_options(const Case& c, size_t first_constant) {
  frontends::ImportOptions out;
  for (size_t i = 0; i < c.input_names.size(); ++i) {
    out.input_shapes.emplace_back();
    out.input_initial_values.emplace_back();
    if (i >= c.inputs.size()) continue;
    const Item& item = c.inputs[i];
    if (item.is_sequence || item.tensors.empty()) {
      auto& types = out.container_inputs[c.input_names[i]];
      for (const Tensor& tensor : item.tensors) types.push_back(tensor.type());
      continue;
    }
    const auto dims = item.tensors[0].shape().dims();
    out.input_shapes.back().assign(dims.begin(), dims.end());
    if (i >= first_constant) out.input_initial_values.back() = item.tensors[0];
  }
  return out;
}

// First nothing is constant, then all inputs but the first, then all.
Result<Imported> import_case(const Case& c) {
  Status last;
  for (const size_t first_constant : {c.input_names.size(), size_t{1}, size_t{0}}) {
    if (first_constant > c.input_names.size()) continue;
    frontends::ImportOptions options = import_options(c, first_constant);
    auto graph = frontends::import_onnx(c.model.string(), options, ops::registry());
    if (graph.ok()) return Imported{std::move(graph).value(), std::move(options)};
    if (last.ok()) last = graph.status();
  }
  return last;
}

// The case's arrays in the order of the graph's inputs. Elements of a sequence are inputs of their
// own.
Result<std::vector<Tensor>> arguments(const Case& c, const Graph& graph) {
  std::map<std::string, Tensor> named;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Item& item = c.inputs[i];
    for (size_t k = 0; k < item.tensors.size(); ++k) {
      named[item.is_sequence ? str(c.input_names[i], "_", k) : c.input_names[i]] = item.tensors[k];
    }
  }
  std::vector<Tensor> out;
  for (const Value* input : graph.inputs()) {
    const auto it = named.find(input->name());
    if (it == named.end()) {
      return invalid_argument(str("input '", input->name(), "' has no data"));
    }
    out.push_back(it->second.cast(input->dtype()));
  }
  return out;
}

// Results of data-dependent size are padded; the last output of the same node says how much is
// real, along the axis where the expected shape differs.
Tensor without_padding(const Graph& graph, const std::vector<Tensor>& results, size_t index,
                       const Tensor& expected) {
  const Tensor& padded = results[index];
  const auto& outputs = graph.outputs();
  const Node* producer = outputs[index]->producer();
  if (producer == nullptr || !ops::has_data_dependent_size(producer->def())) return padded;
  const auto it = std::ranges::find(outputs, producer->outputs().back());
  if (it == outputs.end() || padded.shape().rank() != expected.shape().rank()) return padded;
  const int64_t count = results[static_cast<size_t>(it - outputs.begin())].at_i64(0);
  for (int axis = 0; axis < padded.shape().rank(); ++axis) {
    if (padded.shape()[axis] == expected.shape()[axis] || count > padded.shape()[axis]) continue;
    Shape shape = padded.shape();
    shape[axis] = count;
    Tensor out = Tensor::make({padded.dtype(), shape});
    int64_t inner = static_cast<int64_t>(byte_size(padded.dtype()));
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int64_t i = 0; i < outer && count > 0; ++i) {
      std::copy_n(padded.data<uint8_t>() + i * inner * padded.shape()[axis], inner * count,
                  out.mutable_data<uint8_t>() + i * inner * count);
    }
    return out;
  }
  return padded;
}

bool is_layer(const Case& c) { return c.model.filename() != "model.onnx"; }

double quantization_step(const Case& c, const Tensor& expected) {
  if (!c.quantized) return 0;
  double peak = 0;
  for (int64_t i = 0; i < expected.elements(); ++i)
    peak = std::max(peak, std::fabs(expected.at_f64(i)));
  return peak / 127;
}

Status check_results(const Case& c, const Graph& graph, const std::vector<Tensor>& found) {
  size_t at = 0;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    for (const Tensor& expected : c.outputs[i].tensors) {
      if (at >= found.size()) return invalid_model(str("output ", i, " is missing"));
      Tolerance tolerance = is_layer(c) ? layer_tolerance(quantization_step(c, expected))
                                        : node_test_tolerance(expected.dtype());
      tolerance.steps = c.quantized ? 1 : 0;
      const Tensor exact = without_padding(graph, found, at, expected);
      RK_TRY(compare(exact, expected, tolerance).with_context(str("output ", i)));
      ++at;
    }
  }
  return ok_status();
}

// The same model as a float16 .rknn, against the evaluator fed with the same numbers.
Status check_rknn(const Case& c, const Imported& imported, std::vector<Tensor> inputs) {
  for (Tensor& input : inputs) {
    if (input.dtype() == DType::kF32) input = input.cast(DType::kF16).cast(DType::kF32);
  }
  RK_ASSIGN(const std::vector<Tensor> expected, evaluator::evaluate(imported.graph, inputs));
  auto found = run_rknn(c.model.string(), imported.options, inputs, expected);
  if (!found.ok()) return found.status();
  for (size_t i = 0; i < expected.size(); ++i) {
    const Status status = is_layer(c) ? compare_directions((*found)[i], expected[i])
                                      : compare((*found)[i], expected[i], half_tolerance());
    if (!status.ok()) return status.with_context(str("output ", i));
  }
  return ok_status();
}

Status evaluate_case(const Case& c, Paths paths, Outcome& outcome) {
  RK_ASSIGN(const Imported imported, import_case(c));
  RK_ASSIGN(std::vector<Tensor> inputs, arguments(c, imported.graph));
  RK_ASSIGN(const std::vector<Tensor> found, evaluator::evaluate(imported.graph, inputs));
  RK_TRY(check_results(c, imported.graph, found));
  if (paths == Paths::kEvaluator) return ok_status();
  if (imported.graph.inputs().empty()) {
    outcome.not_run = "constant";
  } else if (!imported.options.container_inputs.empty()) {
    outcome.not_run = "container inputs";
  } else {
    const Status status = check_rknn(c, imported, std::move(inputs));
    if (status.code() == Code::kUnavailable) {
      outcome.not_run = status.message();
    } else {
      outcome.rknn = status;
    }
  }
  return ok_status();
}

}  // namespace

Outcome run_case(const CaseSource& source, Paths paths) {
  Outcome outcome;
  Case c;
  outcome.evaluator = read_case(source, c);
  if (outcome.evaluator.ok()) outcome.evaluator = evaluate_case(c, paths, outcome);
  outcome.op = c.op;
  outcome.scope = c.scope;
  return outcome;
}

}  // namespace rk::conformance
