// SPDX-License-Identifier: Apache-2.0
// How a converted model is held against its goldens, the same for models of other projects and for
// generated networks.
#pragma once

#include "tests/foundation/any_model.h"
#include "tests/foundation/zoo.h"

namespace rk::foundation {

// One figure per output: the worst cosine over the model's cases, at least `bar`. An int8 output
// whose golden stays below two of its own steps is judged by the largest difference instead, at
// most one step: the direction of such a vector is noise. `label` starts the figures' names.
void compare_with_goldens(const ZooModel& model, const AnyModel& any, const std::string& label,
                          double bar);

}  // namespace rk::foundation
