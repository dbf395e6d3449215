// SPDX-License-Identifier: Apache-2.0
// What pass tests share: graphs from text, seeded inputs, and the check that no output moved.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "evaluator/evaluate.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "passes/pipeline.h"

namespace rk::passes::testing {

inline Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

// Deterministic, signed, never symmetric.
inline Tensor filled(const TensorType& type) {
  Tensor out = Tensor::make(type);
  for (int64_t i = 0; i < out.elements(); ++i) {
    store_f64(type.dtype,
              out.mutable_data<uint8_t>() + static_cast<size_t>(i) * byte_size(type.dtype),
              std::sin(0.7 * static_cast<double>(i) + 0.3) * 3);
  }
  return out;
}

inline std::vector<Tensor> outputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const Value* input : graph.inputs()) inputs.push_back(filled(input->type()));
  auto outputs = evaluator::evaluate(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return std::move(outputs).value();
}

// Operators of the graph in order, e.g. "FusedConv Reshape".
inline std::string op_list(const Graph& graph) {
  std::string out;
  for (const Node* node : graph.nodes()) out += str(out.empty() ? "" : " ", node->op());
  return out;
}

using PassFunction = std::function<Result<size_t>(Graph&)>;

// Runs the pass and checks that no output moved by more than rounding.
inline Graph after(const PassFunction& pass, std::string_view text, size_t rewrites) {
  Graph graph = graph_of(text);
  const std::vector<Tensor> before = outputs_of(graph);
  const auto count = pass(graph);
  EXPECT_TRUE(count.ok()) << count.status().message();
  if (!count.ok()) return graph;
  EXPECT_EQ(*count, rewrites);
  const Status legal = verify(graph);
  EXPECT_TRUE(legal.ok()) << legal.message();
  const std::vector<Tensor> now = outputs_of(graph);
  EXPECT_EQ(before.size(), now.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].type(), now[i].type());
    for (int64_t e = 0; e < before[i].elements(); ++e) {
      if (before[i].at_f64(e) == now[i].at_f64(e)) continue;  // infinities too
      EXPECT_NEAR(before[i].at_f64(e), now[i].at_f64(e),
                  1e-5 * (1 + std::fabs(before[i].at_f64(e))));
    }
  }
  return graph;
}

}  // namespace rk::passes::testing
