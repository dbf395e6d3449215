// SPDX-License-Identifier: Apache-2.0
// What each optimization_level runs (the vendor's reference says only: 3 all rules, 2 and 1 drop
// rules that may hurt accuracy, 2 drops Conv+Add fusion, 0 none):
//
//   0  folding of constants only
//   1  + clean-up, sub-graphs with a name, other spellings, BatchNorm and affine into Conv
//   2  + Conv and activation
//   3  + Conv and Add
//
// Constant folding and dead code run at every level: later stages need static shapes.
#include "passes/pipeline.h"

#include <algorithm>
#include <set>

#include "passes/fold_pad.h"
#include "passes/fuse_add.h"

namespace rk::passes {
namespace {

struct Row {
  int least_level;
  Pass pass;
};

// With the chip's capability rows at hand.
Pass for_target(std::string_view name, Result<size_t> (*run)(Graph&, const target::Target&),
                const target::Target& target) {
  return {name, [run, &target](Graph& graph) { return run(graph, target); }};
}

// One line, one pass, one reason.
// clang-format off
std::vector<Row> rows(const PipelineOptions& options, const target::Target& target) {
  std::vector<Row> out = {
      // First: shapes and folded weights expose the patterns below.
      {0, {"fold_constants", fold_constants}},
      {0, {"remove_dead_code", remove_dead_code}},  // or they would be calibrated and stored
      {1, {"remove_no_ops", remove_no_ops}},  // Identity, Dropout, empty Pad hide chains
      {1, {"canonicalize_reshapes", canonicalize_reshapes}},  // Flatten, Squeeze, Unsqueeze too
      {1, {"merge_reshapes", merge_reshapes}},  // only the last shape of a chain matters
      {1, {"merge_transposes", merge_transposes}},  // pairs cancel, chains compose
      {1, {"merge_duplicates", merge_duplicates}},  // patterns expect one x, not two equal ones
      {1, {"merge_slices", merge_slices}},  // one Slice per part
      // Sub-graphs with a name, before their parts look like arithmetic of their own.
      {1, {"fuse_layer_norm", fuse_layer_norm}},
      {1, {"fuse_instance_norm", fuse_instance_norm}},
      {1, {"split_group_norm", split_group_norm}},  // no chip has it
      {1, {"fuse_rms_norm", fuse_rms_norm}},  // after LayerNorm, whose second half looks like it
      {1, {"fuse_gelu", fuse_gelu}},
      {1, {"fuse_clip", fuse_clip}},  // Relu6 as Min and Max is part of HardSwish
      {1, {"fuse_hard_swish", fuse_hard_swish}},
      {1, {"fuse_swish", fuse_swish}},
      {1, {"fuse_mish", fuse_mish}},
      {1, {"fuse_glu", fuse_glu}},
      {1, for_target("fuse_attention", fuse_attention, target)},
      // Other spellings of what the NPU has.
      {1, {"gather_to_slice", gather_to_slice}},  // an index of rank 0 leaves the NPU
      {1, {"shuffle_to_gather", shuffle_to_gather}},  // a Transpose of five axes leaves the NPU
      {1, {"fold_channel_order", fold_channel_order}},  // an order of weights costs nothing
      {1, {"picture_moves", picture_moves}},  // nor does it move three axes, or five
      {1, {"reduce_to_pool", reduce_to_pool}},  // the NPU has no reductions
      {1, for_target("pool_to_conv", pool_to_conv, target)},  // small means, as the vendor writes them
      {1, {"merge_scalars", merge_scalars}},  // after the patterns, which know their constants
      {1, {"matmul_to_gemm", matmul_to_gemm}},  // before Gemm is looked at as a convolution
      {1, {"gemm_to_conv", gemm_to_conv}},  // classifiers: no Reshape in front
      {1, {"fold_focus", fold_focus}},  // while the convolution still is a Conv
      {1, for_target("fold_pad", fold_pad, target)},  // a step over the picture less
      {1, {"fold_batch_norm", fold_batch_norm}},  // before activations hide the pair
      {1, {"fold_affine", fold_affine}},  // per-channel Mul and Add behind a Conv
      {1, {"fold_batch_norm", fold_batch_norm}},  // again: training tools put a Div in between
      {1, {"conv_1d_to_2d", conv_1d_to_2d}},  // after folding, so that no Reshape stands between
      {1, {"move_elementwise", move_elementwise}},  // its Reshapes out of the way of activations
      {1, {"fold_affine", fold_affine}},  // what was moved
      {1, {"gemm_to_conv", gemm_to_conv}},  // after moving: a second Gemm sees the first one's Reshape
      {1, {"merge_parallel", merge_parallel}},  // after moving: the rest stays behind its branches
      {1, {"merge_reshapes", merge_reshapes}},  // of neighboring 1-D convolutions
      {1, {"merge_transposes", merge_transposes}},
      {1, {"swap_softmax", swap_softmax}},  // what is left of its Transposes
      {1, {"slices_to_split", slices_to_split}},  // last: patterns above know Slices
      {2, {"fuse_activation", fuse_activation}},  // Conv + Relu / Relu6
      {3, for_target("fuse_add", fuse_add_for_target, target)},  // Conv + Relu + Add is one step too
      {3, {"fuse_post_activation", fuse_post_activation}},  // Conv + Add + Relu
  };
  if (options.remove_reshape)
    out.push_back({0, {"remove_border_reshapes", remove_border_reshapes}});
  out.push_back({0, {"remove_dead_code", remove_dead_code}});  // what the rewrites left behind
  return out;
}
// clang-format on

}  // namespace

Result<std::vector<PassReport>> run_pipeline(Graph& graph, const target::Target& target,
                                             const PipelineOptions& options) {
  if (options.optimization_level < 0 || options.optimization_level > 3) {
    return invalid_argument(
        str("optimization_level is ", options.optimization_level, ", expected 0 to 3"));
  }
  PassManager manager;
  std::set<std::string_view> names;
  for (Row& row : rows(options, target)) {
    names.insert(row.pass.name);
    const bool asked = options.only.empty() ||
                       std::ranges::find(options.only, row.pass.name) != options.only.end();
    if (asked && options.optimization_level >= row.least_level) manager.add(std::move(row.pass));
  }
  for (const std::string& name : options.only) {
    if (names.contains(name)) continue;
    std::string list;
    for (const std::string_view known : names) list += str(list.empty() ? "" : ", ", known);
    return invalid_argument(str("no pass is called '", name, "'; there are ", list));
  }
  manager.skip(options.skip);
  RK_ASSIGN(std::vector<PassReport> reports, manager.run(graph));
  RK_TRY(verify(graph));
  return reports;
}

}  // namespace rk::passes
