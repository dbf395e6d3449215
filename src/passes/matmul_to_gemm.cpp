// SPDX-License-Identifier: Apache-2.0
// MatMul with a constant matrix, and the Add of a constant row behind it, become one Gemm: the form
// the compiler maps to a 1x1 convolution. More than two axes are folded into rows by Reshape, which
// costs nothing.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool has_constant_matrix(const Node& matmul) {
  return matmul.input(0).shape().rank() >= 2 && matmul.input(1).is_constant() &&
         matmul.input(1).shape().rank() == 2 && matmul.input(0).dtype() == DType::kF32;
}

// One value per column: [N], [1,N], [1,1,N] or a scalar.
bool is_row(const Shape& shape, int64_t columns) {
  if (shape.elements() == 1) return true;
  return shape.rank() > 0 && shape[shape.rank() - 1] == columns && shape.elements() == columns;
}

// Puts a Gemm in the place of the match's last node. `bias` may be null.
Result<Rewrite> replace_with_gemm(Match& m, Value* bias) {
  Graph& graph = m.graph();
  Value* x = &m[0].input(0);
  Value* w = &m[0].input(1);
  const Shape out = m.last().output().shape();
  const int64_t columns = w->shape()[1], depth = w->shape()[0];
  if (bias != nullptr && bias->shape().rank() > 1 && bias->shape().elements() > 1) {
    bias = graph.add_constant(bias->name(), bias->constant().reshaped({columns}));
  } else if (bias != nullptr && bias->shape().rank() > 1) {
    bias = graph.add_constant(bias->name(), bias->constant().reshaped({}));
  }
  std::vector<Value*> inputs = {x, w};
  if (bias != nullptr) inputs.push_back(bias);
  if (out.rank() == 2) return m.replace_with({"Gemm", m[0].name(), std::move(inputs), {""}, {}});

  const int64_t rows = out.elements() / std::max<int64_t>(columns, 1);
  RK_ASSIGN(Node * flat,
            graph.add_node(reshape_to(graph, m[0].name() + "_rows", x, {rows, depth}), &m.last()));
  inputs[0] = &flat->output();
  RK_ASSIGN(Node * gemm,
            graph.add_node({"Gemm", m[0].name(), std::move(inputs), {""}, {}}, &m.last()));
  return m.replace_with(reshape_to(graph, m[0].name() + "_axes", &gemm->output(), out));
}

}  // namespace

Result<size_t> matmul_to_gemm(Graph& graph) {
  RK_ASSIGN(const size_t with_bias, rewrite(graph, chain("MatMul", "Add").only_use().any_input(),
                                            [](Match& m) -> Result<Rewrite> {
                                              Value& bias = m[1].input(1 - m.link(1));
                                              if (!has_constant_matrix(m[0]) ||
                                                  !bias.is_constant() ||
                                                  m[1].output().shape() != m[0].output().shape() ||
                                                  !is_row(bias.shape(), m[0].input(1).shape()[1])) {
                                                return Rewrite::kSkip;
                                              }
                                              return replace_with_gemm(m, &bias);
                                            }));
  RK_ASSIGN(const size_t plain, rewrite(graph, chain("MatMul"), [](Match& m) -> Result<Rewrite> {
              if (!has_constant_matrix(m[0])) return Rewrite::kSkip;
              return replace_with_gemm(m, nullptr);
            }));
  return with_bias + plain;
}

}  // namespace rk::passes
