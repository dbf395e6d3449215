// SPDX-License-Identifier: Apache-2.0
// One model of any format: imported and, unless it is sound but enormous, run once on the evaluator
// with zeros.
#pragma once

#include "evaluator/evaluate.h"
#include "frontends/model_source.h"
#include "ops/registry.h"

namespace rk::fuzz {

struct Outcome {
  Status status;
  bool ran = false;
};

inline bool is_small(const Graph& graph) {
  constexpr int64_t kMostElements = 1 << 20;
  constexpr uint64_t kMostWork = 50'000'000;  // of multiply-adds and other operations
  int64_t elements = 0;
  uint64_t work = 0;
  for (const Value* value : graph.values()) elements += value->shape().elements();
  for (const Node* node : graph.nodes()) {
    if (node->def().cost == nullptr) continue;
    const Cost cost = node->def().cost(*node);
    work += cost.macs + cost.ops;
  }
  return elements < kMostElements && work < kMostWork;
}

inline Outcome import_and_run(std::span<const frontends::ModelFile> files, std::string_view format,
                              const frontends::ImportOptions& options) {
  auto model = frontends::import_files(files, format, options, ops::registry());
  if (!model.ok()) return {model.status()};
  if (!is_small(model->graph)) return {};
  std::vector<Tensor> inputs;
  for (const Value* input : model->graph.inputs()) inputs.push_back(Tensor::make(input->type()));
  const auto outputs = evaluator::evaluate(model->graph, inputs, {});
  return {outputs.status(), outputs.ok()};
}

}  // namespace rk::fuzz
