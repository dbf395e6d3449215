// SPDX-License-Identifier: Apache-2.0
// Operators that the NPU lacks, in plain C: cstSoftmax and cstPair, which has two inputs and two outputs. The same network
// with standard operators must give the same result.
// Usage: custom_op_cpu custom.rknn standard.rknn
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rknn_custom_op.h"

static float* data_of(rknn_custom_op_tensor* tensor) {
  return (float*)((char*)tensor->mem.virt_addr + tensor->mem.offset);
}

// Reads the attribute once and keeps it.
static int softmax_init(rknn_custom_op_context* op, rknn_custom_op_tensor* in, uint32_t n_in,
                        rknn_custom_op_tensor* out, uint32_t n_out) {
  (void)in, (void)out;
  if (n_in != 1 || n_out != 1) return -1;
  rknn_custom_op_attr axis;
  rknn_custom_op_get_op_attr(op, "axis", &axis);
  if (axis.n_elems != 1 || axis.dtype != RKNN_TENSOR_INT64) return -1;
  int64_t* const kept = malloc(sizeof *kept);
  if (kept == NULL) return -1;
  *kept = *(int64_t*)axis.data;
  op->priv_data = kept;
  return 0;
}

static int softmax_compute(rknn_custom_op_context* op, rknn_custom_op_tensor* in, uint32_t n_in,
                           rknn_custom_op_tensor* out, uint32_t n_out) {
  (void)n_in, (void)n_out;
  const rknn_tensor_attr* const attr = &in[0].attr;
  const int64_t axis = *(int64_t*)op->priv_data;
  uint32_t outer = 1, inner = 1;
  for (int64_t d = 0; d < attr->n_dims; ++d) {
    if (d < axis) outer *= attr->dims[d];
    if (d > axis) inner *= attr->dims[d];
  }
  const uint32_t count = attr->dims[axis];
  for (uint32_t o = 0; o < outer; ++o) {
    for (uint32_t i = 0; i < inner; ++i) {
      const float* const x = data_of(&in[0]) + o * count * inner + i;
      float* const y = data_of(&out[0]) + o * count * inner + i;
      float most = x[0], sum = 0;
      for (uint32_t c = 1; c < count; ++c) most = fmaxf(most, x[c * inner]);
      for (uint32_t c = 0; c < count; ++c) sum += y[c * inner] = expf(x[c * inner] - most);
      for (uint32_t c = 0; c < count; ++c) y[c * inner] /= sum;
    }
  }
  return 0;
}

static int softmax_destroy(rknn_custom_op_context* op) {
  free(op->priv_data);
  return 0;
}

static int pair_compute(rknn_custom_op_context* op, rknn_custom_op_tensor* in, uint32_t n_in,
                        rknn_custom_op_tensor* out, uint32_t n_out) {
  (void)op;
  if (n_in != 2 || n_out != 2) return -1;
  for (uint32_t i = 0; i < in[0].attr.n_elems; ++i) {
    data_of(&out[0])[i] = data_of(&in[0])[i] + data_of(&in[1])[i];
    data_of(&out[1])[i] = data_of(&in[0])[i] - data_of(&in[1])[i];
  }
  return 0;
}

// Runs a model on one input and copies its outputs.
static int infer(rknn_context context, float* results[2], uint32_t* count) {
  rknn_tensor_attr attr;
  memset(&attr, 0, sizeof attr);
  if (rknn_query(context, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr) != 0) return -1;
  float* const x = malloc(attr.n_elems * sizeof *x);
  if (x == NULL) return -1;
  for (uint32_t i = 0; i < attr.n_elems; ++i) x[i] = (float)((int)(i * 7919u % 257u) - 128) / 64.0f;
  rknn_input input;
  memset(&input, 0, sizeof input);
  input.buf = x;
  input.size = attr.n_elems * sizeof *x;
  input.type = RKNN_TENSOR_FLOAT32;
  input.fmt = RKNN_TENSOR_NHWC;
  rknn_output outputs[2];
  memset(outputs, 0, sizeof outputs);
  outputs[0].want_float = outputs[1].want_float = 1;
  int code = rknn_inputs_set(context, 1, &input);
  if (code == 0) code = rknn_run(context, NULL);
  if (code == 0) code = rknn_outputs_get(context, 2, outputs, NULL);
  free(x);
  if (code != 0) return code;
  *count = outputs[0].size / sizeof(float);
  for (int i = 0; i < 2; ++i) {
    results[i] = malloc(outputs[i].size);
    if (results[i] == NULL) return -1;
    memcpy(results[i], outputs[i].buf, outputs[i].size);
  }
  return rknn_outputs_release(context, 2, outputs);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s custom.rknn standard.rknn\n", argv[0]);
    return 2;
  }
  float* results[2][2];
  uint32_t count = 0;
  for (int model = 0; model < 2; ++model) {
    rknn_context context = 0;
    int code = rknn_init(&context, argv[model + 1], 0, 0, NULL);
    if (code == 0 && model == 0) {
      rknn_custom_op ops[2];
      memset(ops, 0, sizeof ops);
      for (int i = 0; i < 2; ++i) {
        ops[i].version = 1;
        ops[i].target = RKNN_TARGET_TYPE_CPU;
      }
      strcpy(ops[0].op_type, "cstSoftmax");
      ops[0].init = softmax_init;
      ops[0].compute = softmax_compute;
      ops[0].destroy = softmax_destroy;
      strcpy(ops[1].op_type, "cstPair");
      ops[1].compute = pair_compute;
      code = rknn_register_custom_ops(context, ops, 2);
    }
    if (code == 0) code = infer(context, results[model], &count);
    if (code != 0) {
      fprintf(stderr, "%s: error %d\n", argv[model + 1], code);
      return 1;
    }
    rknn_destroy(context);
  }
  float worst = 0;
  for (int o = 0; o < 2; ++o) {
    for (uint32_t i = 0; i < count; ++i)
      worst = fmaxf(worst, fabsf(results[0][o][i] - results[1][o][i]));
  }
  printf("%u elements twice, largest difference %g\n", count, worst);
  for (int o = 0; o < 2; ++o) {
    free(results[0][o]);
    free(results[1][o]);
  }
  return worst <= 0.01f ? 0 : 1;
}
