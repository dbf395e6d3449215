// SPDX-License-Identifier: Apache-2.0
// The ordered list of graph rewrites between import and quantisation.
#pragma once

#include <string>
#include <vector>

#include "ir/pass.h"
#include "target/target.h"

namespace rk::passes {

struct PipelineOptions {
  int optimization_level = 3;     // 0..3, see pipeline.cpp for what each level drops
  bool remove_reshape = false;    // drop Reshape at inputs and outputs; changes their shapes
  std::vector<std::string> skip;  // pass names, for bisecting
};

Result<std::vector<PassReport>> run_pipeline(Graph& graph, const target::Target& target,
                                             const PipelineOptions& options);

// The passes, one file each. Each returns the number of rewrites.
Result<size_t> fold_constants(Graph& graph);
Result<size_t> remove_dead_code(Graph& graph);
Result<size_t> remove_no_ops(Graph& graph);
Result<size_t> canonicalize_reshapes(Graph& graph);
Result<size_t> merge_reshapes(Graph& graph);
Result<size_t> merge_transposes(Graph& graph);
Result<size_t> fuse_layer_norm(Graph& graph);
Result<size_t> fuse_gelu(Graph& graph);
Result<size_t> matmul_to_gemm(Graph& graph);
Result<size_t> fold_batch_norm(Graph& graph);
Result<size_t> fold_affine(Graph& graph);
Result<size_t> fuse_activation(Graph& graph);
Result<size_t> fuse_add(Graph& graph);
Result<size_t> fuse_post_activation(Graph& graph);
Result<size_t> remove_border_reshapes(Graph& graph);

}  // namespace rk::passes
