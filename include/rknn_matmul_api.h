// SPDX-License-Identifier: Apache-2.0
// Multiply matrices without a model: C = A x B, where A is M x K, B is K x N and C is M x N.
// Order of calls: create, quantization if any, memory, fill, set_io_mem, run. Unlike
// rknn_set_io_mem, rknn_matmul_set_io_mem rearranges the data: call it again after changing A or B.
#ifndef _RKNN_MATMUL_API_H
#define _RKNN_MATMUL_API_H

#include "rknn_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// A matmul context works wherever an rknn_context does for memory: rknn_create_mem,
// rknn_destroy_mem, rknn_mem_sync.
typedef rknn_context rknn_matmul_ctx;

// How far one scale reaches, and whether zero points are used (ASYM) or all zero (SYM).
typedef enum _rknn_matmul_quant_type {
  RKNN_QUANT_TYPE_PER_LAYER_SYM = 0,
  RKNN_QUANT_TYPE_PER_LAYER_ASYM = 1,
  RKNN_QUANT_TYPE_PER_CHANNEL_SYM = 2,
  RKNN_QUANT_TYPE_PER_CHANNEL_ASYM = 3,
  RKNN_QUANT_TYPE_PER_GROUP_SYM = 4,
  RKNN_QUANT_TYPE_PER_GROUP_ASYM = 5
} rknn_matmul_quant_type;

// Scales and zero points of one matrix. The arrays stay the caller's.
typedef struct _rknn_quant_params {
  char name[RKNN_MAX_NAME_LEN];  // "A", "B" or "C", as in rknn_matmul_io_attr
  float* scale;
  int32_t scale_len;  // 1 per layer, N per channel, N * K / group_size per group
  int32_t* zp;
  int32_t zp_len;  // likewise
} rknn_quant_params;

// Element types of A, B and C. Each chip knows some of them; 13 and 14 mean nothing.
typedef enum _rknn_matmul_type {
  RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32 = 1,
  RKNN_INT8_MM_INT8_TO_INT32 = 2,
  RKNN_INT8_MM_INT8_TO_INT8 = 3,
  RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16 = 4,
  RKNN_FLOAT16_MM_INT8_TO_FLOAT32 = 5,
  RKNN_FLOAT16_MM_INT8_TO_FLOAT16 = 6,
  RKNN_FLOAT16_MM_INT4_TO_FLOAT32 = 7,
  RKNN_FLOAT16_MM_INT4_TO_FLOAT16 = 8,
  RKNN_INT8_MM_INT8_TO_FLOAT32 = 9,
  RKNN_INT4_MM_INT4_TO_INT16 = 10,
  RKNN_INT8_MM_INT4_TO_INT32 = 11,
  RKNN_FLOAT16_MM_INT4_TO_BFLOAT16 = 12,
  RKNN_INT8_MM_INT4_TO_FLOAT16 = 15
} rknn_matmul_type;

// Name of a matmul type, for printing. The text is static. RKNN_INT8_MM_INT4_TO_FLOAT16 has no
// name: callers compare these texts, so the gap is kept.
static inline const char* get_matmul_type_string(rknn_matmul_type type) {
  switch (type) {
    case RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32:
      return "RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32";
    case RKNN_INT8_MM_INT8_TO_INT32:
      return "RKNN_INT8_MM_INT8_TO_INT32";
    case RKNN_INT8_MM_INT8_TO_INT8:
      return "RKNN_INT8_MM_INT8_TO_INT8";
    case RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16:
      return "RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16";
    case RKNN_FLOAT16_MM_INT8_TO_FLOAT32:
      return "RKNN_FLOAT16_MM_INT8_TO_FLOAT32";
    case RKNN_FLOAT16_MM_INT8_TO_FLOAT16:
      return "RKNN_FLOAT16_MM_INT8_TO_FLOAT16";
    case RKNN_FLOAT16_MM_INT4_TO_FLOAT32:
      return "RKNN_FLOAT16_MM_INT4_TO_FLOAT32";
    case RKNN_FLOAT16_MM_INT4_TO_FLOAT16:
      return "RKNN_FLOAT16_MM_INT4_TO_FLOAT16";
    case RKNN_INT8_MM_INT8_TO_FLOAT32:
      return "RKNN_INT8_MM_INT8_TO_FLOAT32";
    case RKNN_INT4_MM_INT4_TO_INT16:
      return "RKNN_INT4_MM_INT4_TO_INT16";
    case RKNN_INT8_MM_INT4_TO_INT32:
      return "RKNN_INT8_MM_INT4_TO_INT32";
    case RKNN_FLOAT16_MM_INT4_TO_BFLOAT16:
      return "RKNN_FLOAT16_MM_INT4_TO_BFLOAT16";
    default:
      return "UNKNOW";
  }
}

// Description of A, B or C: what to allocate and in which shape to fill it.
typedef struct _rknn_matmul_tensor_attr {
  char name[RKNN_MAX_NAME_LEN];
  uint32_t n_dims;
  uint32_t dims[RKNN_MAX_DIMS];
  uint32_t size;  // bytes
  rknn_tensor_type type;
} rknn_matmul_tensor_attr;

// Filled by rknn_matmul_create.
typedef struct _rknn_matmul_io_attr {
  rknn_matmul_tensor_attr A;
  rknn_matmul_tensor_attr B;
  rknn_matmul_tensor_attr C;
} rknn_matmul_io_attr;

// One size of a context that can switch between several.
typedef struct _rknn_matmul_shape {
  int32_t M;
  int32_t K;
  int32_t N;
} rknn_matmul_shape;

// Values of B_layout and AC_layout below.
typedef enum {
  RKNN_MM_LAYOUT_NORM = 0,    // rows as written above: B is [K, N]
  RKNN_MM_LAYOUT_NATIVE = 1,  // the NPU's blocks
  RKNN_MM_LAYOUT_TP_NORM = 2  // B transposed: [N, K]
} rknn_matmul_layout;

// What to multiply. Zero the structure first.
typedef struct rknn_matmul_info_t {
  int32_t M;
  int32_t K;
  int32_t N;
  rknn_matmul_type type;
  int16_t B_layout;         // rknn_matmul_layout
  int16_t B_quant_type;     // rknn_matmul_quant_type
  int16_t AC_layout;        // NORM or NATIVE
  int16_t AC_quant_type;    // per layer only
  int32_t iommu_domain_id;  // the 4 GiB address space the context lives in
  int16_t group_size;       // elements along K that share a scale, for the PER_GROUP types
  int8_t reserved[34];      // 0
} rknn_matmul_info;

// Make a context and learn what to allocate for A, B and C. End it with rknn_matmul_destroy.
int rknn_matmul_create(rknn_matmul_ctx* ctx, rknn_matmul_info* info, rknn_matmul_io_attr* io_attr);

// The same for `shape_num` sizes at once; M, K and N of `info` are not read. `io_attrs` has room
// for one answer per shape: allocate the largest of them.
int rknn_matmul_create_dynamic_shape(rknn_matmul_ctx* ctx, rknn_matmul_info* info, int shape_num,
                                     rknn_matmul_shape dynamic_shapes[],
                                     rknn_matmul_io_attr io_attrs[]);

// Bind memory to the matrix that `attr` names, and take over its contents: after filling A or B,
// and again after changing them. The caller keeps ownership of `mem`.
int rknn_matmul_set_io_mem(rknn_matmul_ctx ctx, rknn_tensor_mem* mem,
                           rknn_matmul_tensor_attr* attr);

// Choose the cores. Multi-core chips only.
int rknn_matmul_set_core_mask(rknn_matmul_ctx context, rknn_core_mask core_mask);

// Set scales and zero points of the matrix that `params` names; copied. Without this call every
// scale is 1 and every zero point 0.
int rknn_matmul_set_quant_params(rknn_matmul_ctx context, rknn_quant_params* params);

// For INT8 x INT8 -> INT32 with B quantized per channel: `params` names B, and `scale` receives its
// scale after normalization; times the scale of A it approximates the scale of C.
int rknn_matmul_get_quant_params(rknn_matmul_ctx ctx, rknn_quant_params* params, float* scale);

// Switch to one of the shapes given at creation; bind memory with its attributes afterwards.
int rknn_matmul_set_dynamic_shape(rknn_matmul_ctx ctx, rknn_matmul_shape* shape);

// Multiply. Returns when C is written.
int rknn_matmul_run(rknn_matmul_ctx ctx);

// End a context. Memory stays the caller's.
int rknn_matmul_destroy(rknn_matmul_ctx ctx);

// Rearrange a B of K x N elements from NORM to NATIVE, for the types and layouts in `info`. Needs
// no context; both buffers are the caller's.
int rknn_B_normal_layout_to_native_layout(void* B_input, void* B_output, int K, int N,
                                          rknn_matmul_info* info);

#ifdef __cplusplus
}
#endif

#endif  // _RKNN_MATMUL_API_H
