// SPDX-License-Identifier: Apache-2.0
// The ordered list of graph rewrites between import and quantization.
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
  std::vector<std::string> only;  // likewise; empty: all. A name that no pass has is refused
};

Result<std::vector<PassReport>> run_pipeline(Graph& graph, const target::Target& target,
                                             const PipelineOptions& options);

// The passes, one file each. Each returns the number of rewrites.
Result<size_t> fold_constants(Graph& graph);
Result<size_t> remove_dead_code(Graph& graph);
Result<size_t> remove_no_ops(Graph& graph);
Result<size_t> canonicalize_reshapes(Graph& graph);
Result<size_t> merge_duplicates(Graph& graph);
Result<size_t> merge_parallel(Graph& graph);
Result<size_t> merge_reshapes(Graph& graph);
Result<size_t> merge_scalars(Graph& graph);
Result<size_t> merge_slices(Graph& graph);
Result<size_t> merge_transposes(Graph& graph);
Result<size_t> fuse_attention(Graph& graph, const target::Target& target);
Result<size_t> fuse_clip(Graph& graph);
Result<size_t> fuse_gelu(Graph& graph);
Result<size_t> fuse_glu(Graph& graph);
Result<size_t> fuse_hard_swish(Graph& graph);
Result<size_t> fuse_instance_norm(Graph& graph);
Result<size_t> fuse_layer_norm(Graph& graph);
Result<size_t> fuse_mish(Graph& graph);
Result<size_t> fuse_rms_norm(Graph& graph);
Result<size_t> fuse_swish(Graph& graph);
Result<size_t> split_group_norm(Graph& graph);
Result<size_t> gather_to_slice(Graph& graph);
Result<size_t> shuffle_to_gather(Graph& graph);
Result<size_t> fold_channel_order(Graph& graph);
Result<size_t> picture_moves(Graph& graph);
Result<size_t> reduce_to_pool(Graph& graph);
Result<size_t> slices_to_split(Graph& graph);
Result<size_t> swap_softmax(Graph& graph);
Result<size_t> pool_to_conv(Graph& graph, const target::Target& target);
Result<size_t> matmul_to_gemm(Graph& graph);
Result<size_t> gemm_to_conv(Graph& graph);
Result<size_t> fold_focus(Graph& graph);
Result<size_t> fold_batch_norm(Graph& graph);
Result<size_t> fold_affine(Graph& graph);
Result<size_t> conv_1d_to_2d(Graph& graph);
Result<size_t> move_elementwise(Graph& graph);
Result<size_t> fuse_activation(Graph& graph);
Result<size_t> fuse_add(Graph& graph);
Result<size_t> fuse_post_activation(Graph& graph);
Result<size_t> remove_border_reshapes(Graph& graph);

}  // namespace rk::passes
