// SPDX-License-Identifier: Apache-2.0
// Runs the cases of every pass (see pass_cases.h).
#include "passes/pass_cases.h"

#include <gtest/gtest.h>

#include "passes/fold_pad.h"
#include "passes/pass_test.h"

namespace rk::passes {

using Cases = std::span<const PassCase>;
Cases conv_1d_to_2d_cases();
Cases fold_affine_cases();
Cases fold_channel_order_cases();
Cases fold_focus_cases();
Cases fold_pad_cases();
Cases fuse_activation_cases();
Cases fuse_attention_cases();
Cases fuse_clip_cases();
Cases fuse_gelu_cases();
Cases fuse_glu_cases();
Cases fuse_hard_swish_cases();
Cases fuse_instance_norm_cases();
Cases fuse_layer_norm_cases();
Cases fuse_mish_cases();
Cases fuse_rms_norm_cases();
Cases fuse_swish_cases();
Cases gather_to_slice_cases();
Cases gemm_to_conv_cases();
Cases matmul_to_gemm_cases();
Cases merge_duplicates_cases();
Cases merge_parallel_cases();
Cases merge_scalars_cases();
Cases merge_slices_cases();
Cases move_elementwise_cases();
Cases picture_moves_cases();
Cases pool_to_conv_cases();
Cases reduce_to_pool_cases();
Cases shuffle_to_gather_cases();
Cases slices_to_split_cases();
Cases split_group_norm_cases();
Cases swap_softmax_cases();

namespace {

struct Subject {
  const char* name;
  testing::PassFunction pass;
  Cases cases;
};

testing::PassFunction on_rk3588(Result<size_t> (*pass)(Graph&, const target::Target&)) {
  return [pass](Graph& graph) { return pass(graph, **target::find_target("rk3588")); };
}

std::vector<Subject> subjects() {
  return {
      {"conv_1d_to_2d", conv_1d_to_2d, conv_1d_to_2d_cases()},
      {"fold_affine", fold_affine, fold_affine_cases()},
      {"fold_channel_order", fold_channel_order, fold_channel_order_cases()},
      {"fold_focus", fold_focus, fold_focus_cases()},
      {"fold_pad", on_rk3588(fold_pad), fold_pad_cases()},
      {"fuse_activation", fuse_activation, fuse_activation_cases()},
      {"fuse_attention", on_rk3588(fuse_attention), fuse_attention_cases()},
      {"fuse_clip", fuse_clip, fuse_clip_cases()},
      {"fuse_gelu", fuse_gelu, fuse_gelu_cases()},
      {"fuse_glu", fuse_glu, fuse_glu_cases()},
      {"fuse_hard_swish", fuse_hard_swish, fuse_hard_swish_cases()},
      {"fuse_instance_norm", fuse_instance_norm, fuse_instance_norm_cases()},
      {"fuse_layer_norm", fuse_layer_norm, fuse_layer_norm_cases()},
      {"fuse_mish", fuse_mish, fuse_mish_cases()},
      {"fuse_rms_norm", fuse_rms_norm, fuse_rms_norm_cases()},
      {"fuse_swish", fuse_swish, fuse_swish_cases()},
      {"gather_to_slice", gather_to_slice, gather_to_slice_cases()},
      {"gemm_to_conv", gemm_to_conv, gemm_to_conv_cases()},
      {"matmul_to_gemm", matmul_to_gemm, matmul_to_gemm_cases()},
      {"merge_duplicates", merge_duplicates, merge_duplicates_cases()},
      {"merge_parallel", merge_parallel, merge_parallel_cases()},
      {"merge_scalars", merge_scalars, merge_scalars_cases()},
      {"merge_slices", merge_slices, merge_slices_cases()},
      {"move_elementwise", move_elementwise, move_elementwise_cases()},
      {"picture_moves", picture_moves, picture_moves_cases()},
      {"pool_to_conv", on_rk3588(pool_to_conv), pool_to_conv_cases()},
      {"reduce_to_pool", reduce_to_pool, reduce_to_pool_cases()},
      {"shuffle_to_gather", shuffle_to_gather, shuffle_to_gather_cases()},
      {"slices_to_split", slices_to_split, slices_to_split_cases()},
      {"split_group_norm", split_group_norm, split_group_norm_cases()},
      {"swap_softmax", swap_softmax, swap_softmax_cases()},
  };
}

class PassCases : public ::testing::TestWithParam<Subject> {};

TEST_P(PassCases, RewriteWhatTheySayAndMoveNoNumber) {
  for (const PassCase& one : GetParam().cases) {
    SCOPED_TRACE(one.name);
    const std::string text = str("graph \"g\" {", one.given, one.text, "}");
    EXPECT_EQ(testing::op_list(testing::after(GetParam().pass, text, one.rewrites)), one.operators);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PassCases, ::testing::ValuesIn(subjects()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace rk::passes
