// SPDX-License-Identifier: Apache-2.0
#include "quant/prequantized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/registry.h"

namespace rk::quant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Through all three stages, without passes in between.
Graph taken(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  for (const Status& status :
       {float_borders(*graph), take_constants(*graph), take_activations(*graph, {})}) {
    EXPECT_TRUE(status.ok()) << status.message();
  }
  return std::move(*graph);
}

std::string ops_of(const Graph& graph) {
  std::string out;
  for (const Node* node : graph.nodes()) out += str(out.empty() ? "" : " ", node->op());
  return out;
}

TEST(Prequantized, APairBecomesTheParametersOfTheValueItRounds) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,2]
    const %s: f32[] = [0.5]
    const %z: u8[] = [7]
    %q = QuantizeLinear(%x, %s, %z)
    %d = DequantizeLinear(%q, %s, %z)
    %a = Sigmoid(%d)
    const %s2: f32[] = [0.25]
    %q2 = QuantizeLinear(%a, %s2, %z)
    %y = DequantizeLinear(%q2, %s2, %z)
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "Sigmoid");
  const QuantParams& in = graph.find("x")->quant;
  EXPECT_EQ(in.dtype, DType::kU8);
  EXPECT_THAT(in.scale, ElementsAre(0.5f));
  EXPECT_THAT(in.zero_point, ElementsAre(7));
  EXPECT_THAT(graph.find("y")->quant.scale, ElementsAre(0.25f));  // the output keeps its name
}

TEST(Prequantized, WeightsKeepIntegersAndAsymmetricChannelScales) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,1,1,2]
    const %w: i8[2,1,1,1] = [-128, 100]
    const %s: f32[2] = [0.5, 0.125]
    const %z: i8[2] = [-3, 4]
    %d = DequantizeLinear(%w, %s, %z) {axis=0}
    %y = Conv(%x, %d)
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "Conv");
  const Value* w = graph.find("d");
  ASSERT_TRUE(w != nullptr && w->is_constant());
  EXPECT_THAT(w->constant().to_f32(), ElementsAre(-62.5f, 12.0f));
  EXPECT_EQ(w->quant.axis, 0);
  EXPECT_THAT(w->quant.scale, ElementsAre(0.5f, 0.125f));
  EXPECT_THAT(w->quant.zero_point, ElementsAre(-3, 4));
}

TEST(Prequantized, FakeQuantizedFloatWeightsAreRoundedOnce) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,1,1,2]
    const %w: f32[1,1,1,1] = [0.6]
    const %s: f32[] = [0.5]
    const %z0: i8[] = [0]
    %z = Identity(%z0)
    %q = QuantizeLinear(%w, %s, %z)
    %d = DequantizeLinear(%q, %s, %z)
    %y = Conv(%x, %d)
    output %y
  })");
  EXPECT_THAT(graph.find("d")->constant().to_f32(), ElementsAre(0.5f));
  EXPECT_THAT(graph.find("d")->quant.scale, ElementsAre(0.5f));
}

TEST(Prequantized, TransposedWeightsKeepTheirAxis) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,2]
    const %w: i8[3,2] = [1,2,3,4,5,6]
    const %s: f32[3] = [1,2,3]
    %d = DequantizeLinear(%w, %s) {axis=0}
    %t = Transpose(%d) {perm=[1,0]}
    %y = MatMul(%x, %t)
    output %y
  })");
  EXPECT_EQ(graph.find("t")->quant.axis, 1);
  EXPECT_THAT(graph.find("t")->quant.scale, ElementsAre(1.0f, 2.0f, 3.0f));
}

TEST(Prequantized, ParametersWanderOverMovesAndClamps) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,1,2,2]
    const %s: f32[] = [0.5]
    const %z: u8[] = [0]
    %a = Sqrt(%x)
    %b = Relu(%a)
    %c = MaxPool(%b) {kernel_shape=[2,2]}
    %q = QuantizeLinear(%c, %s, %z)
    %d = DequantizeLinear(%q, %s, %z)
    const %shape: i64[2] = [1,1]
    %e = Reshape(%d, %shape)
    %y = Sqrt(%e)
    output %y
  })");
  // The lower end of the stored range is 0, so the Relu does nothing.
  EXPECT_EQ(ops_of(graph), "Sqrt MaxPool Reshape Sqrt");
  EXPECT_THAT(graph.find("a")->quant.scale, ElementsAre(0.5f));
  EXPECT_THAT(graph.find("e")->quant.scale, ElementsAre(0.5f));
  EXPECT_FALSE(graph.find("y")->quantized());
  EXPECT_FALSE(graph.find("x")->quantized());
}

TEST(Prequantized, AClampInsideTheStoredRangeStays) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,2]
    const %s: f32[] = [0.5]
    const %z: i8[] = [0]
    %a = Sqrt(%x)
    %b = Relu(%a)
    %q = QuantizeLinear(%b, %s, %z)
    %y = DequantizeLinear(%q, %s, %z)
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "Sqrt Relu");
  EXPECT_TRUE(graph.find("a")->quantized());
}

TEST(Prequantized, WhereTwoScalesMeetAConversionIsInserted) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,1,2,2]
    const %s1: f32[] = [0.5]
    const %s2: f32[] = [0.25]
    const %z: i8[] = [1]
    %q1 = QuantizeLinear(%x, %s1, %z)
    %d1 = DequantizeLinear(%q1, %s1, %z)
    %a = MaxPool(%d1) {kernel_shape=[2,2]}
    %q2 = QuantizeLinear(%a, %s2, %z)
    %y = DequantizeLinear(%q2, %s2, %z)
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "MaxPool exDataConvert");
  EXPECT_THAT(graph.find("y")->quant.scale, ElementsAre(0.25f));
  EXPECT_THAT(graph.nodes()[0]->output().quant.scale, ElementsAre(0.5f));
}

TEST(Prequantized, AValueBetweenFloatOperatorsHasNoParameters) {
  // Gelu and Softmax between two quantized values: what lies between them stays float (guide, section 6.4.6).
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,4]
    const %s: f32[] = [0.5]
    const %z: i8[] = [0]
    %q = QuantizeLinear(%x, %s, %z)
    %d = DequantizeLinear(%q, %s, %z)
    %a = Gelu(%d)
    %b = Softmax(%a)
    %q2 = QuantizeLinear(%b, %s, %z)
    %y = DequantizeLinear(%q2, %s, %z)
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "Gelu Softmax");
  EXPECT_FALSE(graph.find("a")->quantized());
  EXPECT_TRUE(graph.find("y")->quantized());
}

TEST(Prequantized, IntegerInputsAndOutputsBecomeRealNumbers) {
  const Graph graph = taken(R"(graph "g" {
    input %x: u8[1,1,2,2]
    const %s: f32[] = [0.5]
    const %z: u8[] = [128]
    %p = MaxPool(%x) {kernel_shape=[1,1]}
    %d = DequantizeLinear(%x, %s, %z)
    %a = Sigmoid(%d)
    %y = QuantizeLinear(%a, %s, %z)
    output %y
    output %p
  })");
  EXPECT_EQ(graph.inputs()[0]->dtype(), DType::kU8) << "read as integers too, so it stays";
  EXPECT_EQ(graph.outputs()[0]->dtype(), DType::kF32);
  EXPECT_EQ(graph.outputs()[0]->name(), "y");

  const Graph plain = taken(R"(graph "g" {
    input %x: u8[1,1,2,2]
    const %s: f32[] = [0.5]
    const %z: u8[] = [128]
    %d = DequantizeLinear(%x, %s, %z)
    %a = Sigmoid(%d)
    %q = QuantizeLinear(%a, %s, %z)
    %y = MaxPool(%q) {kernel_shape=[2,2]}
    output %y
  })");
  EXPECT_EQ(plain.inputs()[0]->type(), (TensorType{DType::kF32, {1, 1, 2, 2}}));
  EXPECT_EQ(plain.inputs()[0]->name(), "x");
  EXPECT_TRUE(plain.inputs()[0]->quantized());
}

TEST(Prequantized, SwishOfOneValueIsOneOperator) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,2]
    const %s: f32[] = [0.5]
    const %z: i8[] = [0]
    %q = QuantizeLinear(%x, %s, %z)
    %d = DequantizeLinear(%q, %s, %z)
    %a = Sigmoid(%d)
    %qa = QuantizeLinear(%a, %s, %z)
    %da = DequantizeLinear(%qa, %s, %z)
    %m = Mul(%d, %da)
    %qm = QuantizeLinear(%m, %s, %z)
    %y = DequantizeLinear(%qm, %s, %z)
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "exSwish");
}

TEST(Prequantized, ScalesPerIndexOfAnActivationStayOperators) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,2]
    const %s: f32[2] = [0.5, 1]
    const %z: i8[2] = [0, 0]
    %q = QuantizeLinear(%x, %s, %z) {axis=1}
    %y = DequantizeLinear(%q, %s, %z) {axis=1}
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "QuantizeLinear DequantizeLinear");
  EXPECT_FALSE(graph.find("x")->quantized());
}

TEST(Prequantized, OtherGraphsAreLeftAlone) {
  const Graph graph = taken(R"(graph "g" {
    input %x: f32[1,2]
    const %a: f32[1] = [1]
    const %b: f32[1] = [2]
    %c = Add(%a, %b)
    %y = Add(%x, %c)
    output %y
  })");
  EXPECT_EQ(ops_of(graph), "Add Add");
  EXPECT_FALSE(has_quantized_activations(graph));
}

}  // namespace
}  // namespace rk::quant
