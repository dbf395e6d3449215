// SPDX-License-Identifier: Apache-2.0
// MatMul of a matrix with constant weights, and the Add of a constant row behind it, become one Gemm: the form the
// compiler maps to a 1x1 convolution.
#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool has_constant_matrix(const Node& matmul) {
  return matmul.input(0).shape().rank() == 2 && matmul.input(1).is_constant() &&
         matmul.input(1).shape().rank() == 2 && matmul.input(0).dtype() == DType::kF32;
}

// One value per column: [N], [1,N] or a scalar.
bool is_row(const Shape& shape, int64_t columns) {
  if (shape.elements() == 1) return shape.rank() <= 2;
  if (shape.rank() == 0 || shape.rank() > 2 || shape[shape.rank() - 1] != columns) return false;
  return shape.elements() == columns;
}

}  // namespace

Result<size_t> matmul_to_gemm(Graph& graph) {
  RK_ASSIGN(const size_t with_bias,
            rewrite(graph, chain("MatMul", "Add").only_use().any_input(),
                    [](Match& m) -> Result<Rewrite> {
                      if (!has_constant_matrix(m[0])) return Rewrite::kSkip;
                      Value& bias = m[1].input(1 - m.link(1));
                      if (!bias.is_constant() || m[1].output().shape() != m[0].output().shape() ||
                          !is_row(bias.shape(), m[0].output().shape()[1])) {
                        return Rewrite::kSkip;
                      }
                      return m.replace_with(
                          {"Gemm", m[0].name(), {&m[0].input(0), &m[0].input(1), &bias}, {""}, {}});
                    }));
  RK_ASSIGN(
      const size_t plain, rewrite(graph, chain("MatMul"), [](Match& m) -> Result<Rewrite> {
        if (!has_constant_matrix(m[0])) return Rewrite::kSkip;
        return m.replace_with({"Gemm", m[0].name(), {&m[0].input(0), &m[0].input(1)}, {""}, {}});
      }));
  return with_bias + plain;
}

}  // namespace rk::passes
