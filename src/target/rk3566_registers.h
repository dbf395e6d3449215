// SPDX-License-Identifier: Apache-2.0
// RK3566 and RK3568 have most registers of RK3588 in their places; here is what lies elsewhere. Read off lists of both chips
// for the same layers (docs/fidelity.md, "Register lists").
#pragma once

#include <span>

#include "target/registers.h"

namespace rk::target {

struct MovedField {
  RegisterField rk3588, rk3566;
};

// Fields that both chips have, in different places.
std::span<const MovedField> rk3566_moved_fields();

// Registers whose lowest field counts atoms on RK3588 (16 bytes, from bit 4) and bytes of atoms of 8 on RK3566.
std::span<const uint16_t> rk3566_strides();

}  // namespace rk::target
