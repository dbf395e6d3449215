// SPDX-License-Identifier: Apache-2.0
// The matrix-product interface. It is exported so that programs link and get a defined answer; no product is made, so
// no handle can be a matmul context.
#include "capi/api.h"
#include "capi/guard.h"

namespace {

int not_offered(const char* function) {
  return rk::capi::guarded(function, [] {
    return rk::unsupported("the matmul interface is not offered by this build");
  });
}

int no_context(const char* function, rknn_matmul_ctx context) {
  return rk::capi::guarded(function, [&] {
    return rk::Status(rk::Code::kInvalidContext,
                      rk::str("matmul context ", context, " does not exist"));
  });
}

}  // namespace

int rknn_matmul_create(rknn_matmul_ctx*, rknn_matmul_info*, rknn_matmul_io_attr*) {
  return not_offered("rknn_matmul_create");
}

int rknn_matmul_create_dynamic_shape(rknn_matmul_ctx*, rknn_matmul_info*, int, rknn_matmul_shape*,
                                     rknn_matmul_io_attr*) {
  return not_offered("rknn_matmul_create_dynamic_shape");
}

int rknn_matmul_set_io_mem(rknn_matmul_ctx ctx, rknn_tensor_mem*, rknn_matmul_tensor_attr*) {
  return no_context("rknn_matmul_set_io_mem", ctx);
}

int rknn_matmul_set_core_mask(rknn_matmul_ctx context, rknn_core_mask) {
  return no_context("rknn_matmul_set_core_mask", context);
}

int rknn_matmul_set_quant_params(rknn_matmul_ctx context, rknn_quant_params*) {
  return no_context("rknn_matmul_set_quant_params", context);
}

int rknn_matmul_get_quant_params(rknn_matmul_ctx ctx, rknn_quant_params*, float*) {
  return no_context("rknn_matmul_get_quant_params", ctx);
}

int rknn_matmul_set_dynamic_shape(rknn_matmul_ctx ctx, rknn_matmul_shape*) {
  return no_context("rknn_matmul_set_dynamic_shape", ctx);
}

int rknn_matmul_run(rknn_matmul_ctx ctx) { return no_context("rknn_matmul_run", ctx); }

int rknn_matmul_destroy(rknn_matmul_ctx ctx) { return no_context("rknn_matmul_destroy", ctx); }

int rknn_B_normal_layout_to_native_layout(void*, void*, int, int, rknn_matmul_info*) {
  return not_offered("rknn_B_normal_layout_to_native_layout");
}
