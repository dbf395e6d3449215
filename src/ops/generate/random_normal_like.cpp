// SPDX-License-Identifier: Apache-2.0
// RandomNormalLike: normally distributed numbers of x's shape. Drawn when the graph is made, see
// random_fill.h.
#include "ops/shared/random_fill.h"

namespace rk::ops {

OpDef random_normal_like() {
  OpDef def = random_like_def(normal_attrs());
  def.name = "RandomNormalLike";
  def.doc = "y = normally distributed numbers of x's shape, the same in every run";
  def.reference = fill_normal;
  return def;
}

}  // namespace rk::ops
