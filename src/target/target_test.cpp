// SPDX-License-Identifier: Apache-2.0
// Lookups and a sample of each kind of limit. Nodes are made with a registry of our own, so that
// this test needs no operators.
#include "target/target.h"

#include <gtest/gtest.h>

#include "ir/graph.h"
#include "target/chips.h"

namespace rk::target {
namespace {

Status infer_like_input(InferCall& call) {
  call.set_output(0, call.input(0));
  return ok_status();
}

Status no_reference(const EvalCall&) { return unsupported("not evaluated here"); }

const OpRegistry& registry() {
  static const OpRegistry ops([] {
    const AttrDef strides{"strides", std::vector<int64_t>{}, ""};
    const AttrDef pads{"pads", std::vector<int64_t>{}, ""};
    const AttrDef dilations{"dilations", std::vector<int64_t>{}, ""};
    const AttrDef group{"group", int64_t{1}, ""};
    std::vector<OpDef> defs;
    for (const std::string_view name : {"Conv", "FusedConv", "ConvTranspose"}) {
      defs.push_back({.name = name,
                      .inputs = {{"x"}, {"w"}},
                      .outputs = {{"y"}},
                      .attrs = {strides, pads, dilations, group},
                      .infer = infer_like_input,
                      .reference = no_reference});
    }
    const AttrDef kernel{"kernel_shape", std::vector<int64_t>{}, ""};
    const AttrDef ceil{"ceil_mode", int64_t{0}, ""};
    for (const std::string_view name : {"MaxPool", "AveragePool"}) {
      defs.push_back({.name = name,
                      .inputs = {{"x"}},
                      .outputs = {{"y"}},
                      .attrs = {strides, pads, kernel, ceil},
                      .infer = infer_like_input,
                      .reference = no_reference});
    }
    for (const std::string_view name : {"HardSigmoid", "Elu"}) {
      defs.push_back({.name = name,
                      .inputs = {{"x"}},
                      .outputs = {{"y"}},
                      .attrs = {{"alpha", 1.0f, ""}, {"beta", 0.0f, ""}},
                      .infer = infer_like_input,
                      .reference = no_reference});
    }
    defs.push_back({.name = "Softmax",
                    .inputs = {{"x"}},
                    .outputs = {{"y"}},
                    .attrs = {{"axis", int64_t{-1}, ""}},
                    .infer = infer_like_input,
                    .reference = no_reference});
    defs.push_back({.name = "Clip",
                    .inputs = {{"x"}, {"low"}, {"high"}},
                    .outputs = {{"y"}},
                    .infer = infer_like_input,
                    .reference = no_reference});
    defs.push_back({.name = "Transpose",
                    .inputs = {{"x"}},
                    .outputs = {{"y"}},
                    .attrs = {{"perm", std::vector<int64_t>{}, ""}},
                    .infer = infer_like_input,
                    .reference = no_reference});
    for (const std::string_view name : {"Div", "Sub", "Add", "Mul", "PRelu"}) {
      defs.push_back({.name = name,
                      .inputs = {{"a"}, {"b"}},
                      .outputs = {{"y"}},
                      .infer = infer_like_input,
                      .reference = no_reference});
    }
    for (const std::string_view name : {"NonZero", "TopK", "Relu", "GlobalMaxPool"}) {
      defs.push_back({.name = name,
                      .inputs = {{"x"}},
                      .outputs = {{"y"}},
                      .infer = infer_like_input,
                      .reference = no_reference});
    }
    return defs;
  }());
  return ops;
}

class Nodes {
 public:
  Nodes() : graph_(registry()) {}
  Value* input(const Shape& shape) {
    return *graph_.add_input(str("in", ++count_), {DType::kF32, shape});
  }
  Value* constant(const Shape& shape) {
    return graph_.add_constant(str("c", ++count_), Tensor::make({DType::kF32, shape}));
  }
  Value* relu(Value* x) { return &node("Relu", {x}).output(); }
  Node& node(std::string op, std::vector<Value*> inputs, AttrMap attrs = {}) {
    auto made = graph_.add_node({.op = std::move(op),
                                 .name = str("n", ++count_),
                                 .inputs = std::move(inputs),
                                 .outputs = {""},
                                 .attrs = std::move(attrs)});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return **made;
  }

 private:
  Graph graph_;
  int count_ = 0;
};

using Ints = std::vector<int64_t>;

TEST(TargetTest, IsFoundByNameAndAliasInAnyCase) {
  EXPECT_EQ(*find_target("RK3588"), &rk3588());
  EXPECT_EQ(*find_target("rk3588s"), &rk3588());
  EXPECT_EQ(*find_target("rk3568"), &rk3566());
  EXPECT_EQ(*find_target("rv1103"), &rv1106());
  EXPECT_EQ(*find_target("RV1103B"), &rv1106b());
  const auto unknown = find_target("rk3399pro");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().message().find("rk3588s"), std::string::npos);
}

TEST(TargetTest, ModelsRunOnChipsOfTheSameRowOnly) {
  EXPECT_TRUE(runs_on("rk3566", "rk3568"));
  EXPECT_TRUE(runs_on("rk3588", "RK3588S"));
  EXPECT_FALSE(runs_on("rk3588", "rk3576"));
  EXPECT_FALSE(runs_on("rk3588", "nonsense"));
  EXPECT_FALSE(runs_on("nonsense", "nonsense"));
}

TEST(TargetTest, EveryChipHasAUniqueNameAndRows) {
  for (const Target* target : all_targets()) {
    EXPECT_FALSE(target->name.empty());
    EXPECT_EQ(*find_target(target->name), target);
    EXPECT_GT(target->npu.size(), 20u) << target->name;
    EXPECT_NE(target->find("Conv"), nullptr);
    EXPECT_GE(target->npu_cores, 1);
  }
  EXPECT_EQ(rk3588().npu_cores, 3);
  EXPECT_EQ(rk3576().npu_cores, 2);
}

TEST(TargetTest, DtypesFollowTheMatrix) {
  Nodes n;
  Node& div = n.node("Div", {n.input({1, 8, 4, 4}), n.input({1, 8, 4, 4})});
  EXPECT_EQ(rk3588().refuse(div, DType::kI8), "rk3588's NPU has no Div in i8");
  EXPECT_EQ(rk3588().refuse(div, DType::kF16), "");
  Node& conv = n.node("Conv", {n.input({1, 8, 4, 4}), n.constant({8, 8, 3, 3})});
  EXPECT_EQ(rv1106().refuse(conv, DType::kI8), "");
  EXPECT_NE(rv1106().refuse(conv, DType::kF16), "");
  EXPECT_NE(rk2118().refuse(conv, DType::kI8), "");
  EXPECT_EQ(rk3588().refuse(n.node("NonZero", {n.input({4})}), DType::kF16),
            "rk3588's NPU has no NonZero");
}

TEST(TargetTest, ConvolutionLimitsNameTheValue) {
  Nodes n;
  Value* x = n.relu(n.input({1, 8, 64, 64}));
  const auto reason = [&](const Shape& weight, AttrMap attrs) {
    return rk3588().refuse(n.node("FusedConv", {x, n.constant(weight)}, std::move(attrs)),
                           DType::kI8);
  };
  EXPECT_EQ(reason({8, 8, 31, 1}, {}), "");
  EXPECT_EQ(reason({8, 8, 32, 1}, {}), "kernel 32 > 31");
  EXPECT_EQ(reason({8, 8, 16, 16}, {{"strides", Ints{16, 16}}}), "");
  EXPECT_EQ(reason({8, 8, 3, 3}, {{"strides", Ints{1, 32}}}), "stride 32 > 31");
  EXPECT_EQ(reason({8, 8, 3, 3}, {{"pads", Ints{0, 16, 0, 0}}}), "pad 16 > 15");
  EXPECT_EQ(reason({8, 1, 15, 15}, {{"group", int64_t{8}}}), "");
  EXPECT_EQ(reason({8, 1, 32, 32}, {{"group", int64_t{8}}}), "kernel 32 > 31");
}

TEST(TargetTest, WeightsOfRunTimeNeedOneGroupAndALargerChip) {
  Nodes n;
  Value* x = n.input({1, 8, 9, 9});
  Node& dense = n.node("Conv", {x, n.input({8, 8, 3, 3})});
  Node& grouped = n.node("Conv", {x, n.input({8, 4, 3, 3})}, {{"group", int64_t{2}}});
  EXPECT_EQ(rk3588().refuse(dense, DType::kI8), "");
  EXPECT_EQ(rk3576().refuse(dense, DType::kF16), "");
  EXPECT_EQ(rv1106().refuse(dense, DType::kI8), "weights computed at run time");
  EXPECT_EQ(rk3588().refuse(grouped, DType::kI8), "weights computed at run time need group 1");
}

TEST(TargetTest, ATransposeWithoutAPermutationReversesTheAxes) {
  Nodes n;
  EXPECT_NE(rk3566()
                .refuse(n.node("Transpose", {n.input({2, 3, 4, 5})}), DType::kF16)
                .find("permutation [3,2,1,0] of [2,3,4,5]"),
            std::string::npos);
}

TEST(TargetTest, TransposedStridesArePowersOfTwoOnTheFirstGeneration) {
  Nodes n;
  Node& node = n.node("ConvTranspose", {n.input({1, 8, 9, 9}), n.constant({8, 8, 3, 3})},
                      {{"strides", Ints{3, 3}}});
  EXPECT_EQ(rk3588().refuse(node, DType::kI8), "stride 3 is none of 1, 2, 4, 8");
  EXPECT_EQ(rk3576().refuse(node, DType::kI8), "");
}

TEST(TargetTest, PicturesAreLimitedInWidth) {
  Nodes n;
  // N = min(12 - max(1, 3), 7) = 7, so width * 3 <= 14336.
  const auto reason = [&](int64_t width, int64_t channels) {
    Value* x = n.input({1, channels, 8, width});
    return rk3588().refuse(n.node("Conv", {x, n.constant({8, channels, 3, 3})}), DType::kI8);
  };
  EXPECT_EQ(reason(4778, 3), "");
  EXPECT_EQ(reason(4779, 3), "picture width 4779 * kernel height 3 > 14336");
  EXPECT_EQ(reason(4779, 8), "");
  EXPECT_EQ(reason(9000, 3), "picture width 9000 > 8192");
}

TEST(TargetTest, TransposeFollowsTheTable) {
  Nodes n;
  const auto reason = [&](const Target& target, const Shape& shape, Ints perm) {
    return target.refuse(n.node("Transpose", {n.input(shape)}, {{"perm", std::move(perm)}}),
                         DType::kF16);
  };
  EXPECT_EQ(reason(rk3588(), {1, 3, 8, 8}, {0, 2, 3, 1}), "");
  EXPECT_NE(reason(rk3588(), {1, 3, 3, 3}, {0, 2, 3, 1}), "");  // h * w is not a multiple of 8
  EXPECT_EQ(reason(rk3588(), {1, 16, 80, 80}, {0, 3, 1, 2}), "");
  EXPECT_NE(reason(rk3588(), {1, 16, 100, 100}, {0, 3, 1, 2}), "");  // 10000 >= 8192
  EXPECT_EQ(reason(rk3576(), {1, 16, 100, 100}, {0, 3, 1, 2}), "");
  EXPECT_NE(reason(rk3566(), {1, 3, 8, 8}, {0, 2, 3, 1}), "");
  EXPECT_EQ(reason(rk3566(), {1, 3, 8, 8}, {0, 1, 2, 3}), "");
}

TEST(TargetTest, BroadcastsFollowExpand) {
  Nodes n;
  const auto reason = [&](const char* op, const Shape& small) {
    return rk3588().refuse(n.node(op, {n.input({2, 8, 4, 5}), n.input(small)}), DType::kF16);
  };
  EXPECT_EQ(reason("Add", {2, 8, 1, 1}), "");
  EXPECT_EQ(reason("Add", {2, 1, 1, 5}), "");
  EXPECT_EQ(reason("Add", {}), "");
  EXPECT_EQ(reason("Add", {1, 8, 4, 5}), "broadcast of [1,8,4,5] to [2,8,4,5]");
  EXPECT_EQ(reason("Mul", {2, 1, 4, 5}), "");
  EXPECT_EQ(reason("Mul", {2, 1, 1, 1}), "broadcast of [2,1,1,1] to [2,8,4,5]");
  EXPECT_EQ(reason("Sub", {2, 8, 1, 1}), "");
  EXPECT_EQ(reason("Sub", {2, 8, 1, 5}), "");
}

// What rknn-toolkit2 2.3.2 places on the NPU for networks of one such layer between a MaxPool and a Relu, int8.
TEST(TargetTest, PlacementIsTheCompilersWhereTheListSaysLess) {
  Nodes n;
  Value* x = n.relu(n.input({1, 16, 40, 40}));
  const auto reason = [&](const char* op, std::vector<Value*> more, AttrMap attrs) {
    more.insert(more.begin(), x);
    return rk3588().refuse(n.node(op, std::move(more), std::move(attrs)), DType::kI8);
  };
  const auto window = [](int64_t kernel, int64_t stride, int64_t ceil) {
    return AttrMap{{"kernel_shape", Ints{kernel, kernel}},
                   {"strides", Ints{stride, stride}},
                   {"ceil_mode", ceil}};
  };
  EXPECT_EQ(reason("HardSigmoid", {}, {{"alpha", 0.2f}, {"beta", 0.5f}}), "");
  EXPECT_EQ(reason("Elu", {}, {{"alpha", 0.5f}}), "alpha 0.5 is not 1");
  EXPECT_EQ(reason("Clip", {n.constant({}), n.constant({})}, {}), "");
  EXPECT_EQ(reason("Clip", {n.input({}), n.constant({})}, {}), "bounds computed at run time");
  EXPECT_EQ(reason("MaxPool", {}, window(13, 1, 0)), "");
  EXPECT_EQ(reason("MaxPool", {}, window(10, 10, 0)), "kernel 10 > 7");
  EXPECT_EQ(reason("MaxPool", {}, window(3, 2, 1)), "");
  EXPECT_EQ(reason("AveragePool", {}, window(16, 8, 0)), "");
  EXPECT_EQ(reason("AveragePool", {}, window(3, 2, 1)), "ceil_mode");
  EXPECT_EQ(reason("GlobalMaxPool", {}, {}), "");
  EXPECT_EQ(reason("PRelu", {n.constant({16, 40, 40})}, {}), "");
  EXPECT_EQ(reason("Softmax", {}, {{"axis", int64_t{2}}}), "");
  EXPECT_EQ(reason("Softmax", {}, {{"axis", int64_t{0}}}), "axis 0 is the batch");
}

TEST(TargetTest, SmallChipsHaveFewCpuOperators) {
  Nodes n;
  Node& topk = n.node("TopK", {n.input({1, 8})});
  EXPECT_EQ(rk3588().refuse_cpu(topk), "");
  EXPECT_EQ(rv1106().refuse_cpu(topk), "rv1106's CPU has no TopK");
  EXPECT_EQ(rk2118().refuse_cpu(topk), "rk2118 has no CPU operators");
  EXPECT_EQ(
      rk3588().refuse_cpu(n.node("FusedConv", {n.input({1, 8, 4, 4}), n.constant({8, 8, 3, 3})})),
      "");
}

}  // namespace
}  // namespace rk::target
