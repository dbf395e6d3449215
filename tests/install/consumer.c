// SPDX-License-Identifier: Apache-2.0
// A program of somebody else's project: opens a model with the installed library, runs it once, prints its sizes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rknn_api.h>

int main(int argc, char** argv) {
  rknn_context context = 0;
  rknn_input_output_num counts;
  rknn_tensor_attr attr;
  rknn_input input;
  rknn_output output;
  if (argc != 2) return 2;
  if (rknn_init(&context, argv[1], 0, 0, NULL) != RKNN_SUCC) return 3;
  if (rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof(counts)) != RKNN_SUCC) return 4;
  memset(&attr, 0, sizeof(attr));
  if (rknn_query(context, RKNN_QUERY_INPUT_ATTR, &attr, sizeof(attr)) != RKNN_SUCC) return 5;
  memset(&input, 0, sizeof(input));
  input.size = attr.n_elems;
  input.buf = calloc(1, input.size);
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  if (input.buf == NULL || rknn_inputs_set(context, 1, &input) != RKNN_SUCC) return 6;
  if (rknn_run(context, NULL) != RKNN_SUCC) return 7;
  memset(&output, 0, sizeof(output));
  output.want_float = 1;
  if (rknn_outputs_get(context, 1, &output, NULL) != RKNN_SUCC) return 8;
  printf("inputs %u outputs %u first output %u bytes\n", counts.n_input, counts.n_output,
         output.size);
  rknn_outputs_release(context, 1, &output);
  free(input.buf);
  return rknn_destroy(context) == RKNN_SUCC ? 0 : 9;
}
