// SPDX-License-Identifier: Apache-2.0
// Calls every operator function once. op_table.inc is written by CMake, one RK_OP(file stem) line
// per operator file.
#include "ops/registry.h"

namespace rk::ops {

#define RK_OP(function) OpDef function();
#include "ops/op_table.inc"
#undef RK_OP

const OpRegistry& registry() {
  static const OpRegistry operators([] {
    std::vector<OpDef> defs;
#define RK_OP(function) defs.push_back(function());
#include "ops/op_table.inc"
#undef RK_OP
    return defs;
  }());
  return operators;
}

}  // namespace rk::ops
