// SPDX-License-Identifier: Apache-2.0
// Steps as the vendor's compiler cuts them, where ours fuses or splits otherwise: what the chip's memory is planned by. The
// Program itself, which the host runs, stays as it is.
#pragma once

#include "program/program.h"
#include "target/target.h"

namespace rk::compiler {

// Of two convolutions that are added the one nearer to the inputs takes the Add; an Add behind a depthwise convolution is
// a step of its own on most chips; groups that fill blocks are convolutions between a Split and a Concat; pixels are
// repeated by a Resize. Tensors of `variant` keep their indices, those that only the chip has come behind them; layouts
// are assigned.
Result<program::Variant> chip_steps(const target::Target& target, const program::Variant& variant);

}  // namespace rk::compiler
