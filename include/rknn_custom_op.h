// SPDX-License-Identifier: Apache-2.0
// Operators written by the caller, on the CPU or in OpenCL, called by the runtime inside a model.
// A tensor's data starts at mem.virt_addr + mem.offset, not at virt_addr.
#ifndef _RKNN_CUSTOM_OP_H
#define _RKNN_CUSTOM_OP_H

#include <stdint.h>

#include "rknn_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returned by an init callback: use the runtime's own implementation of this operator, if any.
#define RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE (-14)

#define RKNN_CUSTOM_OP_MAX_STR_LEN 64
#define RKNN_CUSTOM_OP_MAX_VALUE_LEN 32

// Marks get_rknn_custom_op, the one function a plug-in library exports.
#define RKNN_CUSTOM_OP_EXPORT __attribute__((visibility("default")))

// The library's own handle of a node; the spelling is part of the interface.
#ifdef __arm__
typedef uint32_t rknn_custom_op_interal_context;
#else
typedef uint64_t rknn_custom_op_interal_context;
#endif

// Where an operator runs.
typedef enum _rknn_target_type {
  RKNN_TARGET_TYPE_CPU = 1,
  RKNN_TARGET_TYPE_GPU = 2,
  RKNN_TARGET_TYPE_MAX
} rknn_target_type;

// OpenCL objects for a GPU operator: cast to the cl_* types of the same names. Owned by the
// runtime.
typedef struct _rknn_gpu_op_context {
  void* cl_context;
  void* cl_command_queue;
  void* cl_kernel;
} rknn_gpu_op_context;

// One node that uses the operator. Callbacks may write priv_data and read the rest.
typedef struct _rknn_custom_op_context {
  rknn_target_type target;
  rknn_custom_op_interal_context internal_ctx;
  rknn_gpu_op_context gpu_ctx;
  void* priv_data;  // the operator author's; free it in the destroy callback
} rknn_custom_op_context;

// One input or output of a node. The memory exists before the callbacks run.
typedef struct _rknn_custom_op_tensor {
  rknn_tensor_attr attr;
  rknn_tensor_mem mem;
} rknn_custom_op_tensor;

// One attribute of a node. Integers of ONNX nodes are INT64, texts are UINT8 characters.
typedef struct _rknn_custom_op_attr {
  char name[RKNN_MAX_NAME_LEN];
  rknn_tensor_type dtype;
  uint32_t n_elems;  // 0: the node has no such attribute
  void* data;        // owned by the runtime
} rknn_custom_op_attr;

// An operator. Callbacks return 0 or a negative code, which fails the call they run in.
typedef struct _rknn_custom_op {
  uint32_t version;  // 1
  rknn_target_type target;
  char op_type[RKNN_MAX_NAME_LEN];  // type of the nodes it computes

  char cl_kernel_name[RKNN_MAX_NAME_LEN];
  char* cl_kernel_source;   // source text, or the path of a .cl file when cl_source_size is 0
  uint64_t cl_source_size;  // bytes
  char cl_build_options[RKNN_MAX_NAME_LEN];

  // Optional: once per node, inside rknn_register_custom_ops.
  int (*init)(rknn_custom_op_context* op_ctx, rknn_custom_op_tensor* inputs, uint32_t n_inputs,
              rknn_custom_op_tensor* outputs, uint32_t n_outputs);

  // Optional: in every rknn_run, before compute.
  int (*prepare)(rknn_custom_op_context* op_ctx, rknn_custom_op_tensor* inputs, uint32_t n_inputs,
                 rknn_custom_op_tensor* outputs, uint32_t n_outputs);

  // Required: in every rknn_run. Tensors are float32 (int64 where the model says so), NCHW or
  // UNDEFINED.
  int (*compute)(rknn_custom_op_context* op_ctx, rknn_custom_op_tensor* inputs, uint32_t n_inputs,
                 rknn_custom_op_tensor* outputs, uint32_t n_outputs);

  // Never called: leave it null.
  int (*compute_native)(rknn_custom_op_context* op_ctx, rknn_custom_op_tensor* inputs,
                        uint32_t n_inputs, rknn_custom_op_tensor* outputs, uint32_t n_outputs);

  // Optional: inside rknn_destroy.
  int (*destroy)(rknn_custom_op_context* op_ctx);
} rknn_custom_op;

// Type of get_rknn_custom_op in a plug-in library; its result is static in that library.
typedef rknn_custom_op* (*get_custom_op_func)();

// Add operators to a context: after rknn_init and before the first run, once per op_type. The array
// is copied.
int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op* op, uint32_t custom_op_num);

// Read an attribute of the node; for use inside callbacks. An unknown name gives n_elems 0.
void rknn_custom_op_get_op_attr(rknn_custom_op_context* op_ctx, const char* attr_name,
                                rknn_custom_op_attr* op_attr);

#ifdef __cplusplus
}
#endif

#endif  // _RKNN_CUSTOM_OP_H
