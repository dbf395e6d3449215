// SPDX-License-Identifier: Apache-2.0
// Models that arrive quantized, from the graph with its pairs to the numbers of the simulated chip: a float network is
// written as other frameworks' quantizers would write it, the evaluator runs that with their arithmetic, and the compiled
// Program must be within one step of it, in int8 throughout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/compile.h"
#include "evaluator/evaluate.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "quant/prequantized.h"
#include "toolkit/simulator.h"
#include "toolkit/state.h"

namespace rk::toolkit {
namespace {

struct QdqStyle {
  DType activations = DType::kU8;
  bool weights_per_channel = true;
  bool asymmetric_weights = false;
  bool fake_weights = false;    // float weights behind a pair, as training tools export them
  bool only_at_inputs = false;  // pairs only in front of Conv and Gemm, as Paddle exports them
};

bool is_accumulator(const Node& node) { return node.def().quant == QuantRule::kAccumulate; }

Tensor stored(const std::vector<int>& values, DType dtype, const Shape& shape) {
  if (dtype == DType::kI32) {
    return Tensor::of(dtype, shape, std::vector<int32_t>(values.begin(), values.end()));
  }
  return Tensor::of(dtype, shape, std::vector<uint8_t>(values.begin(), values.end()));
}

class PairWriter {
 public:
  PairWriter(Graph& graph, const quant::Ranges& ranges, QdqStyle style)
      : graph_(graph), ranges_(ranges), style_(style) {
    // What only moves values shares the scale of its input.
    for (const Node* node : graph.nodes()) {
      const bool moves = node->def().quant == QuantRule::kSameScaleAsInput;
      const bool one = node->def().inputs.front().kind != ArgDef::kVariadic;
      if (moves && one) ranges_[node->output().name()] = ranges_.at(node->input(0).name());
    }
  }

  void write() {
    for (Node* node : graph_.nodes()) {
      if (is_accumulator(*node)) write_weights(*node);
    }
    for (Value* value : graph_.values()) {
      if (!quant::is_activation(*value) || value->name().ends_with("_DQ")) continue;
      if (style_.only_at_inputs ? is_read_by_accumulator(*value) : !is_only_clamped(*value))
        write_pair(*value);
    }
  }

 private:
  static bool is_read_by_accumulator(const Value& value) {
    return std::ranges::any_of(
        value.uses(), [](const Use& use) { return use.index == 0 && is_accumulator(*use.node); });
  }
  // Quantizers leave Conv + Relu together.
  static bool is_only_clamped(const Value& value) {
    return value.uses().size() == 1 &&
           (value.uses()[0].node->op() == "Relu" || value.uses()[0].node->op() == "Clip");
  }

  void write_pair(Value& value) {
    const quant::Range range = ranges_.at(value.name());
    const float low = std::min(range.min, 0.0f), high = std::max(range.max, 0.0f);
    const float scale = (high - low) / 255;
    const int least = style_.activations == DType::kU8 ? 0 : -128;
    const int zero = least + static_cast<int>(std::lround(-low / scale));
    const std::string name = value.name();
    Value* const s = graph_.add_constant(name + "_scale", Tensor::scalar(scale));
    Value* const z = graph_.add_constant(name + "_zp", stored({zero}, style_.activations, {}));
    const std::vector<Use> uses = value.uses();
    const std::vector<Node*> nodes = graph_.nodes();
    const auto place = std::ranges::find(nodes, value.producer());
    Node* const before = value.producer() == nullptr ? nodes.front()
                         : place + 1 == nodes.end()  ? nullptr
                                                     : *(place + 1);
    Node* const q =
        graph_.add_node({"QuantizeLinear", name + "_Q", {&value, s, z}, {name + "_q"}, {}}, before)
            .value();
    Node* const dq =
        graph_
            .add_node({"DequantizeLinear", name + "_D", {&q->output(), s, z}, {name + "_DQ"}, {}},
                      before)
            .value();
    for (const Use& use : uses) {
      const bool wanted = !style_.only_at_inputs || (use.index == 0 && is_accumulator(*use.node));
      if (wanted) graph_.set_input(use.node, use.index, &dq->output());
    }
    if (!graph_.is_output(value)) return;
    std::vector<Value*> outputs = graph_.outputs();
    std::ranges::replace(outputs, &value, &dq->output());
    graph_.set_outputs(std::move(outputs));
  }

  void write_weights(Node& node) {
    Value& weight = node.input(1);
    const int axis = node.def().weight_axis(node);
    const QuantParams params =
        quant::weight_params(weight.constant(), style_.weights_per_channel ? axis : -1, nullptr);
    const size_t count = params.scale.size();
    std::vector<float> scale(count);
    std::vector<int> zero(count), values;
    for (size_t c = 0; c < count; ++c) {
      const float peak = std::max(-params.min[c], params.max[c]);
      scale[c] = style_.asymmetric_weights ? params.scale[c] : peak / 127;
      zero[c] = style_.asymmetric_weights ? params.zero_point[c] : 0;
    }
    int64_t inner = 1;
    for (int i = axis + 1; i < weight.shape().rank(); ++i) inner *= weight.shape()[i];
    const auto floats = weight.constant().to_f32();
    for (size_t i = 0; i < floats.size(); ++i) {
      const size_t c = count == 1 ? 0 : i / static_cast<size_t>(inner) % count;
      const auto q = static_cast<int>(std::nearbyint(floats[i] / scale[c])) + zero[c];
      values.push_back(std::clamp(q, -128, 127));
    }
    const Shape per{static_cast<int64_t>(count)};
    const bool one = count == 1;
    Value* const s =
        graph_.add_constant(weight.name() + "_scale", Tensor::f32(one ? Shape{} : per, scale));
    Value* const z =
        graph_.add_constant(weight.name() + "_zp", stored(zero, DType::kI8, one ? Shape{} : per));
    const AttrMap attrs = {{"axis", int64_t{axis}}};
    Value* integers = nullptr;
    if (style_.fake_weights) {
      integers =
          &graph_
               .add_node({"QuantizeLinear", weight.name() + "_Q", {&weight, s, z}, {""}, attrs},
                         &node)
               .value()
               ->output();
    } else {
      integers = graph_.add_constant(weight.name() + "_quantized",
                                     stored(values, DType::kI8, weight.shape()));
    }
    Node* const dq = graph_
                         .add_node({"DequantizeLinear",
                                    weight.name() + "_D",
                                    {integers, s, z},
                                    {weight.name() + "_DQ"},
                                    attrs},
                                   &node)
                         .value();
    graph_.set_input(&node, 1, &dq->output());
  }

  Graph& graph_;
  quant::Ranges ranges_;
  QdqStyle style_;
};

class RandomSamples : public quant::SampleSource {
 public:
  explicit RandomSamples(const Graph& graph) {
    for (const Value* input : graph.inputs()) types_.push_back(input->type());
  }
  size_t count() const override { return 4; }
  Result<std::vector<Tensor>> load(size_t sample) const override {
    std::mt19937 random(static_cast<unsigned>(sample));
    std::normal_distribution<float> normal;
    std::vector<Tensor> out;
    for (const TensorType& type : types_) {
      std::vector<float> values(static_cast<size_t>(type.shape.elements()));
      for (float& value : values) value = normal(random);
      out.push_back(Tensor::f32(type.shape, values));
    }
    return out;
  }

 private:
  std::vector<TensorType> types_;
};

Graph parse(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

// A constant's text with pseudo-random numbers.
std::string numbers(int64_t count, unsigned seed, float spread = 0.3f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::string out = "[";
  for (int64_t i = 0; i < count; ++i) out += str(i == 0 ? "" : ",", normal(random));
  return out + "]";
}

struct Outcome {
  double worst_steps = 0;     // of the outputs
  double worst_analysed = 0;  // likewise, of the graph that accuracy analysis compares with
  std::vector<std::string> step_types;
  int float_tensors = 0;
};

// A graph with its pairs: evaluated with the source framework's arithmetic, compiled, run, compared.
Outcome judge(const Graph& graph) {
  Outcome out;
  const RandomSamples samples(graph);
  const Status legal = verify(graph);
  EXPECT_TRUE(legal.ok()) << legal.message();
  Config config;
  config.target_platform = "rk3588";
  const target::Target& target = **target::find_target("rk3588");
  const auto optimized = optimize(graph, {config, target});
  EXPECT_TRUE(optimized.ok()) << optimized.status().message();
  auto program = compiler::compile(*optimized, compile_options({config, target}, *optimized));
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return out;
  const program::Variant& variant = program->main_variant();
  for (const program::Step& step : variant.steps) out.step_types.push_back(step.type);
  for (const program::ProgramTensor& tensor : variant.tensors)
    out.float_tensors += !tensor.is_constant() && tensor.dtype == DType::kF16;
  auto simulator = Simulator::create(std::move(*program), {});
  EXPECT_TRUE(simulator.ok()) << simulator.status().message();
  for (size_t sample = 0; sample < samples.count(); ++sample) {
    auto inputs = *samples.load(sample);
    const auto golden = evaluator::evaluate(graph, inputs);
    EXPECT_TRUE(golden.ok()) << golden.status().message();
    // Accuracy analysis has the optimized graph as its golden side: the pairs are gone, their rounding is not.
    const auto analysed = evaluator::evaluate(*optimized, inputs);
    EXPECT_TRUE(analysed.ok()) << analysed.status().message();
    std::vector<Feed> feeds;
    for (Tensor& input : inputs) {
      feeds.push_back(
          {{DType::kF32, input.shape(), input.mutable_data<float>(), input.size_bytes()}, true});
    }
    std::vector<Tensor> found;
    std::vector<ArrayRef> refs;
    for (size_t i = 0; i < (*simulator)->output_count(); ++i) {
      found.push_back(Tensor::make((*simulator)->output_type(i)));
      refs.push_back(
          {DType::kF32, found[i].shape(), found[i].mutable_data<float>(), found[i].size_bytes()});
    }
    const Status ran = (*simulator)->run(feeds, refs);
    EXPECT_TRUE(ran.ok()) << ran.message();
    for (size_t i = 0; i < found.size(); ++i) {
      const float step = (*simulator)->output_attr(i).scale;
      const auto want = (*golden)[i].span<float>(), got = found[i].span<float>();
      for (size_t k = 0; k < want.size(); ++k)
        out.worst_steps =
            std::max(out.worst_steps, std::fabs(double{want[k]} - got[k]) / (step > 0 ? step : 1));
      const auto seen = (*analysed)[i].span<float>();
      for (size_t k = 0; k < want.size(); ++k)
        out.worst_analysed = std::max(out.worst_analysed,
                                      std::fabs(double{want[k]} - seen[k]) / (step > 0 ? step : 1));
    }
  }
  return out;
}

Outcome run(Graph graph, const QdqStyle& style) {
  const RandomSamples samples(graph);
  const auto ranges = quant::observe(graph, samples, nullptr, {});
  EXPECT_TRUE(ranges.ok()) << ranges.status().message();
  PairWriter(graph, *ranges, style).write();
  return judge(graph);
}

constexpr double kOneStep = 1.001;

std::string one_conv(std::string_view tail = "") {
  return str(R"(graph "g" {
    input %x: f32[1,3,6,6]
    const %w: f32[8,3,3,3] = )",
             numbers(216, 1), R"(
    const %b: f32[8] = )",
             numbers(8, 2), R"(
    %c = Conv(%x, %w, %b) {pads=[1,1,1,1]} @"conv"
    )",
             tail.empty() ? "output %c" : tail, "\n}");
}

TEST(PrequantizedModel, AConvolutionIsWithinOneStepInEveryStyle) {
  for (const DType activations : {DType::kU8, DType::kI8}) {
    for (const int style : {0, 1, 2, 3, 4, 5, 6, 7}) {
      const Outcome outcome = run(parse(one_conv()), {.activations = activations,
                                                      .weights_per_channel = (style & 1) != 0,
                                                      .asymmetric_weights = (style & 2) != 0,
                                                      .fake_weights = (style & 4) != 0});
      EXPECT_LE(outcome.worst_steps, kOneStep) << style;
      EXPECT_LE(outcome.worst_analysed, kOneStep) << style;
      EXPECT_EQ(outcome.float_tensors, 0) << style;
    }
  }
}

// A scale that training chose to cut values off: 100 and -100 become 127 and -128 halves.
TEST(PrequantizedModel, TheGoldenSideOfAnalysisSaturatesAsTheModelDoes) {
  const Graph graph = parse(R"(graph "g" {
    input %x: f32[1,4]
    const %s: f32[] = [0.5]
    const %z: i8[] = [0]
    %q = QuantizeLinear(%x, %s, %z)
    %d = DequantizeLinear(%q, %s, %z)
    %a = Sigmoid(%d)
    %m = Mul(%d, %d)
    output %m
    output %a
  })");
  Config config;
  config.target_platform = "rk3588";
  const auto optimized = optimize(graph, {config, **target::find_target("rk3588")});
  ASSERT_TRUE(optimized.ok()) << optimized.status().message();
  const auto golden =
      evaluator::evaluate(*optimized, std::vector{Tensor::f32({1, 4}, {100, -100, 1.2f, 0})});
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  EXPECT_THAT((*golden)[0].to_f32(), testing::ElementsAre(63.5f * 63.5f, 4096, 1, 0));
}

TEST(PrequantizedModel, ClampsAfterAConvolutionAreInTheStep) {
  const Outcome relu = run(parse(one_conv("%r = Relu(%c)\n output %r")), {});
  EXPECT_LE(relu.worst_steps, kOneStep);
  EXPECT_THAT(relu.step_types, testing::ElementsAre("ConvRelu"));
  const Outcome clip = run(parse(one_conv("const %lo: f32[] = [0] const %hi: f32[] = [1.5] "
                                          "%r = Clip(%c, %lo, %hi)\n output %r")),
                           {});
  EXPECT_LE(clip.worst_steps, kOneStep);
  EXPECT_THAT(clip.step_types, testing::ElementsAre("ConvClip"));
}

TEST(PrequantizedModel, EveryOperatorOfCommonNetworksStaysInInt8) {
  for (const std::string_view tail :
       {"%p = MaxPool(%c) {kernel_shape=[2,2], strides=[2,2]} output %p",
        "%p = GlobalAveragePool(%c) output %p",
        "%p = AveragePool(%c) {kernel_shape=[2,2], strides=[2,2]} output %p",
        "%s = Sigmoid(%c) %p = Mul(%c, %s) output %p", "%p = Sigmoid(%c) output %p",
        "%r = Relu(%c) %p = Add(%r, %c) output %p",
        "%r = Relu(%c) %p = Concat(%r, %c) {axis=1} output %p",
        "%r = Relu(%c) %a = Add(%r, %c) %p = Relu(%a) output %p",
        R"(const %f: f32[4] = [1,1,2,2] %p = Resize(%c, _, %f)
           {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"}
           output %p)",
        "const %t: i64[2] = [1,288] %p = Reshape(%c, %t) output %p",
        "%p = LeakyRelu(%c) {alpha=0.1} output %p"}) {
    const Outcome outcome = run(parse(one_conv(tail)), {});
    EXPECT_LE(outcome.worst_steps, 2 * kOneStep) << tail;  // two roundings behind each other
    EXPECT_LE(outcome.worst_analysed, kOneStep) << tail;   // Swish is one rounding instead of two
    EXPECT_EQ(outcome.float_tensors, 0) << tail;
    EXPECT_THAT(outcome.step_types, testing::Not(testing::Contains("exDataConvert"))) << tail;
  }
}

TEST(PrequantizedModel, AGemmBehindAPoolStaysInInt8) {
  const std::string tail =
      str("%p = GlobalAveragePool(%c) %f = Flatten(%p) const %m: f32[4,8] = ", numbers(32, 5),
          " const %n: f32[4] = ", numbers(4, 6), " %y = Gemm(%f, %m, %n) {transB=1} output %y");
  const Outcome outcome = run(parse(one_conv(tail)), {});
  EXPECT_LE(outcome.worst_steps, 2 * kOneStep);
  EXPECT_EQ(outcome.float_tensors, 0);
}

TEST(PrequantizedModel, AResidualNetworkIsOneInt8Program) {
  const std::string text = str(R"(graph "g" {
    input %x: f32[1,4,8,8]
    const %w1: f32[8,4,3,3] = )",
                               numbers(288, 11), R"(
    const %w2: f32[8,1,3,3] = )",
                               numbers(72, 12), R"(
    const %w3: f32[8,8,1,1] = )",
                               numbers(64, 13), R"(
    %a = Conv(%x, %w1) {pads=[1,1,1,1]}
    %ar = Relu(%a)
    %b = Conv(%ar, %w2) {pads=[1,1,1,1], group=8}
    %br = Relu(%b)
    %c = Conv(%br, %w3)
    %d = Add(%c, %ar)
    %dr = Relu(%d)
    %m = MaxPool(%dr) {kernel_shape=[2,2], strides=[2,2]}
    output %m
  })");
  const Outcome outcome = run(parse(text), {});
  EXPECT_EQ(outcome.float_tensors, 0);
  EXPECT_LE(outcome.worst_steps, 3);
  EXPECT_THAT(outcome.step_types,
              testing::ElementsAre("ConvRelu", "ConvRelu", "Conv", "Add", "MaxPool"));
}

// What the importer makes of QLinearConv, MaxPool on stored numbers and QLinearConv again, uint8 at both ends.
TEST(PrequantizedModel, IntegerOperatorsAreOneInt8Program) {
  Graph graph = parse(R"(graph "g" {
    input %x: u8[1,1,4,4]
    const %sx: f32[] = [0.03125]
    const %zx: u8[] = [120]
    const %w: i8[2,1,1,1] = [-100, 60]
    const %sw: f32[2] = [0.01, 0.02]
    const %zw: i8[2] = [3, -5]
    const %b: i32[2] = [500, -300]
    const %sa: f32[] = [0.04]
    const %za: u8[] = [128]
    %xd = DequantizeLinear(%x, %sx, %zx)
    %wd = DequantizeLinear(%w, %sw, %zw) {axis=0}
    %sb = Mul(%sx, %sw)
    %bd = DequantizeLinear(%b, %sb) {axis=0}
    %c = Conv(%xd, %wd, %bd)
    %a = QuantizeLinear(%c, %sa, %za)
    %p = MaxPool(%a) {kernel_shape=[2,2], strides=[2,2]}
    %pd = DequantizeLinear(%p, %sa, %za)
    const %w2: u8[1,2,1,1] = [200, 10]
    const %sw2: f32[] = [0.01]
    const %zw2: u8[] = [100]
    %w2d = DequantizeLinear(%w2, %sw2, %zw2)
    %d = Conv(%pd, %w2d)
    %y = QuantizeLinear(%d, %sa, %za)
    output %y
  })");
  const Status borders = quant::float_borders(graph);
  ASSERT_TRUE(borders.ok()) << borders.message();
  const Outcome outcome = judge(graph);
  EXPECT_THAT(outcome.step_types, testing::ElementsAre("Conv", "MaxPool", "Conv"));
  EXPECT_EQ(outcome.float_tensors, 0);
  EXPECT_LE(outcome.worst_steps, 2 * kOneStep);
}

// Paddle's exporter writes pairs in front of convolutions and matrix products only, and the matrix [in, out] has its
// scales on axis 1.
TEST(PrequantizedModel, PairsMissingBehindOperatorsAreMadeUpFor) {
  const std::string text = str(R"(graph "g" {
    input %x: f32[1,4,6,6]
    const %w1: f32[8,4,3,3] = )",
                               numbers(288, 21), R"(
    const %w2: f32[8,8,3,3] = )",
                               numbers(576, 22), R"(
    const %w3: f32[288,5] = )",
                               numbers(1440, 23), R"(
    %a = Conv(%x, %w1) {pads=[1,1,1,1]}
    %ar = Relu(%a)
    %b = Conv(%ar, %w2) {pads=[1,1,1,1]}
    %s = Add(%b, %ar)
    %br = Relu(%s)
    const %shape: i64[2] = [1,288]
    %f = Reshape(%br, %shape)
    %y = MatMul(%f, %w3)
    output %y
  })");
  const Outcome outcome = run(parse(text), {.activations = DType::kI8, .only_at_inputs = true});
  // The last product has no parameters behind it: float16, on values that were int8.
  EXPECT_THAT(outcome.step_types,
              testing::ElementsAre("ConvRelu", "ConvAddRelu", "Reshape", "exDataConvert", "Reshape",
                                   "Conv", "Reshape"));
  EXPECT_LE(outcome.worst_steps, 0.2);  // in units of the output itself
}

TEST(PrequantizedModel, BatchNormalizationIsFoldedIntoQuantizedWeights) {
  const std::string tail = R"(const %g: f32[8] = [1,2,0.5,-1,1.5,0.1,3,-0.5]
    const %h: f32[8] = [0,1,-1,0.5,0.25,0,0,2] const %m: f32[8] = [0,0.1,0,0,-0.2,0,0,0]
    const %v: f32[8] = [1,0.5,2,1,1,1,4,1]
    %n = BatchNormalization(%c, %g, %h, %m, %v) %r = Relu(%n) output %r)";
  Graph graph = parse(one_conv(tail));
  // A training tool's export: no pair between the convolution and its normalization.
  const Outcome outcome =
      run(std::move(graph), {.asymmetric_weights = true, .only_at_inputs = true});
  EXPECT_LE(outcome.worst_steps, 0.2);
}

}  // namespace
}  // namespace rk::toolkit
