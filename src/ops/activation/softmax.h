// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax along one axis (opset 13 meaning; older exporters flattened first, which
// the importer undoes).
#pragma once

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {

Status infer_softmax(InferCall& call);
// Gives the output element from x - max and the sum of exp(x - max).
using SoftmaxFinish = double (*)(double shifted, double sum);
double log_softmax_of(double shifted, double sum);
// Rows along the axis of `split`; y may not be x.
void softmax_along(const EvalCall& call, const AxisSplit& split, const float* x,
                   SoftmaxFinish finish, float* y);
// Input 0 to output 0 along the node's axis.
Status softmax_f32(const EvalCall& call, SoftmaxFinish finish);
Cost softmax_cost(const Node& node);

}  // namespace rk::ops
