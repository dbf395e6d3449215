/* SPDX-License-Identifier: Apache-2.0 */
/* The converter and simulator for other languages; the Python packages are written on it. Options and results are
 * JSON text, arrays are pointers with shape and element type, so the functions here do not change when an option is
 * added. docs/python.md describes the methods by their Python names.
 *
 * Note: the texts of rknn_toolkit_result and rknn_toolkit_error belong to the calling thread and live
 * until its next call; copy them. */
#ifndef RKNN_TOOLKIT_C_H
#define RKNN_TOOLKIT_C_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKNN_TOOLKIT_API __attribute__((visibility("default")))

/* What a call returns. */
#define RKNN_TOOLKIT_OK 0
#define RKNN_TOOLKIT_INVALID_ARGUMENT 1 /* Python raises ValueError where the vendor does */
#define RKNN_TOOLKIT_UNSUPPORTED 2      /* legal, but not offered by this version */
#define RKNN_TOOLKIT_CANCELLED 3        /* the progress callback asked for it */
#define RKNN_TOOLKIT_FAILED 4           /* everything else; the error text says what */

/* One model, from its options to its results. Calls on one object are served one after the other. */
typedef struct rknn_toolkit rknn_toolkit;

typedef struct rknn_toolkit_array {
  void* data; /* row-major; inputs are only read */
  uint64_t size_bytes;
  const int64_t* shape;
  int32_t rank;
  int32_t
      dtype; /* numbered as ONNX TensorProto: 1 float32, 2 uint8, 3 int8, 6 int32, 7 int64, 9 bool, 10 float16 ... */
} rknn_toolkit_array;

/* Each may be null. They are called during calls on the object, on the calling thread or on a thread of the library. */
typedef struct rknn_toolkit_callbacks {
  void* user;
  /* One line without a line end. level: 0 error, 1 warning, 2 information, 3 detail. */
  void (*log)(void* user, int32_t level, const char* text);
  /* stage: what a progress bar is called. Anything but 0 stops the call with RKNN_TOOLKIT_CANCELLED. */
  int32_t (*progress)(void* user, const char* stage, uint64_t done, uint64_t total);
} rknn_toolkit_callbacks;

/* An operator written by the caller. Both functions, or neither: a standard operator that the device runs with code of
 * its own. They are called while the object lives, during calls on it, on any thread. `node` is JSON text with name,
 * op_type, input, output (names) and attributes; a tensor attribute is an object with dtype, dims and values. An absent
 * input has dtype 0. Texts are handed over with rknn_toolkit_answer; anything but 0 fails the call, and the text says
 * why. */
typedef struct rknn_toolkit_custom_op {
  const char* op_type; /* copied */
  void* user;
  /* Answers {"shapes": [[1, 10]], "dtypes": [1]}, one entry per output. The arrays have no data. */
  int32_t (*infer)(void* user, const char* node, const rknn_toolkit_array* inputs,
                   uint32_t input_count, uint32_t output_count);
  /* Fills the outputs, which have the types that infer gave, floats as float32. */
  int32_t (*compute)(void* user, const char* node, const rknn_toolkit_array* inputs,
                     uint32_t input_count, const rknn_toolkit_array* outputs,
                     uint32_t output_count);
} rknn_toolkit_custom_op;

RKNN_TOOLKIT_API const char* rknn_toolkit_version(void);

/* `log_level` is the most detailed level wanted. Null when memory is short. */
RKNN_TOOLKIT_API rknn_toolkit* rknn_toolkit_create(const rknn_toolkit_callbacks* callbacks,
                                                   int32_t log_level);
/* Accepts null. No other call may be under way. */
RKNN_TOOLKIT_API void rknn_toolkit_destroy(rknn_toolkit* toolkit);

/* Runs a method: config, load_onnx, load_rknn, build, export_rknn, init_runtime, eval_perf, eval_memory,
 * get_sdk_version, list_devices, accuracy_analysis, hybrid_quantization_step1, hybrid_quantization_step2,
 * list_support_target_platform, read_yml, onnx_edit. `options` is an object with the Python parameters (null or absent: the default). An unknown name is an invalid argument. `arrays` go with load_onnx:
 * one per entry of input_initial_val that is not null. A call from inside a callback is refused. */
RKNN_TOOLKIT_API int32_t rknn_toolkit_call(rknn_toolkit* toolkit, const char* method,
                                           const char* options, const rknn_toolkit_array* arrays,
                                           uint32_t array_count);

/* After init_runtime, whose result names shape and dtype of every output: fills `outputs`. `options` has data_format
 * and inputs_pass_through as in Python, or is null. */
RKNN_TOOLKIT_API int32_t rknn_toolkit_inference(rknn_toolkit* toolkit, const char* options,
                                                const rknn_toolkit_array* inputs,
                                                uint32_t input_count,
                                                const rknn_toolkit_array* outputs,
                                                uint32_t output_count);

/* Before the model is loaded: graphs that are already loaded do not know the operator. */
RKNN_TOOLKIT_API int32_t rknn_toolkit_reg_custom_op(rknn_toolkit* toolkit,
                                                    const rknn_toolkit_custom_op* op);
/* From inside a function of a custom operator; the text is copied. */
RKNN_TOOLKIT_API void rknn_toolkit_answer(const char* text);

/* JSON text of this thread's last successful call, "null" when it has no result. */
RKNN_TOOLKIT_API const char* rknn_toolkit_result(void);
/* Why this thread's last call failed. */
RKNN_TOOLKIT_API const char* rknn_toolkit_error(void);

#ifdef __cplusplus
}
#endif

#endif
