// SPDX-License-Identifier: Apache-2.0
// A plug-in library with the operator cstTail: the last `keep` channels, times `gain`. Its output has a shape of its own.
#include <string.h>

#include "openrknn_plugin.h"

static int64_t keep_of(rknn_custom_op_context* context) {
  rknn_custom_op_attr attr;
  int64_t keep = 0;
  rknn_custom_op_get_op_attr(context, "keep", &attr);
  if (attr.n_elems == 1 && attr.dtype == RKNN_TENSOR_INT64) memcpy(&keep, attr.data, sizeof keep);
  return keep;
}

static float* data_of(rknn_custom_op_tensor* tensor) {
  return (float*)((char*)tensor->mem.virt_addr + tensor->mem.offset);
}

static int compute(rknn_custom_op_context* context, rknn_custom_op_tensor* in, uint32_t n_in,
                   rknn_custom_op_tensor* out, uint32_t n_out) {
  rknn_custom_op_attr attr;
  float gain = 1;
  if (n_in != 1 || n_out != 1 || in[0].attr.dims[0] != 1) return -1;
  rknn_custom_op_get_op_attr(context, "gain", &attr);
  if (attr.n_elems == 1 && attr.dtype == RKNN_TENSOR_FLOAT32) memcpy(&gain, attr.data, sizeof gain);
  const uint32_t skip = in[0].attr.n_elems - out[0].attr.n_elems;
  for (uint32_t i = 0; i < out[0].attr.n_elems; ++i)
    data_of(&out[0])[i] = gain * data_of(&in[0])[skip + i];
  return 0;
}

RKNN_CUSTOM_OP_EXPORT int openrknn_infer_shapes(rknn_custom_op_context* context,
                                                const openrknn_tensor* in, uint32_t n_in,
                                                openrknn_tensor* out, uint32_t n_out);
RKNN_CUSTOM_OP_EXPORT int openrknn_infer_shapes(rknn_custom_op_context* context,
                                                const openrknn_tensor* in, uint32_t n_in,
                                                openrknn_tensor* out, uint32_t n_out) {
  const int64_t keep = keep_of(context);
  if (n_in != 1 || n_out != 1 || in[0].n_dims < 2 || keep < 1 || keep > in[0].dims[1]) return -1;
  out[0] = in[0];
  out[0].dims[1] = keep;
  return 0;
}

RKNN_CUSTOM_OP_EXPORT rknn_custom_op* get_rknn_custom_op(void);
RKNN_CUSTOM_OP_EXPORT rknn_custom_op* get_rknn_custom_op(void) {
  static rknn_custom_op op;
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_CPU;
  strncpy(op.op_type, "cstTail", RKNN_MAX_NAME_LEN - 1);
  op.compute = compute;
  return &op;
}
