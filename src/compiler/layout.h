// SPDX-License-Identifier: Apache-2.0
// Chip-native layouts and sizes of features. After all steps are known, because a tensor's size
// depends on who writes it.
#pragma once

#include "program/program.h"
#include "target/target.h"

namespace rk::compiler {

Status assign_layouts(const target::Target& target, program::Variant& variant);

}  // namespace rk::compiler
