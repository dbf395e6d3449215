// SPDX-License-Identifier: Apache-2.0
// RandomNormal: normally distributed numbers of a given shape. Drawn when the graph is made, see
// random_fill.h.
#include "ops/shared/random_fill.h"

namespace rk::ops {

OpDef random_normal() {
  OpDef def = random_def(normal_attrs());
  def.name = "RandomNormal";
  def.doc = "y = normally distributed numbers of a given shape, the same in every run";
  def.reference = fill_normal;
  return def;
}

}  // namespace rk::ops
