// SPDX-License-Identifier: Apache-2.0
// A custom operator in OpenCL: cstLeaky, checked against the same network with LeakyRelu.
// Usage: custom_op_gpu leaky.rknn leaky_standard.rknn
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openrknn_opencl.h"

static char source[] =
    "__kernel void leaky(__global const float* x, __global float* y, float alpha) {\n"
    "  const int i = get_global_id(0);\n"
    "  y[i] = x[i] >= 0 ? x[i] : x[i] * alpha;\n"
    "}\n";

static int compute(rknn_custom_op_context* op, rknn_custom_op_tensor* in, uint32_t n_in,
                   rknn_custom_op_tensor* out, uint32_t n_out) {
  cl_context context = (cl_context)op->gpu_ctx.cl_context;
  cl_command_queue queue = (cl_command_queue)op->gpu_ctx.cl_command_queue;
  cl_kernel kernel = (cl_kernel)op->gpu_ctx.cl_kernel;
  rknn_custom_op_attr alpha;
  const size_t count = in[0].attr.n_elems;
  cl_int error = CL_SUCCESS;
  if (n_in != 1 || n_out != 1) return -1;
  rknn_custom_op_get_op_attr(op, "alpha", &alpha);
  if (alpha.n_elems != 1 || alpha.dtype != RKNN_TENSOR_FLOAT32) return -1;
  cl_mem x = openrknn_cl_import(context, queue, &in[0], CL_MEM_READ_ONLY, &error);
  cl_mem y = openrknn_cl_import(context, queue, &out[0], CL_MEM_WRITE_ONLY, &error);
  if (x == NULL || y == NULL) return -1;
  clSetKernelArg(kernel, 0, sizeof x, &x);
  clSetKernelArg(kernel, 1, sizeof y, &y);
  clSetKernelArg(kernel, 2, sizeof(float), alpha.data);
  error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
  if (error == CL_SUCCESS) error = openrknn_cl_finish(queue, y, &out[0]);
  clReleaseMemObject(x);
  clReleaseMemObject(y);
  return error;
}

// Runs a model on one input; the result is the caller's.
static float* infer(rknn_context context, uint32_t* count) {
  rknn_tensor_attr attr;
  memset(&attr, 0, sizeof attr);
  if (rknn_query(context, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr) != 0) return NULL;
  float* const x = malloc(attr.n_elems * sizeof *x);
  if (x == NULL) return NULL;
  for (uint32_t i = 0; i < attr.n_elems; ++i) x[i] = (float)((int)(i * 7919u % 257u) - 128) / 64.0f;
  rknn_input input;
  memset(&input, 0, sizeof input);
  input.buf = x;
  input.size = attr.n_elems * sizeof *x;
  input.type = RKNN_TENSOR_FLOAT32;
  input.fmt = RKNN_TENSOR_NHWC;
  rknn_output output;
  memset(&output, 0, sizeof output);
  output.want_float = 1;
  float* result = NULL;
  if (rknn_inputs_set(context, 1, &input) == 0 && rknn_run(context, NULL) == 0 &&
      rknn_outputs_get(context, 1, &output, NULL) == 0) {
    result = malloc(output.size);
    if (result != NULL) memcpy(result, output.buf, output.size);
    *count = output.size / sizeof(float);
    rknn_outputs_release(context, 1, &output);
  }
  free(x);
  return result;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s leaky.rknn leaky_standard.rknn\n", argv[0]);
    return 2;
  }
  float* results[2];
  uint32_t count = 0;
  for (int model = 0; model < 2; ++model) {
    rknn_context context = 0;
    int code = rknn_init(&context, argv[model + 1], 0, 0, NULL);
    if (code == 0 && model == 0) {
      rknn_custom_op op;
      memset(&op, 0, sizeof op);
      op.version = 1;
      op.target = RKNN_TARGET_TYPE_GPU;
      strcpy(op.op_type, "cstLeaky");
      strcpy(op.cl_kernel_name, "leaky");
      op.cl_kernel_source = source;  // or the path of a .cl file, with cl_source_size 0
      op.cl_source_size = sizeof source - 1;
      op.compute = compute;
      code = rknn_register_custom_ops(context, &op, 1);
    }
    results[model] = code == 0 ? infer(context, &count) : NULL;
    if (results[model] == NULL) {
      fprintf(stderr, "%s: failed\n", argv[model + 1]);
      return 1;
    }
    rknn_destroy(context);
  }
  float worst = 0;
  for (uint32_t i = 0; i < count; ++i) worst = fmaxf(worst, fabsf(results[0][i] - results[1][i]));
  printf("%u elements, largest difference %g\n", count, worst);
  free(results[0]);
  free(results[1]);
  return worst <= 0.01f ? 0 : 1;
}
