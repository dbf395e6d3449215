// SPDX-License-Identifier: Apache-2.0
#include "quant/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/registry.h"

namespace rk::quant {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

TEST(ActivationParams, MatchThePublishedExample) {
  // min 0, max 6: scale 0.023529411764705882, zero point -128 (docs/facts/toolkit.md, 2.3).
  const QuantParams q = activation_params({0, 6});
  EXPECT_THAT(q.scale, ElementsAre(FloatNear(0.023529411764705882f, 1e-9f)));
  EXPECT_THAT(q.zero_point, ElementsAre(-128));
}

TEST(ActivationParams, ExtendTheRangeToHoldZero) {
  EXPECT_THAT(activation_params({2, 5.1f}).min, ElementsAre(0.0f));
  EXPECT_THAT(activation_params({-2.55f, -1}).zero_point, ElementsAre(127));
  EXPECT_THAT(activation_params({0, 0}).scale, ElementsAre(FloatNear(1 / 255.0f, 1e-9f)));
  // -612.1233..444.1822 is a tensor of a vendor file: scale 4.1423745, zero point 20.
  const QuantParams q = activation_params({-612.1233f, 444.1822f});
  EXPECT_THAT(q.scale, ElementsAre(FloatNear(4.1423745f, 1e-5f)));
  EXPECT_THAT(q.zero_point, ElementsAre(20));
}

TEST(WeightParams, NarrowChannelsAreFlooredAtOne512thOfTheWidest) {
  std::vector<int64_t> floored;
  const QuantParams q = weight_params(Tensor::f32({3, 2}, {-1, 1, 0, 0.001f, 0, 0}), 0, &floored);
  EXPECT_THAT(q.scale, ElementsAre(FloatNear(2 / 255.0f, 1e-9f), FloatNear(2 / 255.0f / 512, 1e-9f),
                                   FloatNear(2 / 255.0f / 512, 1e-9f)));
  EXPECT_THAT(q.zero_point, ElementsAre(0, -128, -128));
  EXPECT_THAT(floored, ElementsAre(1, 2));
}

TEST(WeightParams, AxisOneCountsColumns) {
  const QuantParams q = weight_params(Tensor::f32({2, 2}, {0, 1, -1, 2}), 1);
  EXPECT_THAT(q.min, ElementsAre(-1.0f, 0.0f));
  EXPECT_THAT(q.max, ElementsAre(0.0f, 2.0f));
}

Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

TEST(Quantize, MovingOperatorsShareAndConcatTakesOverSingleReaders) {
  Graph graph = graph_of(R"(graph "g" {
    input %x: f32[1,2,2,2]
    const %shape: i64[2] = [2, 4]
    %a = Relu(%x)
    %b = Sigmoid(%x)
    %p = MaxPool(%a) {kernel_shape=[1,1]}
    %c = Concat(%p, %x, %b) {axis=1}
    %y = Reshape(%b, %shape)
    output %c
    output %y
  })");
  Ranges ranges;
  ranges["x"] = {-1, 2};
  ranges["a"] = {0, 2};
  ranges["b"] = {0.2f, 0.8f};
  ranges["p"] = {0, 2};
  ranges["c"] = {-1, 2};
  ranges["y"] = {0.2f, 0.8f};
  ASSERT_TRUE(quantize(graph, ranges, {}).ok());
  const auto scale = [&](std::string_view name) { return graph.find(name)->quant.scale[0]; };
  EXPECT_EQ(scale("p"), scale("c"));  // read by Concat only
  EXPECT_EQ(scale("a"), scale("p"));  // moved by MaxPool
  EXPECT_FLOAT_EQ(scale("c"), 3 / 255.0f);
  EXPECT_FLOAT_EQ(scale("b"), 1 / 255.0f);  // fixed range, two readers: keeps its own
  EXPECT_EQ(scale("y"), scale("b"));
}

// Expected are the vendor compiler's own ranges for data of -20 to 30, and [-7, 0] where all of it
// lies below.
TEST(Quantize, WhatASaturatingFunctionCannotTellApartTakesNoSteps) {
  Graph graph = graph_of(R"(graph "g" {
    input %x: f32[1,4]
    %n = Neg(%x)
    %low, %box = Split(%n) {axis=1, num_outputs=2}
    %s = Sigmoid(%low)
    %e = Exp(%box)
    %a = Neg(%x)
    %h = HardSigmoid(%a)
    %b = Neg(%x)
    %w = HardSwish(%b)
    %c = Neg(%x)
    %t = Sigmoid(%c)
    %both = Add(%c, %x)
    %d = Neg(%x)
    %u = Sigmoid(%d)
    output %s
    output %e
    output %h
    output %w
    output %t
    output %both
    output %u
  })");
  Ranges ranges;
  for (const char* name : {"x", "n", "a", "b", "c", "d", "e", "h", "w", "both", "s", "t", "u"})
    ranges[name] = {-20, 30};
  ranges["low"] = {-20, -1};
  ranges["box"] = {-2, 30};
  ranges["d"] = {-20, -10};
  ASSERT_TRUE(quantize(graph, ranges, {}).ok());
  const auto range = [&](std::string_view name) {
    const QuantParams& q = graph.find(name)->quant;
    return std::pair(q.min[0], q.max[0]);
  };
  EXPECT_EQ(range("a"), std::pair(-2.5f, 2.5f));
  EXPECT_EQ(range("b"), std::pair(-3.0f, 30.0f));
  EXPECT_EQ(range("c"), std::pair(-20.0f, 30.0f)) << "an addition reads it, too";
  EXPECT_EQ(range("d"), std::pair(-7.0f, 0.0f));
  EXPECT_EQ(range("n"), std::pair(-7.0f, 30.0f)) << "what its parts need, together";
  EXPECT_EQ(range("low"), range("n"));
}

TEST(Quantize, WeightsGetOneScalePerChannelOrOneForAll) {
  constexpr std::string_view kText = R"(graph "g" {
    input %x: f32[1,1,2,2]
    const %w: f32[2,1,1,1] = [1, -2]
    %y = Conv(%x, %w)
    output %y
  })";
  Ranges ranges;
  ranges["x"] = {-1, 1};
  ranges["y"] = {-2, 2};
  Graph channel = graph_of(kText), layer = graph_of(kText);
  ASSERT_TRUE(quantize(channel, ranges, {.weights = WeightMethod::kChannel}).ok());
  ASSERT_TRUE(quantize(layer, ranges, {.weights = WeightMethod::kLayer}).ok());
  EXPECT_EQ(channel.find("w")->quant.scale.size(), 2u);
  EXPECT_EQ(layer.find("w")->quant.scale.size(), 1u);
}

TEST(Quantize, AFixedRangeGivesWayWhereLessThanHalfOfItIsUsed) {
  const auto scale_with = [](float max, std::string_view op = "Softmax") {
    Graph graph = graph_of(str("graph \"g\" { input %x: f32[1,4] %y = ", op, "(%x) output %y }"));
    Ranges ranges;
    ranges["x"] = {-1, 1};
    ranges["y"] = {0.001f, max};
    EXPECT_TRUE(quantize(graph, ranges, {}).ok());
    return graph.find("y")->quant.scale[0];
  };
  EXPECT_FLOAT_EQ(scale_with(0.9f), 1 / 255.0f);
  EXPECT_FLOAT_EQ(scale_with(0.1f), 0.1f / 255.0f);
  EXPECT_FLOAT_EQ(scale_with(0.1f, "Sigmoid"), 1 / 255.0f);
}

TEST(Quantize, AValueThatWasNeverSeenIsNamed) {
  Graph graph = graph_of("graph \"g\" { input %x: f32[2] %y = Relu(%x) output %y }");
  EXPECT_THAT(quantize(graph, {{"x", {0, 1}}}, {}).message(), HasSubstr("'y' was not seen"));
}

class ListedSamples : public SampleSource {
 public:
  explicit ListedSamples(std::vector<float> values) : values_(std::move(values)) {}
  size_t count() const override { return values_.size(); }
  Result<std::vector<Tensor>> load(size_t i) const override {
    return std::vector<Tensor>{Tensor::f32({2}, {values_[i], 1})};
  }

 private:
  std::vector<float> values_;
};

TEST(Observe, CoversAllSamplesAndCanBeCancelled) {
  const Graph graph = graph_of("graph \"g\" { input %x: f32[2] %y = Neg(%x) output %y }");
  const auto ranges = observe(graph, ListedSamples({-3, 5}), nullptr, {});
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(ranges->at("x").min, -3);
  EXPECT_EQ(ranges->at("y").min, -5);
  EXPECT_EQ(ranges->at("y").max, 3);
  const auto cancelled =
      observe(graph, ListedSamples({1, 2}), nullptr, [](size_t, size_t) { return false; });
  EXPECT_EQ(cancelled.status().code(), Code::kCancelled);
}

TEST(Normalize, SubtractsAndDividesPerChannel) {
  Tensor x = Tensor::f32({1, 2, 1, 2}, {10, 20, 30, 40});
  normalize(x, {{10, 20}, {2, 5}, false});
  EXPECT_EQ(x.to_f32(), (std::vector<float>{0, 5, 2, 4}));
}

}  // namespace
}  // namespace rk::quant
