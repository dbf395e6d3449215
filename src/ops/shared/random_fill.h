// SPDX-License-Identifier: Apache-2.0
// What RandomNormal, RandomUniform and their Like forms share. A compiled model has no source of
// chance: the numbers are drawn once, when the graph is made, and stay the same in every run. They
// depend on `seed` and the node's name only, so builds are reproducible.
#pragma once

#include "ops/shared/shape_util.h"

namespace rk::ops {

// The dtype of attribute `dtype`; `fallback` where the attribute is absent.
Result<DType> random_dtype(const Node& node, DType fallback);

Status infer_random(InferCall& call);       // the shape is attribute `shape`
Status infer_random_like(InferCall& call);  // the shape is that of input 0

Status fill_normal(const EvalCall& call);   // attributes mean and scale
Status fill_uniform(const EvalCall& call);  // attributes low and high

// Schemas but for name, doc and reference; `own` are the distribution's attributes.
OpDef random_def(std::vector<AttrDef> own);
OpDef random_like_def(std::vector<AttrDef> own);

std::vector<AttrDef> normal_attrs();
std::vector<AttrDef> uniform_attrs();

}  // namespace rk::ops
