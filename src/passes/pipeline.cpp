// SPDX-License-Identifier: Apache-2.0
// What each optimization_level runs (the vendor's reference says only: 3 all rules, 2 and 1 drop rules that may hurt
// accuracy, 2 drops Conv+Add fusion, 0 none):
//
//   level | clean-up, folding of constants | BatchNorm and affine into Conv, Conv+activation | Conv+Add
//     0   | folding only                   | no                                               | no
//     1   | yes                            | folding yes, activation no                       | no
//     2   | yes                            | yes                                              | no
//     3   | yes                            | yes                                              | yes
//
// Constant folding and dead code run at every level: later stages need static shapes.
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

struct Row {
  int least_level;
  Pass pass;
};

std::vector<Row> rows(const PipelineOptions& options) {
  std::vector<Row> out = {
      {0,
       {"fold_constants",
        fold_constants}},  // first: shapes and folded weights expose the patterns below
      {0,
       {"remove_dead_code", remove_dead_code}},  // unused branches would be calibrated and stored
      {1, {"remove_no_ops", remove_no_ops}},     // Identity, Dropout, empty Pad hide chains
      {1,
       {"canonicalize_reshapes",
        canonicalize_reshapes}},                    // Flatten, Squeeze, Unsqueeze become Reshape
      {1, {"merge_reshapes", merge_reshapes}},      // only the last shape of a chain matters
      {1, {"merge_transposes", merge_transposes}},  // pairs cancel, chains compose
      {1,
       {"fuse_layer_norm", fuse_layer_norm}},  // before its parts look like arithmetic of their own
      {1, {"fuse_gelu", fuse_gelu}},           // likewise
      {1, {"matmul_to_gemm", matmul_to_gemm}},    // before Gemm is looked at as a convolution
      {1, {"fold_batch_norm", fold_batch_norm}},  // before activations hide the pair
      {1,
       {"fold_affine", fold_affine}},  // per-channel Mul and Add behind a Conv, also from BatchNorm
      {1, {"fold_batch_norm", fold_batch_norm}},  // again: training tools put a Div in between
      {2, {"fuse_activation", fuse_activation}},  // Conv + Relu / Relu6
      {3, {"fuse_add", fuse_add}},  // after activations: Conv + Relu + Add is one step too
      {3, {"fuse_post_activation", fuse_post_activation}},  // Conv + Add + Relu
  };
  if (options.remove_reshape)
    out.push_back({0, {"remove_border_reshapes", remove_border_reshapes}});
  out.push_back({0, {"remove_dead_code", remove_dead_code}});  // what the rewrites left behind
  return out;
}

}  // namespace

Result<std::vector<PassReport>> run_pipeline(Graph& graph, const target::Target&,
                                             const PipelineOptions& options) {
  if (options.optimization_level < 0 || options.optimization_level > 3) {
    return invalid_argument(
        str("optimization_level is ", options.optimization_level, ", expected 0 to 3"));
  }
  PassManager manager;
  for (Row& row : rows(options)) {
    if (options.optimization_level >= row.least_level) manager.add(std::move(row.pass));
  }
  manager.skip(options.skip);
  RK_ASSIGN(std::vector<PassReport> reports, manager.run(graph));
  RK_TRY(verify(graph));
  return reports;
}

}  // namespace rk::passes
