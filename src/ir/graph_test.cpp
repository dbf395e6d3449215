// SPDX-License-Identifier: Apache-2.0
// The IR by itself: a toy registry keeps these tests free of real operators.
#include "ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/rewrite.h"
#include "ir/text.h"

namespace rk {
namespace {

using ::testing::HasSubstr;

Status same_type(InferCall& call) {
  for (size_t i = 0; i < call.output_count(); ++i) call.set_output(i, call.input(0));
  return ok_status();
}

Status no_compute(const EvalCall&) { return ok_status(); }

const OpRegistry& toy_registry() {
  static const OpRegistry registry([] {
    std::vector<OpDef> defs;
    defs.push_back({.name = "Pass",
                    .inputs = {{"x"}},
                    .outputs = {{"y"}},
                    .infer = same_type,
                    .reference = no_compute});
    defs.push_back({.name = "Mix",
                    .inputs = {{"a"}, {"b", ArgDef::kOptional}, {"c", ArgDef::kOptional}},
                    .outputs = {{"y"}},
                    .attrs = {{"n", int64_t{7}, ""},
                              {"f", 0.5f, ""},
                              {"s", std::string("x"), ""},
                              {"ns", std::vector<int64_t>{}, "", AttrDef::kOptional},
                              {"t", Tensor(), "", AttrDef::kOptional}},
                    .infer = same_type,
                    .reference = no_compute});
    defs.push_back({.name = "Fork",
                    .inputs = {{"x"}},
                    .outputs = {{"a"}, {"b"}},
                    .infer = same_type,
                    .reference = no_compute});
    defs.push_back({.name = "Join",
                    .inputs = {{"x", ArgDef::kVariadic}},
                    .outputs = {{"y"}},
                    .infer = same_type,
                    .reference = no_compute});
    defs.push_back({.name = "Must",
                    .inputs = {{"x"}},
                    .outputs = {{"y"}},
                    .attrs = {{"k", int64_t{0}, "", AttrDef::kRequired}},
                    .infer = same_type,
                    .reference = no_compute});
    defs.push_back({.name = "Strict",
                    .inputs = {{"a", floats().rank(1, 2)},
                               {"b", floats().like(0), ArgDef::kOptional},
                               {"c", one_of({DType::kI64}), ArgDef::kOptional}},
                    .outputs = {{"y"}},
                    .attrs = {{"axis", int64_t{-1}, "", AttrDef::kDefault, AttrDef::kAxisOfInput},
                              {"axes", std::vector<int64_t>{}, "", AttrDef::kOptional,
                               AttrDef::kAxisOfOutput}},
                    .infer = same_type,
                    .reference = no_compute});
    return defs;
  }());
  return registry;
}

const TensorType kVector{DType::kF32, {2}};

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text, toy_registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

std::string refusal(std::string_view text) {
  const auto graph = parse_graph(text, toy_registry());
  EXPECT_FALSE(graph.ok());
  return graph.status().message();
}

TEST(GraphText, SurvivesPrintingAndParsing) {
  const std::string text = R"(graph "net" {
  input %x: f32[2]
  input %"a b": i64[]
  const %c: f32[2] q(i8, axis=0, scale=[0.5,0.25], zp=[-1,2]) = [1.5,-2]
  const %i: i64[3] = [1,-9223372036854775808,9223372036854775807]
  %m: f32[2] q(i8, scale=[0.100000001], zp=[3], min=[-1.0], max=[2.0]) = Mix(%x, _, %c) {f=2.0, n=-3, ns=[1,2], s="q\"uo", t=tensor u8[2] [0,255]} @"first"
  %p: f32[2], %q: f32[2] = Fork(%m) @"fork"
  %y: f32[2] = Join(%p, %q, %x)
  output %y
  output %q
}
)";
  // Scales print with a point, so the text is a fixed point after one round.
  const std::string once = to_text(parsed(text));
  EXPECT_EQ(to_text(parsed(once)), once);
  EXPECT_THAT(once, HasSubstr("Mix(%x, _, %c) {f=2.0, n=-3, ns=[1,2], s=\"q\\\"uo\", t=tensor "
                              "u8[2] [0,255]} @\"first\""));
  EXPECT_THAT(once, HasSubstr("[1,-9223372036854775808,9223372036854775807]"));
}

TEST(GraphText, ElidesLargeConstantsAndRefusesToReadThemBack) {
  Graph graph(toy_registry());
  Value* c = graph.add_constant("c", Tensor::f32({4}, {1, 2, 3, 4}));
  auto node = graph.add_node({"Pass", "p", {c}, {"y"}, {}});
  ASSERT_TRUE(graph.add_output(&(*node)->output()).ok());
  const std::string text = to_text(graph, {.max_constant_elements = 3});
  EXPECT_EQ(text.find("[1,2,3,4]"), std::string::npos);
  EXPECT_THAT(refusal(text), HasSubstr("left out"));
}

TEST(GraphNodes, InputsAreCheckedAgainstTheOperatorsRules) {
  const auto with = [](std::string_view a, std::string_view b, std::string_view c) {
    return refusal(str("graph \"g\" { input %a: ", a, " input %b: ", b, " input %c: ", c,
                       " %y = Strict(%a, %b, %c) output %y }"));
  };
  EXPECT_THAT(with("i8[2]", "f32[2]", "i64[]"),
              HasSubstr("input 0 ('a') is i8[2], expected a float dtype"));
  EXPECT_THAT(with("f32[]", "f32[2]", "i64[]"),
              HasSubstr("input 0 ('a') is f32[], expected rank 1 to 2"));
  EXPECT_THAT(with("f32[2]", "f16[2]", "i64[]"),
              HasSubstr("inputs 0 ('a') and 1 ('b') have dtypes f32 and f16"));
  EXPECT_THAT(with("f32[2]", "f32[2]", "i32[]"),
              HasSubstr("input 2 ('c') is i32[], expected dtype i64"));
}

TEST(GraphNodes, AxesCountFromTheFront) {
  const Graph graph = parsed(R"(graph "g" {
    input %x: f32[2,3]
    %y = Strict(%x) {axes=[-2,1]}
    %z = Strict(%y) {axis=-2}
    output %z })");
  const std::vector<Node*> nodes = graph.nodes();
  EXPECT_EQ(nodes[0]->i64("axis"), 1);  // the schema's default, -1
  EXPECT_EQ(nodes[0]->ints("axes"), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(nodes[1]->i64("axis"), 0);
  EXPECT_EQ(graph.clone().nodes()[0]->i64("axis"), 1);
  EXPECT_FALSE(nodes[0]->attrs().contains("axis"));  // still only what was given
}

TEST(GraphNodes, RefusalsNameTheNodeAndWhatIsWrong) {
  const auto with = [](std::string_view line) {
    return str("graph \"g\" {\n input %x: f32[2]\n ", line, "\n output %y\n}");
  };
  EXPECT_THAT(refusal(with("%y = Nope(%x) @\"n\"")),
              HasSubstr("node 'n' (Nope): there is no such operator"));
  EXPECT_THAT(refusal(with("%y = Pass(%x, %x) @\"n\"")),
              HasSubstr("node 'n' (Pass): 2 inputs found, 1 to 1 expected"));
  EXPECT_THAT(refusal(with("%y = Must(%x) @\"n\"")),
              HasSubstr("attribute 'k' is required and missing"));
  EXPECT_THAT(refusal(with("%y = Pass(_) @\"n\"")), HasSubstr("input 0 ('x') is missing"));
  EXPECT_THAT(refusal(with("%y = Pass(%z)")), HasSubstr("'z' is not defined"));
  EXPECT_THAT(refusal(with("%y: f32[3] = Pass(%x) @\"n\"")),
              HasSubstr("written as f32[3], inference gives f32[2]"));
}

TEST(GraphNodes, UnknownAttributesAndWrongKindsAreRefused) {
  Graph graph(toy_registry());
  Value* x = *graph.add_input("x", kVector);
  const auto unknown = graph.add_node({"Pass", "n", {x}, {"y"}, {{"z", int64_t{1}}}});
  EXPECT_THAT(unknown.status().message(), HasSubstr("attribute 'z' is unknown"));
  const auto kind = graph.add_node({"Mix", "n", {x}, {"y"}, {{"n", 1.0f}}});
  EXPECT_THAT(kind.status().message(), HasSubstr("attribute 'n' is of kind float, expected int"));
  EXPECT_FALSE(graph.add_input("x", kVector).ok());
}

TEST(GraphEdits, ReplacingAnOutputKeepsItsName) {
  Graph graph = parsed("graph \"g\" { input %x: f32[2] %a = Pass(%x) %y = Pass(%a) output %y }");
  Value* old = graph.find("y");
  graph.replace_uses(old, graph.find("a"));
  graph.remove_unused();
  EXPECT_EQ(graph.outputs()[0]->name(), "y");
  EXPECT_EQ(graph.node_count(), 1u);
  EXPECT_TRUE(verify(graph).ok());
  EXPECT_FALSE(graph.can_replace(*graph.find("y"), *graph.find("x")));
}

TEST(GraphEdits, SortPutsProducersFirstAndFindsCycles) {
  Graph graph = parsed(
      "graph \"g\" { input %x: f32[2] %a = Pass(%x) @\"a\" %y = Pass(%a) @\"y\" output %y }");
  Node* a = graph.nodes()[0];
  Node* y = graph.nodes()[1];
  graph.set_input(a, 0, &y->output());
  EXPECT_THAT(graph.sort().message(), HasSubstr("is part of a cycle"));
  graph.set_input(a, 0, graph.find("x"));
  EXPECT_TRUE(graph.sort().ok());
  EXPECT_TRUE(verify(graph).ok());
}

TEST(GraphEdits, CloneIsIndependent) {
  const Graph graph = parsed("graph \"g\" { input %x: f32[2] %a = Pass(%x) output %a }");
  Graph copy = graph.clone();
  copy.find("a")->quant.scale = {1};
  copy.find("a")->quant.zero_point = {0};
  EXPECT_FALSE(graph.find("a")->quantized());
  EXPECT_NE(graph.find("a"), copy.find("a"));
  EXPECT_TRUE(verify(copy).ok());
}

TEST(GraphEdits, UnusedChainsGoInOneSweep) {
  Graph graph = parsed(
      "graph \"g\" { input %x: f32[2] const %c: f32[2] = [1,2] %a = Pass(%c) %b = Pass(%a) %y = "
      "Pass(%x) output %y }");
  EXPECT_EQ(graph.remove_unused(), 2u);
  EXPECT_EQ(graph.find("c"), nullptr);
}

TEST(Rewriter, OnlyUseSkipsValuesReadElsewhere) {
  const auto count = [](std::string_view text, bool only_use) {
    Graph graph = parsed(text);
    Chain pattern = chain("Pass", "Pass");
    if (only_use) pattern = std::move(pattern).only_use();
    return *rewrite(graph, pattern, [](Match&) -> Result<Rewrite> { return Rewrite::kChanged; });
  };
  constexpr std::string_view kShared =
      "graph \"g\" { input %x: f32[2] %a = Pass(%x) %b = Pass(%a) %y = Join(%a, %b) output %y }";
  EXPECT_EQ(count(kShared, true), 0u);
  EXPECT_EQ(count(kShared, false), 1u);
}

TEST(ShapeTest, RefusesNegativeOverflowingAndDeepShapes) {
  EXPECT_FALSE(Shape::make(std::vector<int64_t>{1, -1}).ok());
  EXPECT_FALSE(Shape::make(std::vector<int64_t>{1 << 20, 1 << 20}).ok());
  EXPECT_FALSE(Shape::make(std::vector<int64_t>(9, 1)).ok());
  EXPECT_TRUE(Shape::make(std::vector<int64_t>{0, 5}).ok());
  EXPECT_EQ(Shape({}).elements(), 1);
}

TEST(TensorTest, CastTruncatesSaturatesAndKeepsLargeIntegers) {
  EXPECT_EQ(Tensor::f32({4}, {1.9f, -1.9f, 300.0f, NAN}).cast(DType::kI8).to_i64(),
            (std::vector<int64_t>{1, -1, 127, 0}));
  const int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_EQ(Tensor::i64({1}, {big}).cast(DType::kU64).at_i64(0), big);
  EXPECT_EQ(Tensor::f32({2}, {0.0f, -3.0f}).cast(DType::kBool).to_i64(),
            (std::vector<int64_t>{0, 1}));
}

}  // namespace
}  // namespace rk
