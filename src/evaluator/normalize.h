// SPDX-License-Identifier: Apache-2.0
// Softmax, normalizations and sums along axes, for select.cpp: which calls the kernels of kernels/norm take, and the
// calls. All operands are f32 and the output is not empty.
#pragma once

#include "ir/op_def.h"

namespace rk::evaluator {

bool takes_softmax(const EvalCall& call);
Status run_softmax(const EvalCall& call);

bool takes_layer_norm(const EvalCall& call);  // LayerNormalization and RMSNormalization
Status run_layer_norm(const EvalCall& call);
Status run_rms_norm(const EvalCall& call);

bool takes_channel_norm(const EvalCall& call);  // InstanceNormalization and GroupNormalization
Status run_instance_norm(const EvalCall& call);
Status run_group_norm(const EvalCall& call);

bool takes_row_sum(const EvalCall& call);  // a Reduce operator whose axes are the last ones
Status run_reduce_sum(const EvalCall& call);
Status run_reduce_mean(const EvalCall& call);
Status run_reduce_l2(const EvalCall& call);
Status run_reduce_sum_square(const EvalCall& call);

}  // namespace rk::evaluator
