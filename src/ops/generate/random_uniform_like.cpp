// SPDX-License-Identifier: Apache-2.0
// RandomUniformLike: evenly distributed numbers of x's shape. Drawn when the graph is made, see
// random_fill.h.
#include "ops/shared/random_fill.h"

namespace rk::ops {

OpDef random_uniform_like() {
  OpDef def = random_like_def(uniform_attrs());
  def.name = "RandomUniformLike";
  def.doc = "y = evenly distributed numbers of x's shape, the same in every run";
  def.reference = fill_uniform;
  return def;
}

}  // namespace rk::ops
