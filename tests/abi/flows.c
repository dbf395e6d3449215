// SPDX-License-Identifier: Apache-2.0
// A strict C99 application that goes through every way of using the library: flows FOLDER NAME. The models are those
// of write_models.cpp; the scores below are worked out there by hand.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rknn_api.h"

enum { kPixels = 8, kScores = 16 };

static const unsigned char kPicture[3 * kPixels] = {10, 20, 30, 255, 255, 255, 16,  0, 0, 48, 0, 0,
                                                    0,  0,  0,  0,   0,   200, 200, 0, 0, 1,  2, 3};
static const signed char kWanted[kScores] = {-6, 38,  -10, -8,  -10, 9,  -4,  -10,
                                             -9, -10, -10, -12, -10, -4, -16, -10};

static const char* folder = "";
static int failures = 0;
static pthread_mutex_t failures_lock = PTHREAD_MUTEX_INITIALIZER;

static int expect(int holds, const char* text, int line) {
  if (holds) return 1;
  pthread_mutex_lock(&failures_lock);
  ++failures;
  pthread_mutex_unlock(&failures_lock);
  fprintf(stderr, "flows.c:%d: %s does not hold\n", line, text);
  return 0;
}
#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)

static rknn_context open_model(const char* name, uint32_t flags, rknn_init_extend* extend) {
  char path[1024];
  rknn_context context = 0;
  snprintf(path, sizeof(path), "%s/%s.rknn", folder, name);
  EXPECT(rknn_init(&context, path, 0, flags, extend) == RKNN_SUCC);
  return context;
}

static rknn_tensor_attr query_attr(rknn_context context, rknn_query_cmd command) {
  rknn_tensor_attr attr;
  memset(&attr, 0, sizeof(attr));
  EXPECT(rknn_query(context, command, &attr, sizeof(attr)) == RKNN_SUCC);
  return attr;
}

static int set_picture(rknn_context context, const void* pixels, uint32_t size) {
  rknn_input input;
  memset(&input, 0, sizeof(input));
  input.buf = (void*)pixels;
  input.size = size;
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  return rknn_inputs_set(context, 1, &input);
}

// Compares what the context hands out with the first `pixels` of the picture, in both channels.
static void expect_scores(rknn_context context, uint32_t pixels) {
  rknn_output output;
  uint32_t i;
  memset(&output, 0, sizeof(output));
  if (!EXPECT(rknn_outputs_get(context, 1, &output, NULL) == RKNN_SUCC)) return;
  EXPECT(output.size == 2 * pixels);
  for (i = 0; i < pixels; ++i) {
    EXPECT(((const signed char*)output.buf)[i] == kWanted[i % kPixels]);
    EXPECT(((const signed char*)output.buf)[pixels + i] == kWanted[kPixels + i % kPixels]);
  }
  EXPECT(rknn_outputs_release(context, 1, &output) == RKNN_SUCC);
}

static void run_general(rknn_context context) {
  EXPECT(set_picture(context, kPicture, sizeof(kPicture)) == RKNN_SUCC);
  EXPECT(rknn_run(context, NULL) == RKNN_SUCC);
  expect_scores(context, kPixels);
}

static void general(void) {
  rknn_context context = open_model("picture", 0, NULL);
  rknn_output output;
  float values[kScores];
  int i;
  run_general(context);
  memset(&output, 0, sizeof(output));
  output.want_float = 1;
  output.is_prealloc = 1;
  output.buf = values;
  output.size = sizeof(values);
  EXPECT(rknn_outputs_get(context, 1, &output, NULL) == RKNN_SUCC);
  for (i = 0; i < kScores; ++i) EXPECT(values[i] == (float)(kWanted[i] + 10) * 0.5f);
  EXPECT(rknn_destroy(context) == RKNN_SUCC);
}

static void fill_rows(void* to, const rknn_tensor_attr* attr) {
  uint32_t row;
  for (row = 0; row < attr->dims[1]; ++row) {
    memcpy((unsigned char*)to + row * attr->w_stride * 3, kPicture + row * attr->dims[2] * 3,
           attr->dims[2] * 3);
  }
}

// Binds, runs and compares; the memories stay the caller's.
static void run_bound(rknn_context context, rknn_tensor_mem* in, rknn_tensor_mem* out) {
  rknn_tensor_attr in_attr = query_attr(context, RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_attr out_attr = query_attr(context, RKNN_QUERY_OUTPUT_ATTR);
  in_attr.type = RKNN_TENSOR_UINT8;
  in_attr.fmt = RKNN_TENSOR_NHWC;
  EXPECT(rknn_set_io_mem(context, in, &in_attr) == RKNN_SUCC);
  EXPECT(rknn_set_io_mem(context, out, &out_attr) == RKNN_SUCC);
  fill_rows(in->virt_addr, &in_attr);
  EXPECT(rknn_mem_sync(context, in, RKNN_MEMORY_SYNC_TO_DEVICE) == RKNN_SUCC);
  EXPECT(rknn_run(context, NULL) == RKNN_SUCC);
  EXPECT(rknn_mem_sync(context, out, RKNN_MEMORY_SYNC_FROM_DEVICE) == RKNN_SUCC);
  EXPECT(memcmp(out->virt_addr, kWanted, sizeof(kWanted)) == 0);
}

static void zero_copy(void) {
  rknn_context context = open_model("picture", 0, NULL);
  rknn_tensor_attr in_attr = query_attr(context, RKNN_QUERY_INPUT_ATTR);
  rknn_tensor_attr out_attr = query_attr(context, RKNN_QUERY_OUTPUT_ATTR);
  rknn_tensor_mem* in = rknn_create_mem(context, in_attr.size_with_stride);
  rknn_tensor_mem* out = rknn_create_mem(context, out_attr.size_with_stride);
  if (EXPECT(in != NULL && out != NULL)) run_bound(context, in, out);
  EXPECT(rknn_destroy_mem(context, in) == RKNN_SUCC);
  EXPECT(rknn_destroy_mem(context, out) == RKNN_SUCC);
  EXPECT(rknn_destroy(context) == RKNN_SUCC);
}

static void external_memory(void) {
  rknn_context context = open_model("picture", RKNN_FLAG_MEM_ALLOC_OUTSIDE, NULL);
  rknn_mem_size sizes;
  void* blocks[4];
  rknn_tensor_mem* mems[4];
  int i;
  memset(&sizes, 0, sizeof(sizes));
  EXPECT(rknn_query(context, RKNN_QUERY_MEM_SIZE, &sizes, sizeof(sizes)) == RKNN_SUCC);
  for (i = 0; i < 4; ++i) {
    const uint32_t size = i == 0   ? sizes.total_weight_size
                          : i == 1 ? sizes.total_internal_size
                                   : 4096;
    const uint32_t rounded = (size + 127) / 128 * 128;
    blocks[i] = calloc(1, rounded);
    mems[i] = rknn_create_mem_from_phys(context, 0x10000u * (unsigned)(i + 1), blocks[i], rounded);
    EXPECT(mems[i] != NULL);
  }
  EXPECT(rknn_set_weight_mem(context, mems[0]) == RKNN_SUCC);
  EXPECT(rknn_set_internal_mem(context, mems[1]) == RKNN_SUCC);
  run_bound(context, mems[2], mems[3]);
  for (i = 0; i < 4; ++i) {
    EXPECT(rknn_destroy_mem(context, mems[i]) == RKNN_SUCC);
    free(blocks[i]);
  }
  EXPECT(rknn_destroy(context) == RKNN_SUCC);
}

static void dynamic_shape(void) {
  rknn_context context = open_model("dynamic", 0, NULL);
  rknn_input_range* range = (rknn_input_range*)calloc(1, sizeof(rknn_input_range));
  uint32_t k;
  EXPECT(rknn_query(context, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range, sizeof(*range)) == RKNN_SUCC);
  EXPECT(range->shape_number == 3);
  for (k = 0; k < range->shape_number; ++k) {
    const uint32_t pixels = range->dyn_range[k][1] * range->dyn_range[k][2];
    unsigned char picture[64];
    rknn_tensor_attr attr;
    uint32_t i;
    memset(&attr, 0, sizeof(attr));
    attr.n_dims = range->n_dims;
    attr.fmt = range->fmt;
    memcpy(attr.dims, range->dyn_range[k], sizeof(attr.dims));
    EXPECT(rknn_set_input_shapes(context, 1, &attr) == RKNN_SUCC);
    attr = query_attr(context, RKNN_QUERY_CURRENT_OUTPUT_ATTR);
    EXPECT(attr.n_elems == 2 * pixels);
    for (i = 0; i < 3 * pixels; ++i) picture[i] = kPicture[i % sizeof(kPicture)];
    EXPECT(set_picture(context, picture, 3 * pixels) == RKNN_SUCC);
    EXPECT(rknn_run(context, NULL) == RKNN_SUCC);
    expect_scores(context, pixels);
  }
  free(range);
  EXPECT(rknn_destroy(context) == RKNN_SUCC);
}

static void multi_batch(void) {
  rknn_context context = open_model("batch3", 0, NULL);
  unsigned char pictures[3][sizeof(kPicture)];
  rknn_output output;
  int i;
  EXPECT(query_attr(context, RKNN_QUERY_INPUT_ATTR).dims[0] == 3);
  EXPECT(rknn_set_batch_core_num(context, 3) == RKNN_SUCC);
  for (i = 0; i < 3; ++i) memcpy(pictures[i], kPicture, sizeof(kPicture));
  EXPECT(set_picture(context, pictures, sizeof(pictures)) == RKNN_SUCC);
  EXPECT(rknn_run(context, NULL) == RKNN_SUCC);
  memset(&output, 0, sizeof(output));
  EXPECT(rknn_outputs_get(context, 1, &output, NULL) == RKNN_SUCC);
  for (i = 0; i < 3; ++i)
    EXPECT(memcmp((const char*)output.buf + i * kScores, kWanted, kScores) == 0);
  EXPECT(rknn_outputs_release(context, 1, &output) == RKNN_SUCC);
  EXPECT(rknn_destroy(context) == RKNN_SUCC);
}

static void* thread_body(void* argument) {
  const rknn_context context = *(const rknn_context*)argument;
  int i;
  for (i = 0; i < 50; ++i) run_general(context);
  return NULL;
}

static void multi_thread(void) {
  enum { kThreads = 4 };
  rknn_context contexts[kThreads];
  pthread_t threads[kThreads];
  int i;
  contexts[0] = open_model("picture", 0, NULL);
  for (i = 1; i < kThreads; ++i) EXPECT(rknn_dup_context(&contexts[0], &contexts[i]) == RKNN_SUCC);
  for (i = 0; i < kThreads; ++i)
    EXPECT(pthread_create(&threads[i], NULL, thread_body, &contexts[i]) == 0);
  for (i = 0; i < kThreads; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < kThreads; ++i) EXPECT(rknn_destroy(contexts[i]) == RKNN_SUCC);
}

static void weight_sharing(void) {
  rknn_context donor = open_model("heavy", 0, NULL), shared;
  rknn_context contexts[2];
  signed char values[64 * 16];
  rknn_output outputs[2];
  rknn_init_extend extend;
  int i;
  memset(&extend, 0xa5, sizeof(extend));
  extend.ctx = donor;
  shared = open_model("light", RKNN_FLAG_SHARE_WEIGHT_MEM, &extend);
  contexts[0] = donor;
  contexts[1] = shared;
  for (i = 0; i < (int)sizeof(values); ++i) values[i] = (signed char)(i * 5 % 17);
  memset(outputs, 0, sizeof(outputs));
  for (i = 0; i < 2; ++i) {
    rknn_input input;
    memset(&input, 0, sizeof(input));
    input.buf = values;
    input.size = sizeof(values);
    input.type = RKNN_TENSOR_INT8;
    input.fmt = RKNN_TENSOR_NHWC;
    EXPECT(rknn_inputs_set(contexts[i], 1, &input) == RKNN_SUCC);
    EXPECT(rknn_run(contexts[i], NULL) == RKNN_SUCC);
    EXPECT(rknn_outputs_get(contexts[i], 1, &outputs[i], NULL) == RKNN_SUCC);
  }
  EXPECT(outputs[0].size == 32 * 16 && outputs[0].size == outputs[1].size);
  EXPECT(memcmp(outputs[0].buf, outputs[1].buf, outputs[0].size) == 0);
  for (i = 0; i < 2; ++i) EXPECT(rknn_outputs_release(contexts[i], 1, &outputs[i]) == RKNN_SUCC);
  EXPECT(rknn_destroy(donor) == RKNN_SUCC);
  EXPECT(rknn_destroy(shared) == RKNN_SUCC);
}

static void async(void) {
  rknn_context context = open_model("picture", RKNN_FLAG_ASYNC_MASK, NULL);
  uint64_t frame;
  for (frame = 1; frame <= 20; ++frame) {
    rknn_run_extend extend;
    rknn_output_extend result;
    rknn_output output;
    memset(&extend, 0, sizeof(extend));
    memset(&result, 0, sizeof(result));
    memset(&output, 0, sizeof(output));
    EXPECT(set_picture(context, kPicture, sizeof(kPicture)) == RKNN_SUCC);
    EXPECT(rknn_run(context, &extend) == RKNN_SUCC);
    EXPECT(extend.frame_id == frame);
    EXPECT(rknn_outputs_get(context, 1, &output, &result) == RKNN_SUCC);
    EXPECT(result.frame_id == (frame == 1 ? 1 : frame - 1));
    EXPECT(memcmp(output.buf, kWanted, sizeof(kWanted)) == 0);
    EXPECT(rknn_outputs_release(context, 1, &output) == RKNN_SUCC);
  }
  EXPECT(rknn_wait(context, NULL) == RKNN_SUCC);
  EXPECT(rknn_destroy(context) == RKNN_SUCC);
}

static const struct {
  const char* name;
  void (*run)(void);
} kFlows[] = {{"general", general},
              {"zero_copy", zero_copy},
              {"external_memory", external_memory},
              {"dynamic_shape", dynamic_shape},
              {"multi_batch", multi_batch},
              {"multi_thread", multi_thread},
              {"weight_sharing", weight_sharing},
              {"async", async}};

int main(int argc, char** argv) {
  size_t i;
  if (argc != 3) return 2;
  folder = argv[1];
  for (i = 0; i < sizeof(kFlows) / sizeof(kFlows[0]); ++i) {
    if (strcmp(argv[2], kFlows[i].name) != 0) continue;
    kFlows[i].run();
    return failures == 0 ? 0 : 1;
  }
  return 2;
}
