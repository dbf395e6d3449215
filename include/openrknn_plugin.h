/* SPDX-License-Identifier: Apache-2.0
 * Plug-in libraries (librkcst_*.so) outside a context: the converter computes with the operators that the runtime will
 * use. Not part of the vendor's interface.
 *
 * A plug-in may export openrknn_infer_shapes, of the type below, when its outputs differ from its first input in shape
 * or type; the vendor's structure has no place for it. */
#ifndef OPENRKNN_PLUGIN_H
#define OPENRKNN_PLUGIN_H

#include "rknn_custom_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OPENRKNN_MAX_DIMS 16

/* A tensor of a node: plain, in the model's order. `type` is ONNX's number (1 float32, 7 int64, ...), 0 where an optional
 * input is absent. */
typedef struct {
  const char* name;
  int32_t type;
  uint32_t n_dims;
  int64_t dims[OPENRKNN_MAX_DIMS];
  void* data; /* null while shapes are inferred */
} openrknn_tensor;

/* An attribute as rknn_custom_op_get_op_attr answers it; `type` is ONNX's number of one element. */
typedef struct {
  const char* name;
  int32_t type;
  uint32_t n_elems;
  uint64_t size; /* bytes */
  const void* data;
} openrknn_attr;

/* Sets type, n_dims and dims of the outputs. op_ctx serves rknn_custom_op_get_op_attr. 0, or a negative code. */
typedef int (*openrknn_infer_shapes_func)(rknn_custom_op_context* op_ctx,
                                          const openrknn_tensor* inputs, uint32_t n_inputs,
                                          openrknn_tensor* outputs, uint32_t n_outputs);

typedef struct {
  const char* op_type;
  const char* node_name;
  const openrknn_attr* attrs;
  uint32_t n_attrs;
  openrknn_tensor* inputs;
  uint32_t n_inputs;
  openrknn_tensor* outputs;
  uint32_t n_outputs;
} openrknn_node;

/* Operator types of all plug-ins: writes up to `capacity` of them and returns how many there are. The texts stay. */
uint32_t openrknn_plugin_types(const char** types, uint32_t capacity);

/* Types and shapes of the outputs: by the plug-in's openrknn_infer_shapes, without one those of the first input. */
int openrknn_plugin_infer(const openrknn_node* node);

/* One life of a node: init, prepare, compute, destroy. */
int openrknn_plugin_compute(const openrknn_node* node);

#ifdef __cplusplus
}
#endif

#endif /* OPENRKNN_PLUGIN_H */
