// SPDX-License-Identifier: Apache-2.0
// Choosing the shapes of a dynamic model. Only static models are run so far, so every choice is refused.
#include "capi/context.h"
#include "capi/guard.h"

int rknn_set_input_shapes(rknn_context ctx, uint32_t, rknn_tensor_attr*) {
  return rk::capi::guarded("rknn_set_input_shapes", [&]() -> rk::Status {
    RK_TRY(rk::capi::find_context(ctx).status());
    return rk::unsupported(
        "the model has static shapes: convert it with dynamic_input to choose among several");
  });
}

int rknn_set_input_shape(rknn_context ctx, rknn_tensor_attr*) {
  return rk::capi::guarded("rknn_set_input_shape", [&]() -> rk::Status {
    RK_TRY(rk::capi::find_context(ctx).status());
    return rk::unsupported("this call is retired since 1.5.2: use rknn_set_input_shapes");
  });
}
