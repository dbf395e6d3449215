// SPDX-License-Identifier: Apache-2.0
// A strict C99 program that calls every exported function with nothing usable in hand: no context,
// no memory, no model, then handles that were never given out. Each call must say no with a
// negative code; the test is also that the process survives.
#include <stdio.h>
#include <string.h>

#include "rknn_api.h"
#include "rknn_custom_op.h"
#include "rknn_matmul_api.h"

static int failures = 0;

static void expect(int holds, const char* text, int line) {
  if (holds) return;
  fprintf(stderr, "caller.c:%d: %s does not hold\n", line, text);
  ++failures;
}
#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)

// Everything that takes a context, and is otherwise called as a correct program would.
static void expect_context_refused(rknn_context context) {
  rknn_context copy = 0;
  rknn_input_output_num counts;
  rknn_input input;
  rknn_output output;
  rknn_tensor_attr attr;
  rknn_custom_op op;
  float samples[4] = {0};
  rknn_tensor_mem mem;
  memset(&counts, 0, sizeof(counts));
  memset(&input, 0, sizeof(input));
  memset(&output, 0, sizeof(output));
  memset(&attr, 0, sizeof(attr));
  memset(&op, 0, sizeof(op));
  memset(&mem, 0, sizeof(mem));
  input.buf = samples;
  input.size = sizeof(samples);
  mem.virt_addr = samples;
  mem.size = sizeof(samples);
  mem.fd = -1;
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_CPU;
  strcpy(op.op_type, "cstNothing");

  EXPECT(rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof(counts)) ==
         RKNN_ERR_CTX_INVALID);
  EXPECT(rknn_dup_context(&context, &copy) == RKNN_ERR_CTX_INVALID);
  EXPECT(copy == 0);
  EXPECT(rknn_inputs_set(context, 1, &input) == RKNN_ERR_CTX_INVALID);
  EXPECT(rknn_run(context, NULL) == RKNN_ERR_CTX_INVALID);
  EXPECT(rknn_outputs_get(context, 1, &output, NULL) == RKNN_ERR_CTX_INVALID);
  EXPECT(rknn_outputs_release(context, 1, &output) < 0);
  EXPECT(rknn_set_batch_core_num(context, 1) < 0);
  EXPECT(rknn_set_core_mask(context, RKNN_NPU_CORE_AUTO) < 0);
  EXPECT(rknn_wait(context, NULL) < 0);
  EXPECT(rknn_set_weight_mem(context, &mem) < 0);
  EXPECT(rknn_set_internal_mem(context, &mem) < 0);
  EXPECT(rknn_set_io_mem(context, &mem, &attr) < 0);
  EXPECT(rknn_set_input_shape(context, &attr) < 0);
  EXPECT(rknn_set_input_shapes(context, 1, &attr) < 0);
  EXPECT(rknn_create_mem_from_mb_blk(context, samples, 0) == NULL);
  EXPECT(rknn_register_custom_ops(context, &op, 1) < 0);
  EXPECT(rknn_destroy(context) == RKNN_ERR_CTX_INVALID);
}

static void expect_matmul_context_refused(rknn_matmul_ctx context) {
  float scale = 1.0f;
  float samples[4] = {0};
  int32_t zero_point = 0;
  rknn_matmul_shape shape = {1, 32, 32};
  rknn_matmul_tensor_attr attr;
  rknn_quant_params params;
  rknn_tensor_mem mem;
  memset(&attr, 0, sizeof(attr));
  memset(&params, 0, sizeof(params));
  memset(&mem, 0, sizeof(mem));
  mem.virt_addr = samples;
  mem.size = sizeof(samples);
  mem.fd = -1;
  strcpy(attr.name, "A");
  strcpy(params.name, "A");
  params.scale = &scale;
  params.scale_len = 1;
  params.zp = &zero_point;
  params.zp_len = 1;

  EXPECT(rknn_matmul_set_io_mem(context, &mem, &attr) < 0);
  EXPECT(rknn_matmul_set_core_mask(context, RKNN_NPU_CORE_AUTO) < 0);
  EXPECT(rknn_matmul_set_quant_params(context, &params) < 0);
  EXPECT(rknn_matmul_get_quant_params(context, &params, &scale) < 0);
  EXPECT(rknn_matmul_set_dynamic_shape(context, &shape) < 0);
  EXPECT(rknn_matmul_run(context) == RKNN_ERR_CTX_INVALID);
  EXPECT(rknn_matmul_destroy(context) == RKNN_ERR_CTX_INVALID);
}

static void expect_null_arguments_refused(void) {
  EXPECT(rknn_init(NULL, NULL, 0, 0, NULL) < 0);
  EXPECT(rknn_dup_context(NULL, NULL) < 0);
  EXPECT(rknn_destroy(0) < 0);
  EXPECT(rknn_query(0, RKNN_QUERY_IN_OUT_NUM, NULL, 0) == RKNN_ERR_CTX_INVALID);
  EXPECT(rknn_query(0, RKNN_QUERY_CMD_MAX, NULL, 0) < 0);
  EXPECT(rknn_inputs_set(0, 0, NULL) < 0);
  EXPECT(rknn_inputs_set(0, 0xffffffffu, NULL) < 0);
  EXPECT(rknn_set_batch_core_num(0, 0) < 0);
  EXPECT(rknn_set_core_mask(0, RKNN_NPU_CORE_UNDEFINED) < 0);
  EXPECT(rknn_run(0, NULL) < 0);
  EXPECT(rknn_wait(0, NULL) < 0);
  EXPECT(rknn_outputs_get(0, 0, NULL, NULL) < 0);
  EXPECT(rknn_outputs_get(0, 0xffffffffu, NULL, NULL) < 0);
  EXPECT(rknn_outputs_release(0, 0, NULL) < 0);
  EXPECT(rknn_create_mem_from_phys(0, 0, NULL, 0) == NULL);
  EXPECT(rknn_create_mem_from_fd(0, -1, NULL, 0, 0) == NULL);
  EXPECT(rknn_create_mem_from_mb_blk(0, NULL, 0) == NULL);
  EXPECT(rknn_create_mem(0, 0) == NULL);
  EXPECT(rknn_create_mem2(0, 0, 0) == NULL);
  // Releasing nothing is harmless; whether it is also an error is not laid down.
  EXPECT(rknn_destroy_mem(0, NULL) <= 0);
  EXPECT(rknn_set_weight_mem(0, NULL) < 0);
  EXPECT(rknn_set_internal_mem(0, NULL) < 0);
  EXPECT(rknn_set_io_mem(0, NULL, NULL) < 0);
  EXPECT(rknn_set_input_shape(0, NULL) < 0);
  EXPECT(rknn_set_input_shapes(0, 0, NULL) < 0);
  EXPECT(rknn_mem_sync(0, NULL, RKNN_MEMORY_SYNC_BIDIRECTIONAL) < 0);

  EXPECT(rknn_matmul_create(NULL, NULL, NULL) < 0);
  EXPECT(rknn_matmul_create_dynamic_shape(NULL, NULL, 0, NULL, NULL) < 0);
  EXPECT(rknn_matmul_create_dynamic_shape(NULL, NULL, -1, NULL, NULL) < 0);
  EXPECT(rknn_matmul_set_io_mem(0, NULL, NULL) < 0);
  EXPECT(rknn_matmul_set_core_mask(0, RKNN_NPU_CORE_AUTO) < 0);
  EXPECT(rknn_matmul_set_quant_params(0, NULL) < 0);
  EXPECT(rknn_matmul_get_quant_params(0, NULL, NULL) < 0);
  EXPECT(rknn_matmul_set_dynamic_shape(0, NULL) < 0);
  EXPECT(rknn_matmul_run(0) < 0);
  EXPECT(rknn_matmul_destroy(0) < 0);
  EXPECT(rknn_B_normal_layout_to_native_layout(NULL, NULL, 0, 0, NULL) < 0);
  EXPECT(rknn_B_normal_layout_to_native_layout(NULL, NULL, -1, -1, NULL) < 0);

  EXPECT(rknn_register_custom_ops(0, NULL, 0) < 0);
  EXPECT(rknn_register_custom_ops(0, NULL, 0xffffffffu) < 0);
  rknn_custom_op_get_op_attr(NULL, NULL, NULL);
}

static void expect_no_model_refused(void) {
  static char not_a_model[] = "this is not a model";
  static char no_such_file[] = "/no/such/file.rknn";
  rknn_context context = 0;
  EXPECT(rknn_init(&context, NULL, 0, 0, NULL) < 0);
  EXPECT(rknn_init(&context, NULL, 64, 0, NULL) < 0);
  EXPECT(rknn_init(&context, not_a_model, sizeof(not_a_model), 0, NULL) < 0);
  EXPECT(rknn_init(&context, no_such_file, 0, 0, NULL) < 0);
  EXPECT(context == 0);
}

// Callers do not clear the structure first and test n_elems afterwards.
static void expect_unknown_attribute_is_empty(void) {
  static char rubbish[1] = {0};
  rknn_custom_op_attr attr;
  memset(&attr, 0x5a, sizeof(attr));
  attr.data = rubbish;
  rknn_custom_op_get_op_attr(NULL, "alpha", &attr);
  EXPECT(attr.n_elems == 0);
  EXPECT(attr.data == NULL);
}

static void expect_memory_without_a_context(void) {
  rknn_tensor_mem* mem = rknn_create_mem2(0, 64, RKNN_MEM_FLAG_ALLOC_NO_CONTEXT);
  EXPECT(mem != NULL);
  if (mem == NULL) return;
  EXPECT(mem->virt_addr != NULL && mem->offset == 0 && mem->size >= 64);
  memset(mem->virt_addr, 0x5a, 64);
  EXPECT(rknn_mem_sync(0, mem, RKNN_MEMORY_SYNC_BIDIRECTIONAL) == RKNN_SUCC);
  EXPECT(rknn_destroy_mem(0, mem) == RKNN_SUCC);
}

int main(void) {
  const rknn_context stray[] = {0, 1, 0x12345678u, ~(rknn_context)0};
  size_t i;
  expect_null_arguments_refused();
  expect_no_model_refused();
  expect_unknown_attribute_is_empty();
  expect_memory_without_a_context();
  for (i = 0; i < sizeof(stray) / sizeof(stray[0]); ++i) {
    expect_context_refused(stray[i]);
    expect_matmul_context_refused(stray[i]);
  }
  return failures == 0 ? 0 : 1;
}
