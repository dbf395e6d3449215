// SPDX-License-Identifier: Apache-2.0
// The fast kernels of normalizations and sums against the operators' references. Tolerance: 1e-5 of the largest result.
#include "evaluator/normalize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "evaluator/evaluate.h"
#include "evaluator/select.h"
#include "ir/graph.h"
#include "ops/registry.h"

namespace rk::evaluator {
namespace {

struct Operand {
  Shape shape;
  std::vector<int64_t> axes;  // not empty: the operand is this i64 constant
};

struct Case {
  std::string op;
  std::vector<Operand> inputs;
  AttrMap attrs;
  bool fast = true;
};

Tensor noise(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.5f, 2.0f);
  Tensor tensor = Tensor::make({DType::kF32, shape});
  for (int64_t i = 0; i < shape.elements(); ++i) tensor.mutable_data<float>()[i] = normal(random);
  return tensor;
}

class NormalizeCase : public testing::TestWithParam<Case> {};

TEST_P(NormalizeCase, FastKernelAgreesWithTheReference) {
  const Case& c = GetParam();
  Graph graph(ops::registry());
  NodeSpec spec{.op = c.op, .name = "n", .inputs = {}, .outputs = {"y"}, .attrs = c.attrs};
  std::vector<Tensor> tensors;
  for (const Operand& operand : c.inputs) {
    const std::string name = str("x", tensors.size());
    if (operand.axes.empty()) {
      tensors.push_back(noise(operand.shape, static_cast<uint32_t>(tensors.size()) + 1));
      const auto value = graph.add_input(name, tensors.back().type());
      ASSERT_TRUE(value.ok());
      spec.inputs.push_back(value.value());
    } else {
      Tensor axes = Tensor::make({DType::kI64, {static_cast<int64_t>(operand.axes.size())}});
      std::ranges::copy(operand.axes, axes.mutable_data<int64_t>());
      tensors.push_back(axes);
      spec.inputs.push_back(graph.add_constant(name, axes));
    }
  }
  const auto node = graph.add_node(std::move(spec));
  ASSERT_TRUE(node.ok()) << node.status().message();
  std::vector<const Tensor*> arguments;
  for (const Tensor& tensor : tensors) arguments.push_back(&tensor);
  Tensor fast = Tensor::make(node.value()->output().type()), slow = fast;
  const EvalCall call = {*node.value(), arguments, {&fast, 1}, nullptr};
  const FastKernel kernel = find_fast_kernel(call);
  ASSERT_EQ(kernel != nullptr, c.fast);
  if (kernel == nullptr) return;
  ASSERT_TRUE(kernel(call).ok());
  ASSERT_TRUE(node.value()->def().reference({*node.value(), arguments, {&slow, 1}, nullptr}).ok());
  float most = 0;
  for (const float y : slow.span<float>()) most = std::max(most, std::fabs(y));
  for (int64_t i = 0; i < slow.elements(); ++i)
    ASSERT_NEAR(fast.data<float>()[i], slow.data<float>()[i], 1e-5f * most) << c.op << " " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Operators, NormalizeCase,
    testing::Values(
        Case{"Softmax", {{{3, 49}, {}}}, {{"axis", int64_t{-1}}}},
        Case{"Softmax", {{{2, 16, 21}, {}}}, {{"axis", int64_t{1}}}},
        Case{"Softmax", {{{5, 3}, {}}}, {{"axis", int64_t{0}}}},
        Case{"LayerNormalization", {{{2, 7, 33}, {}}, {{33}, {}}, {{33}, {}}}, {}},
        Case{"LayerNormalization",
             {{{2, 7, 33}, {}}, {{7, 33}, {}}},
             {{"axis", int64_t{1}}, {"epsilon", 0.01f}}},
        Case{"LayerNormalization", {{{2, 7, 33}, {}}, {{1}, {}}, {{33}, {}}}, {}, false},
        Case{"LayerNormalization", {{{2, 4, 4}, {}}, {{4}, {}}}, {{"axis", int64_t{1}}}, false},
        Case{"RMSNormalization", {{{4, 70}, {}}, {{70}, {}}}, {}},
        Case{"InstanceNormalization", {{{2, 3, 5, 7}, {}}, {{3}, {}}, {{3}, {}}}, {}},
        Case{"GroupNormalization",
             {{{2, 6, 5, 7}, {}}, {{6}, {}}, {{6}, {}}},
             {{"num_groups", int64_t{3}}}},
        Case{"ReduceMean", {{{2, 3, 5, 7}, {}}, {{}, {2, -1}}}, {}},
        Case{"ReduceSum", {{{2, 3, 5}, {}}}, {{"keepdims", int64_t{0}}}},
        Case{"ReduceL2", {{{6, 32}, {}}, {{}, {-1}}}, {}},
        Case{"ReduceSumSquare", {{{6, 1, 9}, {}}, {{}, {2}}}, {}},
        Case{"ReduceMean", {{{2, 3, 5, 7}, {}}, {{}, {1}}}, {}, false}));

}  // namespace
}  // namespace rk::evaluator
