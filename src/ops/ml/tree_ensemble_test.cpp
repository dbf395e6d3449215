// SPDX-License-Identifier: Apache-2.0
// Cases of TreeEnsemble. Numbers by hand; the first tree is that of the ONNX standard's own case. No input lies so near to
// a split that float16 would move it across.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> tree_ensemble_cases() {
  static constexpr OpCase kCases[] = {
      // x0 <= 3.14 ? (x0 <= 1.2 ? leaf 0 : leaf 2) : (x0 <= 4.2 ? leaf 1 : leaf 3)
      {"one tree of three nodes, a target per leaf", R"(
          input %x: f32[3,2] = [1, 3.4, -0.12, 1.66, 4.14, 1.77]
          %y = TreeEnsemble(%x) {n_targets=2, leaf_targetids=[0, 1, 0, 1],
              leaf_weights=[5.23, 12.12, -12.23, 7.21], nodes_featureids=[0, 0, 0], nodes_modes=[0, 0, 0],
              nodes_splits=[3.14, 1.2, 4.2], nodes_truenodeids=[1, 0, 1], nodes_falsenodeids=[2, 2, 3],
              nodes_trueleafs=[0, 1, 1], nodes_falseleafs=[0, 1, 1], tree_roots=[0]}
          expect %y: f32[3,2] = [5.23, 0, 5.23, 0, 0, 12.12])"},
      {"two trees, summed and averaged; a leaf with two weights", R"(
          input %x: f32[2,1] = [0, 2]
          %s = TreeEnsemble(%x) {n_targets=2, leaf_counts=[2, 1, 1], leaf_targetids=[0, 1, 0, 1],
              leaf_weights=[1.0, 10.0, 2.0, 4.0], nodes_featureids=[0, 0], nodes_modes=[1, 3], nodes_splits=[1.0, 1.0],
              nodes_truenodeids=[0, 1], nodes_falsenodeids=[1, 2], nodes_trueleafs=[1, 1], nodes_falseleafs=[1, 1],
              tree_roots=[0, 1]}
          %a = TreeEnsemble(%x) {aggregate_function=0, n_targets=2, leaf_counts=[2, 1, 1], leaf_targetids=[0, 1, 0, 1],
              leaf_weights=[1.0, 10.0, 2.0, 4.0], nodes_featureids=[0, 0], nodes_modes=[1, 3], nodes_splits=[1.0, 1.0],
              nodes_truenodeids=[0, 1], nodes_falsenodeids=[1, 2], nodes_trueleafs=[1, 1], nodes_falseleafs=[1, 1],
              tree_roots=[0, 1]}
          expect %s: f32[2,2] = [1, 14, 4, 0]
          expect %a: f32[2,2] = [0.5, 7, 2, 0])"},
      {"least and largest of the trees", R"(
          input %x: f32[1,1] = [0]
          %l = TreeEnsemble(%x) {aggregate_function=2, n_targets=1, leaf_targetids=[0, 0], leaf_weights=[3.0, -5.0],
              nodes_featureids=[0, 0], nodes_modes=[0, 0], nodes_splits=[1.0, 1.0], nodes_truenodeids=[0, 1],
              nodes_falsenodeids=[0, 1], nodes_trueleafs=[1, 1], nodes_falseleafs=[1, 1], tree_roots=[0, 1]}
          %m = TreeEnsemble(%x) {aggregate_function=3, n_targets=1, leaf_targetids=[0, 0], leaf_weights=[3.0, -5.0],
              nodes_featureids=[0, 0], nodes_modes=[0, 0], nodes_splits=[1.0, 1.0], nodes_truenodeids=[0, 1],
              nodes_falsenodeids=[0, 1], nodes_trueleafs=[1, 1], nodes_falseleafs=[1, 1], tree_roots=[0, 1]}
          expect %l: f32[1,1] = [-5]
          expect %m: f32[1,1] = [3])"},
      {"a cycle is refused", R"(
          input %x: f32[1,1] = [0]
          %y = TreeEnsemble(%x) {n_targets=1, leaf_targetids=[0], leaf_weights=[1.0], nodes_featureids=[0, 0],
              nodes_modes=[0, 0], nodes_splits=[1.0, 1.0], nodes_truenodeids=[1, 0], nodes_falsenodeids=[0, 0],
              nodes_trueleafs=[0, 0], nodes_falseleafs=[1, 1], tree_roots=[0]}
          error is reached twice)"},
      {"a branch to a node that is not there is refused", R"(
          input %x: f32[1,1] = [0]
          %y = TreeEnsemble(%x) {n_targets=1, leaf_targetids=[0], leaf_weights=[1.0], nodes_featureids=[0], nodes_modes=[0],
              nodes_splits=[1.0], nodes_truenodeids=[7], nodes_falsenodeids=[0], nodes_trueleafs=[0], nodes_falseleafs=[1],
              tree_roots=[0]}
          error leads to node 7, there are 1)"},
      {"a column beyond the input is refused", R"(
          input %x: f32[1,1] = [0]
          %y = TreeEnsemble(%x) {n_targets=1, leaf_targetids=[0], leaf_weights=[1.0], nodes_featureids=[3], nodes_modes=[0],
              nodes_splits=[1.0], nodes_truenodeids=[0], nodes_falsenodeids=[0], nodes_trueleafs=[1], nodes_falseleafs=[1],
              tree_roots=[0]}
          error its trees ask for column 3)"},
      {"a target beyond the outputs is refused", R"(
          input %x: f32[1,1] = [0]
          %y = TreeEnsemble(%x) {n_targets=1, leaf_targetids=[1], leaf_weights=[1.0], nodes_featureids=[0], nodes_modes=[0],
              nodes_splits=[1.0], nodes_truenodeids=[0], nodes_falsenodeids=[0], nodes_trueleafs=[1], nodes_falseleafs=[1],
              tree_roots=[0]}
          error attribute 'leaf_targetids' holds 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
