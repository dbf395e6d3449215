// SPDX-License-Identifier: Apache-2.0
// The matmul interface in plain C: a product checked against loops, one context for several M, and a benchmark.
// Usage: matmul_demo [M K N [rounds]]
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rknn_matmul_api.h"

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void fill(int8_t* data, uint32_t count, uint32_t seed) {
  for (uint32_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (int8_t)(seed >> 24);
  }
}

// C = A * B by loops.
static int32_t element(const int8_t* a, const int8_t* b, int m, int n, int K, int N) {
  int32_t sum = 0;
  for (int k = 0; k < K; ++k) sum += a[m * K + k] * b[k * N + n];
  return sum;
}

#define CHECK(call)                                      \
  do {                                                   \
    int code_ = (call);                                  \
    if (code_ != 0) {                                    \
      fprintf(stderr, "%s returned %d\n", #call, code_); \
      return 1;                                          \
    }                                                    \
  } while (0)

int main(int argc, char** argv) {
  const int M = argc > 3 ? atoi(argv[1]) : 4, K = argc > 3 ? atoi(argv[2]) : 512,
            N = argc > 3 ? atoi(argv[3]) : 256, rounds = argc > 4 ? atoi(argv[4]) : 20;
  rknn_matmul_info info;
  memset(&info, 0, sizeof info);
  info.type = RKNN_INT8_MM_INT8_TO_INT32;
  info.B_layout = RKNN_MM_LAYOUT_NATIVE;  // B once in the NPU's blocks, A and C by rows

  // One context for prompts of M rows and for single rows: B stays.
  rknn_matmul_shape shapes[2] = {{M, K, N}, {1, K, N}};
  rknn_matmul_io_attr io[2];
  rknn_matmul_ctx ctx = 0;
  CHECK(rknn_matmul_create_dynamic_shape(&ctx, &info, 2, shapes, io));

  rknn_tensor_mem* a = rknn_create_mem(ctx, io[0].A.size);
  rknn_tensor_mem* b = rknn_create_mem(ctx, io[0].B.size);
  rknn_tensor_mem* c = rknn_create_mem(ctx, io[0].C.size);
  int8_t* normal_b = malloc((size_t)K * N);
  if (a == NULL || b == NULL || c == NULL || normal_b == NULL) return 1;
  fill(a->virt_addr, (uint32_t)(M * K), 1);
  fill(normal_b, (uint32_t)(K * N), 2);
  CHECK(rknn_B_normal_layout_to_native_layout(normal_b, b->virt_addr, K, N, &info));

  CHECK(rknn_matmul_set_dynamic_shape(ctx, &shapes[0]));
  CHECK(rknn_matmul_set_io_mem(ctx, b, &io[0].B));  // after filling: the data is taken over here
  for (int s = 0; s < 2; ++s) {
    CHECK(rknn_matmul_set_dynamic_shape(ctx, &shapes[s]));
    CHECK(rknn_matmul_set_io_mem(ctx, a, &io[s].A));
    CHECK(rknn_matmul_set_io_mem(ctx, c, &io[s].C));
    CHECK(rknn_matmul_run(ctx));
    int wrong = 0;
    for (int m = 0; m < shapes[s].M; ++m) {
      for (int n = 0; n < N; ++n)
        wrong += ((int32_t*)c->virt_addr)[m * N + n] != element(a->virt_addr, normal_b, m, n, K, N);
    }
    double best = 1e30;
    for (int r = 0; r < rounds; ++r) {
      const double start = now_ms();
      CHECK(rknn_matmul_run(ctx));
      const double took = now_ms() - start;
      if (took < best) best = took;
    }
    printf("%s M %d K %d N %d: %d elements differ, best %.3f ms, %.1f GMAC/s\n",
           get_matmul_type_string(info.type), shapes[s].M, K, N, wrong, best,
           (double)shapes[s].M * K * N / best * 1e-6);
    if (wrong != 0) return 1;
  }
  CHECK(rknn_destroy_mem(ctx, a));
  CHECK(rknn_destroy_mem(ctx, b));
  CHECK(rknn_destroy_mem(ctx, c));
  CHECK(rknn_matmul_destroy(ctx));
  free(normal_b);
  return 0;
}
