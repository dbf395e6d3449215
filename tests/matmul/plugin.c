// SPDX-License-Identifier: Apache-2.0
// A plug-in library with the operator cstPair: sum and difference. Plain C, as users write them.
#include <string.h>

#include "rknn_custom_op.h"

static float* data_of(rknn_custom_op_tensor* tensor) {
  return (float*)((char*)tensor->mem.virt_addr + tensor->mem.offset);
}

static int compute(rknn_custom_op_context* context, rknn_custom_op_tensor* in, uint32_t n_in,
                   rknn_custom_op_tensor* out, uint32_t n_out) {
  (void)context;
  if (n_in != 2 || n_out != 2) return -1;
  for (uint32_t i = 0; i < in[0].attr.n_elems; ++i) {
    data_of(&out[0])[i] = data_of(&in[0])[i] + data_of(&in[1])[i];
    data_of(&out[1])[i] = data_of(&in[0])[i] - data_of(&in[1])[i];
  }
  return 0;
}

RKNN_CUSTOM_OP_EXPORT rknn_custom_op* get_rknn_custom_op(void);
RKNN_CUSTOM_OP_EXPORT rknn_custom_op* get_rknn_custom_op(void) {
  static rknn_custom_op op;
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_CPU;
  strncpy(op.op_type, "cstPair", RKNN_MAX_NAME_LEN - 1);
  op.compute = compute;
  return &op;
}
