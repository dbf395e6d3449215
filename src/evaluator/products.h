// SPDX-License-Identifier: Apache-2.0
// Operators that are many matrix products, on the gemm kernel. Each has the form that select.cpp's table wants: whether it
// takes a call whose operands are all float32, and the work.
#pragma once

#include "ir/op_def.h"

namespace rk::evaluator {

bool takes_matmul(const EvalCall& call);
Status matmul(const EvalCall& call);

// Two operands, at most one index (or indices that lie like one) that is summed over.
bool takes_einsum(const EvalCall& call);
Status einsum(const EvalCall& call);

bool takes_attention(const EvalCall& call);
Status attention(const EvalCall& call);

}  // namespace rk::evaluator
