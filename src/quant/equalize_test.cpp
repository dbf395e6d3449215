// SPDX-License-Identifier: Apache-2.0
#include "quant/equalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evaluator/evaluate.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "quant/bias_correction.h"
#include "quant/calibrate.h"
#include "quant/linear.h"
#include "quant/quantize.h"
#include "quant/scan.h"

namespace rk::quant {
namespace {

using ::testing::ElementsAre;

Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

class Few : public SampleSource {
 public:
  explicit Few(Shape shape, size_t count = 3) : shape_(shape), count_(count) {}
  size_t count() const override { return count_; }
  Result<std::vector<Tensor>> load(size_t sample) const override {
    Tensor out = Tensor::make({DType::kF32, shape_});
    for (int64_t i = 0; i < out.elements(); ++i) {
      out.mutable_data<float>()[i] =
          static_cast<float>(std::sin(static_cast<double>(i) * 1.7 + static_cast<double>(sample)));
    }
    return std::vector<Tensor>{out};
  }

 private:
  Shape shape_;
  size_t count_;
};

// Channel 1 of %a is 1000 times the others, channel 2 is dead; %b takes the factor back.
constexpr std::string_view kWide = R"(graph "g" {
  input %x: f32[1,2,3,3]
  const %wa: f32[3,2,1,1] = [1, 0.5, 1000, -500, 0, 0]
  const %ba: f32[3] = [0.5, 250, 0]
  const %wb: f32[2,3,1,1] = [1, 0.001, 0.5, -0.5, 0.002, 1]
  %a = Conv(%x, %wa, %ba)
  %r = Relu(%a)
  %p = MaxPool(%r) {kernel_shape=[2,2]}
  %b = Conv(%p, %wb)
  output %b
})";

TEST(Equalize, EvensOutChannelsAndKeepsTheFloatResultExactly) {
  Graph graph = graph_of(kWide);
  const Graph before = graph.clone();
  const Few samples({1, 2, 3, 3});
  auto stats = observe_channels(graph, samples, nullptr);
  ASSERT_TRUE(stats.ok()) << stats.status().message();
  const auto found = equalize(graph, *stats);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].value, "p");
  EXPECT_LT(found[0].noise_after, 0.01 * found[0].noise_before);
  ASSERT_TRUE(verify(graph).ok());
  const auto& channels = stats->at("p");
  EXPECT_LT(channels[1].max / channels[0].max, 4);
  EXPECT_GT(channels[1].max / channels[0].max, 0.25);
  for (size_t i = 0; i < samples.count(); ++i) {
    const auto inputs = samples.load(i);
    const auto old = evaluator::evaluate(before, *inputs),
               now = evaluator::evaluate(graph, *inputs);
    ASSERT_TRUE(old.ok() && now.ok());
    EXPECT_EQ((*old)[0].to_f32(), (*now)[0].to_f32());
  }
}

TEST(Equalize, SamplesSeenBeforeNeedNotBeEvaluatedAgain) {
  Graph graph = graph_of(kWide);
  const Few samples({1, 2, 3, 3}, kStatsSamples + 3);
  SeenSamples seen;
  auto stats = observe_channels(graph, samples, nullptr, {}, &seen);
  ASSERT_TRUE(stats.ok()) << stats.status().message();
  EXPECT_EQ(seen.count, kStatsSamples);
  const auto found = equalize(graph, *stats);
  ASSERT_FALSE(found.empty());
  follow_equalized(graph, found, *stats, seen);
  size_t evaluated = 0;
  const auto count = [&](size_t, size_t) { return ++evaluated > 0; };
  const auto rest = calibrate(graph, samples, Algorithm::kNormal, nullptr, count, seen);
  EXPECT_EQ(evaluated, 3u);
  const auto all = calibrate(graph, samples, Algorithm::kNormal, nullptr, {});
  ASSERT_TRUE(rest.ok() && all.ok());
  ASSERT_EQ(rest->size(), all->size());
  for (const auto& [name, range] : *all) {
    const QuantParams wanted = activation_params(range), got = activation_params(rest->at(name));
    EXPECT_EQ(got.scale, wanted.scale) << name;
    EXPECT_EQ(got.zero_point, wanted.zero_point) << name;
  }
}

// An infinity is not part of a range, but it is the largest value of its channel.
TEST(Equalize, ForgetsSeenSamplesWhereAnEqualizedChannelIsNotFinite) {
  Graph graph = graph_of(kWide);
  SeenSamples seen;
  auto stats = observe_channels(graph, Few({1, 2, 3, 3}), nullptr, {}, &seen);
  ASSERT_TRUE(stats.ok()) << stats.status().message();
  const auto found = equalize(graph, *stats);
  ASSERT_FALSE(found.empty());
  stats->at("r")[0].max = INFINITY;
  follow_equalized(graph, found, *stats, seen);
  EXPECT_EQ(seen.count, 0u);
  EXPECT_TRUE(seen.ranges.empty());
}

TEST(Equalize, GivesTheSameWeightsAtOtherShapes) {
  std::string text(kWide);
  text.replace(text.find("[1,2,3,3]"), 9, "[1,2,5,4]");
  Graph graph = graph_of(kWide), other = graph_of(text);
  auto stats = observe_channels(graph, Few({1, 2, 3, 3}), nullptr);
  ASSERT_TRUE(stats.ok()) << stats.status().message();
  equalize_alike(other, equalize(graph, *stats));
  for (const char* name : {"wa", "ba", "wb"})
    EXPECT_EQ(graph.find(name)->constant().to_f32(), other.find(name)->constant().to_f32()) << name;
}

TEST(Equalize, StopsWhereAFactorWouldChangeTheResult) {
  for (const std::string_view between : {"Sigmoid(%a)", "Clip(%a, %zero, %six)", "Add(%a, %x)"}) {
    Graph graph = graph_of(str(R"(graph "g" {
      input %x: f32[1,2,3,3]
      const %zero: f32[] = [0]
      const %six: f32[] = [6]
      const %wa: f32[2,2,1,1] = [1, 0, 0, 1000]
      const %wb: f32[2,2,1,1] = [1, 0.001, 1, 0.002]
      %a = Conv(%x, %wa)
      %s = )",
                               between, R"(
      %b = Conv(%s, %wb)
      output %b
    })"));
    auto stats = observe_channels(graph, Few({1, 2, 3, 3}), nullptr);
    ASSERT_TRUE(stats.ok()) << stats.status().message();
    EXPECT_TRUE(equalize(graph, *stats).empty()) << between;
  }
}

TEST(Equalize, LeavesWhatIsEvenAlone) {
  Graph graph = graph_of(R"(graph "g" {
    input %x: f32[1,2,3,3]
    const %wa: f32[2,2,1,1] = [1, 0.5, -0.5, 1]
    const %wb: f32[2,2,1,1] = [1, 0.8, 0.9, 1]
    %a = Conv(%x, %wa)
    %b = Conv(%a, %wb)
    output %b
  })");
  auto stats = observe_channels(graph, Few({1, 2, 3, 3}), nullptr);
  ASSERT_TRUE(stats.ok());
  EXPECT_TRUE(equalize(graph, *stats).empty());
}

TEST(Linear, KnowsTheChannelsOfEveryWeightOrder) {
  const Graph graph = graph_of(R"(graph "g" {
    input %x: f32[1,4,3,3]
    input %v: f32[1,2]
    const %grouped: f32[2,2,1,1] = [1, 2, 3, 4]
    const %transposed: f32[4,2,1,1] = [1, 2, 3, 4, 5, 6, 7, 8]
    const %columns: f32[2,3] = [1, 2, 3, 4, 5, 6]
    %a = Conv(%x, %grouped) {group=2}
    %b = ConvTranspose(%x, %transposed)
    %c = Gemm(%v, %columns)
    output %a
    output %b
    output %c
  })");
  const auto place = [&](std::string_view value, size_t index) {
    const auto linear = Linear::of(*graph.find(value)->producer());
    EXPECT_TRUE(linear.has_value()) << value;
    std::vector<size_t> found;
    linear->each_place([&](size_t i, Linear::Place place) {
      if (i == index) found = {place.out, place.in};
    });
    return found;
  };
  EXPECT_THAT(place("a", 2), ElementsAre(1u, 2u));  // second group: its input 0 is channel 2
  EXPECT_THAT(place("b", 5), ElementsAre(1u, 2u));  // [in 2][out 1]
  EXPECT_THAT(place("c", 4), ElementsAre(1u, 1u));  // [in 1][out 1]
}

TEST(CorrectBiases, TakesOutTheShiftThatRoundingMakes) {
  // One weight of 0.4 steps is rounded to 0: with a mean input of 2 the result is 0.4 * step * 2 too small.
  Graph graph = graph_of(R"(graph "g" {
    input %x: f32[1,2,1,1]
    const %w: f32[1,2,1,1] = [2.55, 0.004]
    %y = Conv(%x, %w)
    output %y
  })");
  ASSERT_TRUE(quantize(graph, {{"x", {0, 4}}, {"y", {0, 12}}}, {}).ok());
  ASSERT_FLOAT_EQ(graph.find("w")->quant.scale[0], 0.01f);
  const ValueStats stats = {{"x", {{0, 4, 1, 1}, {0, 4, 2, 4}}}};
  EXPECT_EQ(correct_biases(graph, stats), 1u);
  ASSERT_TRUE(verify(graph).ok());
  const Node& node = *graph.find("y")->producer();
  ASSERT_TRUE(node.has_input(2));
  EXPECT_NEAR(node.input(2).constant().at_f64(0), 0.008, 1e-6);
}

TEST(Scan, FindsExtremesBesideNanAndInfinity) {
  std::vector<float> values(100, 1.0f);
  values[3] = -7;
  values[98] = 9;
  Extremes seen = find_extremes(values, nullptr);
  EXPECT_EQ(seen.low, -7);
  EXPECT_EQ(seen.high, 9);
  EXPECT_FALSE(seen.any_other);
  values[40] = NAN;
  values[41] = INFINITY;
  seen = find_extremes(values, nullptr);
  EXPECT_EQ(seen.low, -7);
  EXPECT_EQ(seen.high, 9);
  EXPECT_TRUE(seen.any_other);
  EXPECT_FALSE(find_extremes(std::vector<float>{NAN}, nullptr).any_finite);
}

TEST(Scan, CountsTheSameWithAndWithoutThreads) {
  std::vector<float> values(200001);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(static_cast<double>(i))) * 7;
  values[5] = 0;
  values[6] = NAN;
  ThreadPool pool(3);
  BinCounts alone(64), shared(64);
  count_bins(values, {8}, alone, nullptr);
  count_bins(values, {8}, shared, &pool);
  EXPECT_EQ(alone.counts, shared.counts);
  EXPECT_EQ(alone.others(), 1u);
  EXPECT_EQ(alone.zeros(), 2u);  // sin(0) too
  BinCounts few(4);
  count_bins(std::vector<float>{-1, -0.5f, 0.25f, 3.9f}, {1, true}, few, nullptr);
  EXPECT_THAT(few.counts, ElementsAre(0, 0, 0, 2, 1, 0, 0, 1, 0, 0));
}

}  // namespace
}  // namespace rk::quant
