// SPDX-License-Identifier: Apache-2.0
// A classifier: a Gemm behind the Reshape of one pixel's channels is a 1x1 convolution in front of
// it, as the vendor's compiler writes it. Two Reshapes that undo each other go.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool is_plain_constant(const Value& value) {
  return value.is_constant() && value.dtype() == DType::kF32 && !value.quantized();
}

// One number for each column, times beta; nothing where the addend is not a row.
std::optional<std::vector<float>> bias_of(const Node& gemm, int64_t columns) {
  std::vector<float> bias(static_cast<size_t>(columns), 0.0f);
  if (!gemm.has_input(2)) return bias;
  const Value& c = gemm.input(2);
  if (!is_plain_constant(c)) return std::nullopt;
  const int64_t count = c.shape().elements();
  const bool is_row = count != 1 && count == columns && c.shape()[c.shape().rank() - 1] == columns;
  if (count != 1 && !is_row) return std::nullopt;
  const std::vector<float> values = c.constant().to_f32();
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = gemm.f32("beta") * values[count == 1 ? 0 : i];
  return bias;
}

// Output channels first.
std::vector<float> weights_of(const Node& gemm, size_t columns, size_t depth) {
  const std::vector<float> matrix = gemm.input(1).constant().to_f32();
  const bool columns_first = gemm.i64("transB") != 0;
  std::vector<float> out(matrix.size());
  for (size_t n = 0; n < columns; ++n) {
    for (size_t k = 0; k < depth; ++k)
      out[n * depth + k] =
          gemm.f32("alpha") * matrix[columns_first ? n * depth + k : k * columns + n];
  }
  return out;
}

Result<Rewrite> replace(Match& m) {
  Graph& graph = m.graph();
  const Node &reshape = m[0], &gemm = m[1];
  Value& x = reshape.input(0);
  const Shape in = x.shape(), out = gemm.output().shape();
  const bool one_pixel = in.rank() == 4 && in[0] == 1 && in[2] == 1 && in[3] == 1;
  if (!one_pixel || x.is_constant() || x.dtype() != DType::kF32 || out.rank() != 2 || out[0] != 1 ||
      out[1] == 0 || gemm.i64("transA") != 0 || !is_plain_constant(gemm.input(1)))
    return Rewrite::kSkip;
  const auto bias = bias_of(gemm, out[1]);
  if (!bias) return Rewrite::kSkip;
  const auto columns = static_cast<size_t>(out[1]), depth = static_cast<size_t>(in[1]);
  Value* weight =
      graph.add_constant(gemm.input(1).name(),
                         Tensor::f32(Shape{out[1], in[1], 1, 1}, weights_of(gemm, columns, depth)));
  const std::string bias_name =
      gemm.has_input(2) ? gemm.input(2).name() : gemm.input(1).name() + "_bias";
  Value* row = graph.add_constant(bias_name, Tensor::f32(Shape{out[1]}, *bias));
  RK_ASSIGN(Node* const conv, graph.add_node({"Conv",
                                              gemm.name() + "#2",
                                              {&x, weight, row},
                                              {gemm.output().name() + "_mm"},
                                              {{"kernel_shape", std::vector<int64_t>{1, 1}}}},
                                             &m[1]));
  return m.replace_with(reshape_to(graph, conv->output().name() + "_tp_rs", &conv->output(), out));
}

}  // namespace

Result<size_t> gemm_to_conv(Graph& graph) {
  size_t total = 0;
  // A sweep does not see the Reshapes it makes.
  for (bool changed = true; changed;) {
    RK_ASSIGN(const size_t replaced, rewrite(graph, chain("Reshape", "Gemm"), replace));
    total += replaced;
    changed = replaced > 0;
  }
  return total;
}

}  // namespace rk::passes
