// SPDX-License-Identifier: Apache-2.0
// Int8 convolutions whose stages after the sum are not those of conv_i8 (staged_conv_step.cpp).
#pragma once

#include "runtime/host/select.h"

namespace rk::runtime::host {

bool has_staged_form(const program::ConvParams& params);
Result<StepFunction> prepare_staged_conv(const StepContext& context,
                                         const program::ConvParams& params);

}  // namespace rk::runtime::host
