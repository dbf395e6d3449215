// SPDX-License-Identifier: Apache-2.0
// What the layers of all kinds share when they are made from a step.
#pragma once

#include <string>

#include "base/status.h"
#include "program/program.h"
#include "registers/convolution.h"

namespace rk::registers {

// "node 'x' (Conv): no register form for ..."
Status no_form(const program::Step& step, const std::string& what);
// int8 in blocks of channels, one sample.
bool is_feature(const program::ProgramTensor& tensor);
// The same in float16.
bool is_half_feature(const program::ProgramTensor& tensor);
// The chip is one that find_chip() knows.
Feature feature_of(const program::Program& program, const program::ProgramTensor& tensor);

}  // namespace rk::registers
