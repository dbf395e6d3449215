// SPDX-License-Identifier: Apache-2.0
// ReduceProd: the product. Nothing multiplies to 1.
#include "ops/shared/reduce.h"

namespace rk::ops {
namespace {

Status reduce_prod_compute(const EvalCall& call) {
  return reduce_numbers(call, 1, [](auto sum, auto x) { return wrap_mul(sum, x); });
}

Status reduce_prod_reference(const EvalCall& call) {
  return halves_as_f32(call, reduce_prod_compute);
}

}  // namespace

OpDef reduce_prod() {
  return reduce_def("ReduceProd", "y = product over the axes", reduce_prod_reference);
}

}  // namespace rk::ops
