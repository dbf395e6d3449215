// SPDX-License-Identifier: Apache-2.0
// What NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss share: picking the labelled class of
// each place and summing up. Class axis is 1; places are the batch and all axes behind it.
#pragma once

#include <span>

#include "ops/shared/shape_util.h"

namespace rk::ops {

// Checks scores [N,C,d...], labels [N,d...] and weights [C], and sets output 0: the labels' shape
// with reduction "none", one number otherwise.
Status infer_class_loss(InferCall& call);

// Output 0 from the log probabilities, which have the shape of input 0. Everything else of `call`
// is used as given; labels outside the classes are an error unless ignore_index names them.
Status class_loss_f32(const EvalCall& call, std::span<const float> log_probabilities);

std::vector<AttrDef> class_loss_attrs();

}  // namespace rk::ops
