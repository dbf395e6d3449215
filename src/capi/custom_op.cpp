// SPDX-License-Identifier: Apache-2.0
// The custom-operator interface. Registration is refused: no step of a Program calls back into the application yet.
#include "capi/context.h"
#include "capi/guard.h"

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op*, uint32_t) {
  return rk::capi::guarded("rknn_register_custom_ops", [&]() -> rk::Status {
    RK_TRY(rk::capi::find_context(ctx).status());
    return rk::unsupported("custom operators are not offered by this build");
  });
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context*, const char*,
                                rknn_custom_op_attr* op_attr) {
  if (op_attr == nullptr) return;
  // Callers do not clear the structure and test n_elems: an attribute that does not exist has none.
  op_attr->n_elems = 0;
  op_attr->data = nullptr;
}
