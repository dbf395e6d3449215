// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/host/select.h"

namespace rk::runtime::host {

// A Pad between tensors of one type and layout; `node` is the step's operator. Nothing: it is none, or not such.
std::optional<StepFunction> prepare_pad(const StepContext& context, const Node& node);

}  // namespace rk::runtime::host
