// SPDX-License-Identifier: Apache-2.0
// Which operators have a fast float kernel. The operator's reference stays the meaning; a kernel is chosen only where
// its result is the same up to the order of summation.
#pragma once

#include "ir/op_def.h"

namespace rk::evaluator {

using FastKernel = Status (*)(const EvalCall& call);

// Null where only the reference can do it (other dtypes, other ranks).
FastKernel find_fast_kernel(const EvalCall& call);

}  // namespace rk::evaluator
