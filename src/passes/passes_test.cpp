// SPDX-License-Identifier: Apache-2.0
// Text in, text out, and the numbers stay: each pass is run on a small graph, the result is
// compared as text, and the evaluator must give the same outputs before and after.
#include "passes/pass_test.h"

#include <gtest/gtest.h>

#include "passes/fuse_add.h"

namespace rk::passes {
namespace {

using testing::after;
using testing::graph_of;
using testing::op_list;
using testing::outputs_of;

constexpr std::string_view kConvBatchNorm = R"(graph "g" {
  input %x: f32[1,1,2,3]
  const %w: f32[2,1,1,1] = [1, -2]
  const %gamma: f32[2] = [3, 4]
  const %beta: f32[2] = [0.5, -0.5]
  const %mean: f32[2] = [1, 2]
  const %var: f32[2] = [0.25, 4]
  %c = Conv(%x, %w) @"conv"
  %y = BatchNormalization(%c, %gamma, %beta, %mean, %var) {epsilon=0.0} @"bn"
  output %y
})";

TEST(FoldBatchNorm, MovesScaleAndShiftIntoWeightsAndBias) {
  const Graph graph = after(fold_batch_norm, kConvBatchNorm, 1);
  EXPECT_EQ(op_list(graph), "Conv");
  const Node& conv = *graph.nodes().front();
  EXPECT_EQ(conv.name(), "conv");
  EXPECT_EQ(conv.output().name(), "y");
  // gamma / sqrt(var) = 6 and 2; beta - mean * that = -5.5 and -4.5.
  EXPECT_EQ(conv.input(1).constant().to_f32(), (std::vector<float>{6, -4}));
  EXPECT_EQ(conv.input(2).constant().to_f32(), (std::vector<float>{-5.5f, -4.5f}));
}

TEST(FoldBatchNorm, LeavesAConvolutionThatOthersReadAlone) {
  std::string text(kConvBatchNorm);
  text.insert(text.rfind('}'), "output %c\n");
  EXPECT_EQ(op_list(after(fold_batch_norm, text, 0)), "Conv BatchNormalization");
}

TEST(FoldAffine, TakesPerChannelAddMulSubAndDiv) {
  const Graph graph = after(fold_affine, R"(graph "g" {
    input %x: f32[1,2,3,2]
    const %w: f32[3,2,1,1] = [1, 2, 3, 4, 5, 6]
    const %m: f32[3,1,1] = [2, 3, 4]
    const %a: f32[1,3,1,1] = [10, 20, 30]
    const %d: f32[] = [2]
    %c = Conv(%x, %w)
    %p = Mul(%m, %c)
    %q = Div(%p, %d)
    %y = Sub(%a, %q)
    output %y
  })",
                            3);
  EXPECT_EQ(op_list(graph), "Conv");
  EXPECT_EQ(graph.nodes()[0]->input(1).constant().to_f32(),
            (std::vector<float>{-1, -2, -4.5f, -6, -10, -12}));
  EXPECT_EQ(graph.nodes()[0]->input(2).constant().to_f32(), (std::vector<float>{10, 20, 30}));
}

TEST(FoldAffine, LeavesAConstantThatVariesOverPixels) {
  EXPECT_EQ(op_list(after(fold_affine, R"(graph "g" {
    input %x: f32[1,1,1,2]
    const %w: f32[2,1,1,1] = [1, 2]
    const %a: f32[1,1,1,2] = [10, 20]
    %c = Conv(%x, %w)
    %y = Add(%c, %a)
    output %y
  })",
                          0)),
            "Conv Add");
}

constexpr std::string_view kResidual = R"(graph "g" {
  input %x: f32[1,2,3,5]
  const %w1: f32[2,2,1,1] = [1, -1, 0.5, 2]
  const %w2: f32[2,2,1,1] = [2, 1, -0.5, 1]
  %a = Conv(%x, %w1) @"first"
  %b = Relu(%a)
  %c = Conv(%b, %w2) @"second"
  %d = Relu(%c)
  %s = Add(%b, %d)
  %y = Relu(%s)
  output %y
})";

const target::Target& chip(std::string_view name) { return *target::find_target(name).value(); }

TEST(FuseConv, SmallChipsLeaveTheAddThatFollowsAnActivation) {
  Graph graph = graph_of(kResidual);
  EXPECT_EQ(*fuse_activation(graph), 2u);
  EXPECT_EQ(*fuse_add_for_target(graph, chip("rv1106b")), 0u);
  EXPECT_EQ(op_list(graph), "FusedConv FusedConv Add Relu");
  // Without activations the Add follows a Conv.
  const std::string_view plain = R"(graph "g" {
    input %x: f32[1,1,2,2]
    const %w: f32[1,1,1,1] = [3]
    %c = Conv(%x, %w)
    %y = Add(%c, %x)
    output %y
  })";
  Graph one = graph_of(plain), none = graph_of(plain);
  EXPECT_EQ(*fuse_add_for_target(one, chip("rv1106b")), 1u);
  EXPECT_EQ(*fuse_add_for_target(none, chip("rk2118")), 0u);
}

TEST(FuseConv, TakesActivationThenAddThenActivation) {
  Graph graph = graph_of(kResidual);
  EXPECT_EQ(*fuse_activation(graph), 2u);
  EXPECT_EQ(op_list(graph), "FusedConv FusedConv Add Relu");
  EXPECT_EQ(*fuse_add(graph), 1u);
  EXPECT_EQ(*fuse_post_activation(graph), 1u);
  EXPECT_EQ(op_list(graph), "FusedConv FusedConv");
  const Node& fused = *graph.nodes()[1];
  EXPECT_EQ(fused.name(), "second");
  EXPECT_EQ(fused.text("activation"), "Relu");
  EXPECT_EQ(fused.text("post_activation"), "Relu");
  EXPECT_EQ(fused.input(3).name(), "b");
  EXPECT_EQ(fused.output().name(), "y");
  const auto before = outputs_of(graph_of(kResidual)), now = outputs_of(graph);
  for (int64_t e = 0; e < before[0].elements(); ++e)
    EXPECT_NEAR(before[0].at_f64(e), now[0].at_f64(e), 1e-5);
}

TEST(FuseConv, TakesRelu6ButNotAClipThatStartsBelowZero) {
  const auto clip = [](std::string_view low) {
    return str(R"(graph "g" {
      input %x: f32[1,1,2,2]
      const %w: f32[1,1,1,1] = [3]
      const %low: f32[] = [)",
               low, R"(]
      const %high: f32[] = [6]
      %c = Conv(%x, %w)
      %y = Clip(%c, %low, %high)
      output %y
    })");
  };
  const Graph fused = after(fuse_activation, clip("0"), 1);
  EXPECT_EQ(op_list(fused), "FusedConv");
  EXPECT_EQ(fused.nodes()[0]->f32("clip_max"), 6.0f);
  EXPECT_EQ(op_list(after(fuse_activation, clip("-1"), 0)), "Conv Clip");
}

TEST(FuseConv, LeavesAnAddThatBroadcasts) {
  EXPECT_EQ(op_list(after(fuse_add, R"(graph "g" {
    input %x: f32[1,2,2,2]
    input %z: f32[1,2,1,1]
    const %w: f32[2,2,1,1] = [1, 0, 0, 1]
    %c = Conv(%x, %w)
    %y = Add(%c, %z)
    output %y
  })",
                          0)),
            "Conv Add");
}

TEST(Reshapes, ChainsBecomeOneAndNoOpsGo) {
  Graph graph = graph_of(R"(graph "g" {
    input %x: f32[1,2,3,4]
    const %axes: i64[1] = [0]
    %a = Flatten(%x) {axis=2}
    %b = Unsqueeze(%a, %axes)
    %c = Squeeze(%b, %axes)
    %y = Relu(%c)
    output %y
  })");
  EXPECT_EQ(*canonicalize_reshapes(graph), 3u);
  EXPECT_EQ(op_list(graph), "Reshape Reshape Reshape Relu");
  EXPECT_EQ(*merge_reshapes(graph), 2u);
  EXPECT_EQ(op_list(graph), "Reshape Relu");
  EXPECT_EQ(to_string(graph.outputs()[0]->shape()), "[2,12]");
}

TEST(Transposes, PairsCancelAndUnitAxesBecomeReshape) {
  EXPECT_EQ(op_list(after(merge_transposes, R"(graph "g" {
    input %x: f32[2,3,4]
    %a = Transpose(%x) {perm=[2,0,1]}
    %b = Transpose(%a) {perm=[1,2,0]}
    %y = Relu(%b)
    output %y
  })",
                          2)),
            "Relu");
  EXPECT_EQ(op_list(after(merge_transposes, R"(graph "g" {
    input %x: f32[1,3,1,4]
    %y = Transpose(%x) {perm=[2,1,3,0]}
    output %y
  })",
                          1)),
            "Reshape");
}

TEST(MatmulToGemm, TakesTheBiasRow) {
  const Graph graph = after(matmul_to_gemm, R"(graph "g" {
    input %x: f32[2,3]
    const %w: f32[3,2] = [1, 2, 3, 4, 5, 6]
    const %b: f32[1,2] = [10, 20]
    %m = MatMul(%x, %w) @"fc"
    %y = Add(%m, %b)
    output %y
  })",
                            1);
  EXPECT_EQ(op_list(graph), "Gemm");
  EXPECT_EQ(graph.nodes()[0]->name(), "fc");
}

TEST(MatmulToGemm, FoldsLeadingAxesIntoRows) {
  EXPECT_EQ(op_list(after(matmul_to_gemm, R"(graph "g" {
    input %x: f32[2,2,3]
    const %w: f32[3,2] = [1, 2, 3, 4, 5, 6]
    const %b: f32[1,1,2] = [10, 20]
    %m = MatMul(%x, %w) @"fc"
    %y = Add(%b, %m)
    output %y
  })",
                          1)),
            "Reshape Gemm Reshape");
}

TEST(RemoveNoOps, KeepsAnIdentityBetweenInputAndOutput) {
  EXPECT_EQ(op_list(after(remove_no_ops, R"(graph "g" {
    input %x: f32[2]
    %y = Identity(%x)
    output %y
  })",
                          0)),
            "Identity");
  EXPECT_EQ(op_list(after(remove_no_ops, R"(graph "g" {
    input %x: f32[2]
    const %zero: f32[2] = [0, 0]
    %a = Identity(%x)
    %b = Add(%a, %zero)
    %y = Relu(%b)
    output %y
  })",
                          2)),
            "Relu");
}

TEST(FoldConstants, EvaluatesConstantSubgraphsAndShapeChains) {
  const Graph graph = after(fold_constants, R"(graph "g" {
    input %x: f32[2,3,4]
    const %a: f32[2] = [1, 2]
    const %b: f32[2] = [10, 20]
    const %two: i64[] = [2]
    %c = Add(%a, %b)
    %d = ReduceSum(%c)
    %s = Shape(%x)
    %last = Gather(%s, %two)
    %factor = Cast(%last) {to=1}
    %p = Mul(%x, %d)
    %y = Mul(%p, %factor)
    output %y
  })",
                            5);
  EXPECT_EQ(op_list(graph), "Mul Mul");
  EXPECT_EQ(graph.nodes()[0]->input(1).constant().to_f32(), std::vector<float>{33});
  EXPECT_EQ(graph.nodes()[1]->input(1).constant().to_f32(), std::vector<float>{4});
}

TEST(RemoveBorderReshapes, TakesInputAndOutputShapesFromInside) {
  Graph graph = graph_of(R"(graph "g" {
    input %x: f32[6]
    const %in: i64[2] = [2, 3]
    const %out: i64[1] = [6]
    %a = Reshape(%x, %in)
    %b = Relu(%a)
    %y = Reshape(%b, %out)
    output %y
  })");
  EXPECT_EQ(*remove_border_reshapes(graph), 2u);
  EXPECT_EQ(op_list(graph), "Relu");
  EXPECT_EQ(graph.inputs()[0]->name(), "x");
  EXPECT_EQ(to_string(graph.inputs()[0]->shape()), "[2,3]");
  EXPECT_EQ(graph.outputs()[0]->name(), "y");
  EXPECT_TRUE(verify(graph).ok());
}

TEST(Pipeline, LevelsDropWhatTheTableSays) {
  const auto ops_at = [](int level) {
    Graph graph = graph_of(kResidual);
    const auto target = target::find_target("rk3588");
    EXPECT_TRUE(run_pipeline(graph, **target, {.optimization_level = level}).ok());
    return op_list(graph);
  };
  EXPECT_EQ(ops_at(0), "Conv Relu Conv Relu Add Relu");
  EXPECT_EQ(ops_at(1), "Conv Relu Conv Relu Add Relu");
  EXPECT_EQ(ops_at(2), "FusedConv FusedConv Add Relu");
  EXPECT_EQ(ops_at(3), "FusedConv FusedConv");
}

}  // namespace
}  // namespace rk::passes
