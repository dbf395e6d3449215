// SPDX-License-Identifier: Apache-2.0
// Numbers worked by hand from the definition of the two roundings.
#include "evaluator/integer_layers.h"

#include <gtest/gtest.h>

#include "evaluator/evaluate.h"
#include "ir/graph.h"
#include "ops/registry.h"

namespace rk::evaluator {
namespace {

TEST(IntegerLayersTest, FactorsHave31Bits) {
  EXPECT_EQ(fixed_factor(0.5).value, 1 << 30);
  EXPECT_EQ(fixed_factor(0.5).shift, 0);
  EXPECT_EQ(fixed_factor(0.125).shift, -2);
  EXPECT_EQ(fixed_factor(3).value, 3 << 29);
  EXPECT_EQ(fixed_factor(3).shift, 2);
  EXPECT_EQ(fixed_factor(0).value, 0);
  EXPECT_EQ(fixed_factor(1e-20).value, 0);
}

TEST(IntegerLayersTest, ProductsAreRoundedTwice) {
  EXPECT_EQ(scaled_twice(3, fixed_factor(0.5)), 2);       // 1.5: halves up
  EXPECT_EQ(scaled_twice(-3, fixed_factor(0.5)), -1);     // -1.5: halves up
  EXPECT_EQ(scaled_twice(10, fixed_factor(0.125)), 1);    // 1.25 = 5 quarters
  EXPECT_EQ(scaled_twice(11, fixed_factor(0.125)), 2);    // 1.375 -> 6 quarters -> 2
  EXPECT_EQ(scaled_twice(-13, fixed_factor(0.125)), -1);  // -1.625 -> -6 quarters -> -1
  EXPECT_EQ(scaled_twice(5, fixed_factor(3)), 15);
}

// x -> steps of 1 -> a 1x1 convolution with weight 1/8 -> steps of 1.
float convolved(float x, int64_t rounding) {
  Graph graph(ops::registry());
  const auto node = [&](const char* op, std::vector<Value*> inputs, AttrMap attrs = {}) {
    auto made = graph.add_node({op, "", std::move(inputs), {""}, std::move(attrs)});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return &(*made)->output();
  };
  Value* const in = *graph.add_input("x", {DType::kF32, {1, 1, 1, 1}});
  Value* const one = graph.add_constant("one", Tensor::scalar(1));
  Value* const eighth = graph.add_constant("eighth", Tensor::scalar(0.125f));
  Value* const zero = graph.add_constant("zero", Tensor::of<int8_t>(DType::kI8, {}, {0}));
  Value* const w = graph.add_constant("w", Tensor::of<int8_t>(DType::kI8, {1, 1, 1, 1}, {1}));
  Value* const steps =
      node("DequantizeLinear", {node("QuantizeLinear", {in, one, zero}), one, zero});
  Value* const conv = node("Conv", {steps, node("DequantizeLinear", {w, eighth, zero})});
  Value* const relu = node("Relu", {conv});
  Value* const rounded = node("QuantizeLinear", {relu, one, zero}, {{"rounding", rounding}});
  EXPECT_TRUE(graph.add_output(node("DequantizeLinear", {rounded, one, zero})).ok());
  const Tensor input = Tensor::f32({1, 1, 1, 1}, {x});
  const auto outputs = evaluate(graph, {&input, 1}, {});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? (*outputs)[0].data<float>()[0] : -1;
}

TEST(IntegerLayersTest, AConvolutionRoundsAsItsQuantizeSays) {
  EXPECT_EQ(convolved(11, 0), 1);   // 1.375
  EXPECT_EQ(convolved(11, 1), 2);   // through 6 quarters
  EXPECT_EQ(convolved(-11, 1), 0);  // the clamp comes after
}

}  // namespace
}  // namespace rk::evaluator
