// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/custom.h"

#include <gtest/gtest.h>

#include "ops/registry.h"

namespace rk::ops {
namespace {

CustomOp doubling(std::string type) {
  return {.type = std::move(type),
          .infer = [](const Node& node, size_t) -> Result<std::vector<TensorType>> {
            return std::vector<TensorType>{node.input(0).type()};
          },
          .compute =
              [](const EvalCall& call) {
                for (int64_t i = 0; i < call.input(0).shape().elements(); ++i)
                  call.output(0).mutable_data<float>()[i] = 2 * call.input(0).data<float>()[i];
                return ok_status();
              }};
}

std::string refusal(std::vector<CustomOp> operators) {
  const auto out = with_custom(std::move(operators));
  return out.ok() ? "accepted" : out.status().message();
}

TEST(CustomOpTest, TheUsersFunctionsInferAndCompute) {
  const auto registry = with_custom({doubling("cstDouble")});
  ASSERT_TRUE(registry.ok()) << registry.status().message();
  Graph graph(**registry);
  const auto x = graph.add_input("x", {DType::kF32, {2, 3}});
  const auto node = graph.add_node({.op = custom_name("cstDouble"),
                                    .name = "n",
                                    .inputs = {*x, nullptr},
                                    .outputs = {"y"},
                                    .attrs = {{"anything", std::string("goes")}}});
  ASSERT_TRUE(node.ok()) << node.status().message();
  EXPECT_EQ((*node)->output().shape(), (Shape{2, 3}));
  ASSERT_TRUE(graph.add_output(&(*node)->output()).ok());
  const std::vector<Tensor> inputs = {Tensor::f32({2, 3}, {1, 2, 3, -4, 5, 6})};
  std::vector<const Tensor*> arguments = {&inputs[0], nullptr};
  std::vector<Tensor> outputs = {Tensor::make({DType::kF32, {2, 3}})};
  ASSERT_TRUE((*node)->def().reference({**node, arguments, outputs, nullptr}).ok());
  EXPECT_EQ(outputs[0].data<float>()[3], -8);
}

TEST(CustomOpTest, TwoRegistriesKeepTheirOwnFunctions) {
  CustomOp wrong = doubling("cstDouble");
  wrong.compute = [](const EvalCall&) { return unsupported("the other one"); };
  const auto first = with_custom({doubling("cstDouble")});
  {
    const auto second = with_custom({wrong});
    Graph graph(**second);
    const auto x = graph.add_input("x", {DType::kF32, {1}});
    ASSERT_TRUE(graph.add_node({custom_name("cstDouble"), "n", {*x}, {"y"}, {}}).ok());
  }
  Graph graph(**first);
  const auto x = graph.add_input("x", {DType::kF32, {1}});
  const auto node = graph.add_node({custom_name("cstDouble"), "n", {*x}, {"y"}, {}});
  ASSERT_TRUE(node.ok());
  const Tensor input = Tensor::f32({1}, {21});
  std::vector<const Tensor*> arguments = {&input};
  std::vector<Tensor> outputs = {Tensor::make({DType::kF32, {1}})};
  ASSERT_TRUE((*node)->def().reference({**node, arguments, outputs, nullptr}).ok());
  EXPECT_EQ(outputs[0].data<float>()[0], 42);
}

TEST(CustomOpTest, AMarkKeepsTheStandardMeaningUnderAnotherName) {
  const auto registry = with_custom({{.type = "ArgMax", .infer = {}, .compute = {}}});
  ASSERT_TRUE(registry.ok()) << registry.status().message();
  const OpDef* const marked = (*registry)->find("custom.ArgMax");
  ASSERT_NE(marked, nullptr);
  EXPECT_NE((*registry)->find("ArgMax"), nullptr);
  EXPECT_EQ(marked->quant, QuantRule::kFloatOnly);
  EXPECT_FALSE(takes_any_attribute(*marked));
  EXPECT_EQ(user_name(marked->name), "ArgMax");
}

TEST(CustomOpTest, RefusalsSayWhatIsMissing) {
  EXPECT_NE(
      refusal({{.type = "cstNothing", .infer = {}, .compute = {}}}).find("no standard operator"),
      std::string::npos);
  EXPECT_NE(refusal({{.type = "", .infer = {}, .compute = {}}}).find("no op_type"),
            std::string::npos);
  EXPECT_NE(refusal({doubling("a"), doubling("a")}).find("twice"), std::string::npos);
  CustomOp half = doubling("half");
  half.compute = {};
  EXPECT_NE(refusal({half}).find("both"), std::string::npos);
}

}  // namespace
}  // namespace rk::ops
