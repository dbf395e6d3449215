// SPDX-License-Identifier: Apache-2.0
// RandomUniform: evenly distributed numbers of a given shape. Drawn when the graph is made, see
// random_fill.h.
#include "ops/shared/random_fill.h"

namespace rk::ops {

OpDef random_uniform() {
  OpDef def = random_def(uniform_attrs());
  def.name = "RandomUniform";
  def.doc = "y = evenly distributed numbers of a given shape, the same in every run";
  def.reference = fill_uniform;
  return def;
}

}  // namespace rk::ops
