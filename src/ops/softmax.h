// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax along one axis (opset 13 meaning; older exporters flattened first, which
// the importer undoes).
#pragma once

#include "ops/elementwise.h"

namespace rk::ops {

Status infer_softmax(InferCall& call);
// `finish(x - max, sum of exp(x - max))` gives the output element.
Status softmax_f32(const EvalCall& call, double (*finish)(double shifted, double sum));
Cost softmax_cost(const Node& node);

}  // namespace rk::ops
