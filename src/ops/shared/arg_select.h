// SPDX-License-Identifier: Apache-2.0
// What ArgMax and ArgMin share.
#pragma once

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {

Status infer_arg_select(InferCall& call);
OpDef arg_select_def(std::string_view name, std::string_view doc, Reference reference);

// `better(a, b)`: a is to be preferred to b.
template <typename Better>
Status select_indices(const EvalCall& call, Better better) {
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), call.input(0).shape().rank()));
  const bool last = call.node.i64("select_last_index") != 0;
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    using T = decltype(tag);
    const AxisSplit split = split_at(call.input(0).shape(), axis);
    const T* x = call.input(0).data<T>();
    int64_t* y = call.output(0).mutable_data<int64_t>();
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t i = 0; i < split.inner; ++i) {
        const T* row = x + o * split.extent * split.inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < split.extent; ++k) {
          const T found = row[k * split.inner];
          const T so_far = row[best * split.inner];
          if (better(found, so_far) || (last && !better(so_far, found))) best = k;
        }
        *y++ = best;
      }
    }
    return ok_status();
  });
}

}  // namespace rk::ops
