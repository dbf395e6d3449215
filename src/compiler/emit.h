// SPDX-License-Identifier: Apache-2.0
// One emit function per kind of step. Each returns whether it took the node; what none takes
// becomes an OpParams step, which runs the operator's definition on dequantized values.
#pragma once

#include "compiler/builder.h"
#include "compiler/conv_tail.h"

namespace rk::compiler {

// `tail` is what the same step computes behind the node, or null.
Result<bool> emit_conv(const Node& node, const ConvTail* tail,
                       Builder& builder);  // Conv, FusedConv
Result<bool> emit_conv_transpose(const Node& node, const ConvTail* tail, Builder& builder);
Result<bool> emit_matmul(const Node& node, const ConvTail* tail, Builder& builder);  // Gemm, MatMul
Result<bool> emit_sum(const Node& node, Builder& builder);                           // Add, Sum
Result<bool> emit_concat(const Node& node, Builder& builder);
Result<bool> emit_pool(const Node& node, Builder& builder);  // and global pools
Result<bool> emit_resize(const Node& node, Builder& builder);
// Any operator that maps one int8 tensor to another element by element.
Result<bool> emit_table(const Node& node, Builder& builder);
Status emit_op(const Node& node, Builder& builder);

// Dispatches on the operator.
Status emit(const Node& node, Builder& builder);
// A convolution with its tail as one step; false where it does not become one.
Result<bool> emit(const ConvTail& tail, Builder& builder);

uint64_t macs_of(const Node& node);

}  // namespace rk::compiler
