/* SPDX-License-Identifier: Apache-2.0
 * Writes the output bytes of a model for a few made-up inputs: outputs MODEL.rknn FILE. Integer models must give the
 * same bytes on every machine; check.py compares them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rknn_api.h"

enum { kRuns = 3, kMaxTensors = 16 };

static int fail(const char* what, int code) {
  fprintf(stderr, "outputs: %s: %d\n", what, code);
  return 1;
}

/* The same bytes on every machine, different ones in every run. */
static void fill(uint8_t* bytes, uint32_t count, uint32_t seed) {
  uint32_t state = seed * 2654435761u + 12345u;
  for (uint32_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = (uint8_t)(state >> 24);
  }
}

static int run_once(rknn_context context, const rknn_input_output_num* num, uint32_t seed,
                    FILE* to) {
  rknn_input inputs[kMaxTensors];
  rknn_output outputs[kMaxTensors];
  memset(inputs, 0, sizeof inputs);
  memset(outputs, 0, sizeof outputs);
  for (uint32_t i = 0; i < num->n_input; ++i) {
    rknn_tensor_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.index = i;
    if (rknn_query(context, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr) != 0) return 1;
    inputs[i].index = i;
    inputs[i].type = RKNN_TENSOR_UINT8;
    inputs[i].fmt = attr.n_dims == 4 ? RKNN_TENSOR_NHWC : RKNN_TENSOR_UNDEFINED;
    inputs[i].size = attr.n_elems;
    inputs[i].buf = malloc(attr.n_elems);
    if (inputs[i].buf == NULL) return 1;
    fill((uint8_t*)inputs[i].buf, attr.n_elems, seed + i);
  }
  int code = rknn_inputs_set(context, num->n_input, inputs);
  for (uint32_t i = 0; i < num->n_input; ++i) free(inputs[i].buf);
  if (code != 0) return fail("rknn_inputs_set", code);
  code = rknn_run(context, NULL);
  if (code != 0) return fail("rknn_run", code);
  code = rknn_outputs_get(context, num->n_output, outputs, NULL);
  if (code != 0) return fail("rknn_outputs_get", code);
  size_t written = 0, wanted = 0;
  for (uint32_t i = 0; i < num->n_output; ++i) {
    written += fwrite(outputs[i].buf, 1, outputs[i].size, to);
    wanted += outputs[i].size;
  }
  rknn_outputs_release(context, num->n_output, outputs);
  return wanted == 0 || written != wanted;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  rknn_context context = 0;
  const int code = rknn_init(&context, argv[1], 0, 0, NULL);
  if (code != 0) return fail("rknn_init", code);
  rknn_input_output_num num;
  if (rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &num, sizeof num) != 0) return 1;
  if (num.n_input > kMaxTensors || num.n_output > kMaxTensors) return 1;
  FILE* const to = fopen(argv[2], "wb");
  if (to == NULL) return fail(argv[2], 0);
  int failed = 0;
  for (uint32_t run = 0; run < kRuns && !failed; ++run) failed = run_once(context, &num, run, to);
  rknn_destroy(context);
  return fclose(to) != 0 || failed;
}
