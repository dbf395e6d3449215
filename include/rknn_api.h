// SPDX-License-Identifier: Apache-2.0
// Run a converted .rknn model: load it, describe its tensors, feed it, run it, read the results.
// Binary compatible with SDK 2.3.2: names (misspelt ones too), values, field order and padding are
// fixed, so this file only ever changes together with tests/abi/abi_facts.json.
#ifndef _RKNN_API_H
#define _RKNN_API_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Flags of rknn_init, combined with |. The three priorities are values, not bits: give one of them.
#define RKNN_FLAG_PRIOR_HIGH 0x00000000  // default: served before medium and low
#define RKNN_FLAG_PRIOR_MEDIUM 0x00000001
#define RKNN_FLAG_PRIOR_LOW 0x00000002

// rknn_outputs_get hands out the previous frame's result, so that one thread can prepare the next
// input while a frame is computed. Needless when each thread has its own context.
#define RKNN_FLAG_ASYNC_MASK 0x00000004

// Time every layer. RKNN_QUERY_PERF_DETAIL needs it; the run itself becomes slower.
#define RKNN_FLAG_COLLECT_PERF_MASK 0x00000008

// Weight, internal, input and output memory all come from the caller, through rknn_set_weight_mem,
// rknn_set_internal_mem and rknn_set_io_mem, before the first run.
#define RKNN_FLAG_MEM_ALLOC_OUTSIDE 0x00000010

// Use the weights of the context in rknn_init_extend.ctx; this model was built without its own.
#define RKNN_FLAG_SHARE_WEIGHT_MEM 0x00000020

// Synchronize through fence file descriptors: wait for one before the run, give one back for it.
#define RKNN_FLAG_FENCE_IN_OUTSIDE 0x00000040
#define RKNN_FLAG_FENCE_OUT_OUTSIDE 0x00000080

// A context that answers RKNN_QUERY_MEM_SIZE and cannot run.
#define RKNN_FLAG_COLLECT_MODEL_INFO_ONLY 0x00000100

// Only internal memory comes from the caller, through rknn_set_internal_mem.
#define RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE 0x00000200

// Layers the NPU cannot do go to the GPU where possible, else to the CPU.
#define RKNN_FLAG_EXECUTE_FALLBACK_PRIOR_DEVICE_GPU 0x00000400

// Place internal tensors in on-chip SRAM as far as it reaches; share another context's SRAM.
#define RKNN_FLAG_ENABLE_SRAM 0x00000800
#define RKNN_FLAG_SHARE_SRAM 0x00001000

// Leave the nice value of the process alone.
#define RKNN_FLAG_DISABLE_PROC_HIGH_PRIORITY 0x00002000

// The caller has flushed inputs itself: not together with rknn_inputs_set.
#define RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE 0x00004000

// The caller calls rknn_mem_sync before it reads outputs: not together with rknn_outputs_get.
#define RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE 0x00008000

// The model pointer is memory of rknn_create_mem or rknn_create_mem2 and is used in place: it must
// outlive the context.
#define RKNN_FLAG_MODEL_BUFFER_ZERO_COPY 0x00010000

// A flag of rknn_create_mem2, not of rknn_init: allocate with context 0, before any model is
// loaded.
#define RKNN_MEM_FLAG_ALLOC_NO_CONTEXT 0x00020000

// Results. Success is 0 and every failure is negative; positive values do not occur.
#define RKNN_SUCC 0
#define RKNN_ERR_FAIL (-1)                // the run or the load failed; the log says why
#define RKNN_ERR_TIMEOUT (-2)             // the NPU job took longer than allowed
#define RKNN_ERR_DEVICE_UNAVAILABLE (-3)  // no NPU or board proxy can be reached
#define RKNN_ERR_MALLOC_FAIL (-4)         // out of memory, or a buffer could not be imported
#define RKNN_ERR_PARAM_INVALID (-5)       // a null pointer, a size too small, a bad combination
#define RKNN_ERR_MODEL_INVALID (-6)       // damaged file or unknown file version
#define RKNN_ERR_CTX_INVALID (-7)         // context 0, never made, or destroyed already
#define RKNN_ERR_INPUT_INVALID (-8)       // a bad rknn_input: index or buf
#define RKNN_ERR_OUTPUT_INVALID (-9)      // a bad rknn_output: index or buf
#define RKNN_ERR_DEVICE_UNMATCH (-10)     // library and driver do not fit each other
#define RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL (-11)
#define RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION (-12)
#define RKNN_ERR_TARGET_PLATFORM_UNMATCH (-13)  // the model or the call belongs to another chip

#define RKNN_MAX_DIMS 16                // dimensions of a tensor
#define RKNN_MAX_NUM_CHANNEL 15         // channels of an image input
#define RKNN_MAX_NAME_LEN 256           // bytes of a name, its terminating zero included
#define RKNN_MAX_DYNAMIC_SHAPE_NUM 512  // shapes of one input of a dynamic model

// A loaded model, ready to run; 0 is never one. Use a context from one thread at a time, and
// rknn_dup_context to give each thread its own.
#ifdef __arm__
typedef uint32_t rknn_context;
#else
typedef uint64_t rknn_context;
#endif

// What rknn_query is asked for, and the structure it fills. "set index" means that the caller
// writes the number of the tensor into the structure before the call.
typedef enum _rknn_query_cmd {
  RKNN_QUERY_IN_OUT_NUM = 0,     // rknn_input_output_num
  RKNN_QUERY_INPUT_ATTR = 1,     // rknn_tensor_attr, set index
  RKNN_QUERY_OUTPUT_ATTR = 2,    // rknn_tensor_attr, set index
  RKNN_QUERY_PERF_DETAIL = 3,    // rknn_perf_detail; after a run with COLLECT_PERF_MASK
  RKNN_QUERY_PERF_RUN = 4,       // rknn_perf_run; after a run
  RKNN_QUERY_SDK_VERSION = 5,    // rknn_sdk_version
  RKNN_QUERY_MEM_SIZE = 6,       // rknn_mem_size
  RKNN_QUERY_CUSTOM_STRING = 7,  // rknn_custom_string

  // The form that needs no conversion; rknn_tensor_attr, set index.
  RKNN_QUERY_NATIVE_INPUT_ATTR = 8,
  RKNN_QUERY_NATIVE_OUTPUT_ATTR = 9,
  RKNN_QUERY_NATIVE_NC1HWC2_INPUT_ATTR = 8,
  RKNN_QUERY_NATIVE_NC1HWC2_OUTPUT_ATTR = 9,
  RKNN_QUERY_NATIVE_NHWC_INPUT_ATTR = 10,
  RKNN_QUERY_NATIVE_NHWC_OUTPUT_ATTR = 11,

  RKNN_QUERY_DEVICE_MEM_INFO = 12,      // rknn_tensor_mem: where the model itself lies
  RKNN_QUERY_INPUT_DYNAMIC_RANGE = 13,  // rknn_input_range, set index; dynamic models

  // The shapes chosen by rknn_set_input_shapes, after that call; rknn_tensor_attr, set index.
  RKNN_QUERY_CURRENT_INPUT_ATTR = 14,
  RKNN_QUERY_CURRENT_OUTPUT_ATTR = 15,
  RKNN_QUERY_CURRENT_NATIVE_INPUT_ATTR = 16,
  RKNN_QUERY_CURRENT_NATIVE_OUTPUT_ATTR = 17,

  RKNN_QUERY_CMD_MAX
} rknn_query_cmd;

typedef enum _rknn_tensor_type {
  RKNN_TENSOR_FLOAT32 = 0,
  RKNN_TENSOR_FLOAT16,
  RKNN_TENSOR_INT8,
  RKNN_TENSOR_UINT8,
  RKNN_TENSOR_INT16,
  RKNN_TENSOR_UINT16,
  RKNN_TENSOR_INT32,
  RKNN_TENSOR_UINT32,
  RKNN_TENSOR_INT64,
  RKNN_TENSOR_BOOL,  // one byte per element
  RKNN_TENSOR_INT4,  // two elements per byte, the earlier one in the low half
  RKNN_TENSOR_BFLOAT16,

  RKNN_TENSOR_TYPE_MAX
} rknn_tensor_type;

// Short name of an element type, for printing. The text is static.
static inline const char* get_type_string(rknn_tensor_type type) {
  switch (type) {
    case RKNN_TENSOR_FLOAT32:
      return "FP32";
    case RKNN_TENSOR_FLOAT16:
      return "FP16";
    case RKNN_TENSOR_INT8:
      return "INT8";
    case RKNN_TENSOR_UINT8:
      return "UINT8";
    case RKNN_TENSOR_INT16:
      return "INT16";
    case RKNN_TENSOR_UINT16:
      return "UINT16";
    case RKNN_TENSOR_INT32:
      return "INT32";
    case RKNN_TENSOR_UINT32:
      return "UINT32";
    case RKNN_TENSOR_INT64:
      return "INT64";
    case RKNN_TENSOR_BOOL:
      return "BOOL";
    case RKNN_TENSOR_INT4:
      return "INT4";
    case RKNN_TENSOR_BFLOAT16:
      return "BF16";
    default:
      return "UNKNOW";
  }
}

// How stored integers stand for real numbers.
typedef enum _rknn_tensor_qnt_type {
  RKNN_TENSOR_QNT_NONE = 0,
  RKNN_TENSOR_QNT_DFP,                // real = stored / 2^fl
  RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC,  // real = (stored - zp) * scale

  RKNN_TENSOR_QNT_MAX
} rknn_tensor_qnt_type;

// Short name of a quantization scheme, for printing. The text is static.
static inline const char* get_qnt_type_string(rknn_tensor_qnt_type type) {
  switch (type) {
    case RKNN_TENSOR_QNT_NONE:
      return "NONE";
    case RKNN_TENSOR_QNT_DFP:
      return "DFP";
    case RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC:
      return "AFFINE";
    default:
      return "UNKNOW";
  }
}

// Order of the dimensions in memory, slowest first.
typedef enum _rknn_tensor_format {
  RKNN_TENSOR_NCHW = 0,
  RKNN_TENSOR_NHWC,
  RKNN_TENSOR_NC1HWC2,    // channels in blocks of C2, the last block padded; five dims
  RKNN_TENSOR_UNDEFINED,  // the model's own order; every tensor that is not four-dimensional

  RKNN_TENSOR_FORMAT_MAX
} rknn_tensor_format;

// Short name of a layout, for printing. The text is static.
static inline const char* get_format_string(rknn_tensor_format fmt) {
  switch (fmt) {
    case RKNN_TENSOR_NCHW:
      return "NCHW";
    case RKNN_TENSOR_NHWC:
      return "NHWC";
    case RKNN_TENSOR_NC1HWC2:
      return "NC1HWC2";
    case RKNN_TENSOR_UNDEFINED:
      return "UNDEFINED";
    default:
      return "UNKNOW";
  }
}

// NPU cores a context may use, on chips with more than one. Only these combinations exist.
typedef enum _rknn_core_mask {
  RKNN_NPU_CORE_AUTO = 0,  // one idle core, chosen anew for every run
  RKNN_NPU_CORE_0 = 1,
  RKNN_NPU_CORE_1 = 2,
  RKNN_NPU_CORE_2 = 4,
  RKNN_NPU_CORE_0_1 = RKNN_NPU_CORE_0 | RKNN_NPU_CORE_1,
  RKNN_NPU_CORE_0_1_2 = RKNN_NPU_CORE_0_1 | RKNN_NPU_CORE_2,
  RKNN_NPU_CORE_ALL = 0xffff,  // as many as the chip has

  RKNN_NPU_CORE_UNDEFINED
} rknn_core_mask;

// RKNN_QUERY_IN_OUT_NUM.
typedef struct _rknn_input_output_num {
  uint32_t n_input;
  uint32_t n_output;
} rknn_input_output_num;

// Description of one input or output: answer of the attribute queries, and the caller's wish in
// rknn_set_io_mem and rknn_set_input_shapes.
typedef struct _rknn_tensor_attr {
  uint32_t index;  // the caller sets it before a query

  uint32_t n_dims;  // dims in use
  uint32_t dims[RKNN_MAX_DIMS];
  char name[RKNN_MAX_NAME_LEN];

  uint32_t n_elems;
  uint32_t size;  // bytes, without row padding

  rknn_tensor_format fmt;
  rknn_tensor_type type;
  rknn_tensor_qnt_type qnt_type;
  int8_t fl;    // fractional bits, for RKNN_TENSOR_QNT_DFP
  int32_t zp;   // zero point, for RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC
  float scale;  // likewise

  uint32_t w_stride;  // pixels from one row to the next; read only; 0: rows mean nothing here
  uint32_t size_with_stride;  // bytes, with row padding: what to allocate for zero copy

  uint8_t pass_through;  // rknn_set_io_mem: 1 = the data is native already, do not convert
  uint32_t h_stride;     // rows from one image of a batch to the next; write only; 0: the height
} rknn_tensor_attr;

// RKNN_QUERY_INPUT_DYNAMIC_RANGE: the shapes one input may take. Shape k of this input goes with
// shape k of all other inputs.
typedef struct _rknn_input_range {
  uint32_t index;         // the caller sets it before the query
  uint32_t shape_number;  // rows of dyn_range in use
  rknn_tensor_format fmt;
  char name[RKNN_MAX_NAME_LEN];
  uint32_t dyn_range[RKNN_MAX_DYNAMIC_SHAPE_NUM][RKNN_MAX_DIMS];
  uint32_t n_dims;  // columns of dyn_range in use
} rknn_input_range;

// RKNN_QUERY_PERF_DETAIL. The text belongs to the context: do not free it, and read it before the
// next query or rknn_destroy.
typedef struct _rknn_perf_detail {
  char* perf_data;
  uint64_t data_len;  // bytes
} rknn_perf_detail;

// RKNN_QUERY_PERF_RUN.
typedef struct _rknn_perf_run {
  int64_t run_duration;  // microseconds, without setting inputs and getting outputs
} rknn_perf_run;

// RKNN_QUERY_SDK_VERSION.
typedef struct _rknn_sdk_version {
  char api_version[256];  // of this library
  char drv_version[256];  // of the NPU driver
} rknn_sdk_version;

// RKNN_QUERY_MEM_SIZE. All in bytes; inputs and outputs are not counted.
typedef struct _rknn_mem_size {
  uint32_t total_weight_size;
  uint32_t total_internal_size;
  uint64_t total_dma_allocated_size;
  uint32_t total_sram_size;
  uint32_t free_sram_size;
  uint32_t reserved[10];
} rknn_mem_size;

// RKNN_QUERY_CUSTOM_STRING: the text given when the model was converted.
typedef struct _rknn_custom_string {
  char string[1024];
} rknn_custom_string;

// Where a piece of tensor memory comes from.
typedef enum _rknn_tensor_mem_flags {
  RKNN_TENSOR_MEMORY_FLAGS_ALLOC_INSIDE = 1,
  RKNN_TENSOR_MEMORY_FLAGS_FROM_FD = 2,
  RKNN_TENSOR_MEMORY_FLAGS_FROM_PHYS = 3,

  RKNN_TENSOR_MEMORY_FLAGS_UNKNOWN
} rknn_tensor_mem_flags;

// Flags of rknn_create_mem2, combined with |.
typedef enum _rknn_mem_alloc_flags {
  RKNN_FLAG_MEMORY_FLAGS_DEFAULT = 0,  // cacheable
  RKNN_FLAG_MEMORY_CACHEABLE = 1,
  RKNN_FLAG_MEMORY_NON_CACHEABLE = 2,
  RKNN_FLAG_MEMORY_TRY_ALLOC_SRAM = 4  // SRAM first, the rest in main memory
} rknn_mem_alloc_flags;

// Direction of rknn_mem_sync.
typedef enum _rknn_mem_sync_mode {
  RKNN_MEMORY_SYNC_TO_DEVICE = 0x1,    // after the CPU wrote
  RKNN_MEMORY_SYNC_FROM_DEVICE = 0x2,  // before the CPU reads
  RKNN_MEMORY_SYNC_BIDIRECTIONAL = RKNN_MEMORY_SYNC_TO_DEVICE | RKNN_MEMORY_SYNC_FROM_DEVICE
} rknn_mem_sync_mode;

// Memory the NPU can reach. Made by the rknn_create_mem calls, released by rknn_destroy_mem.
typedef struct _rknn_tensor_memory {
  void* virt_addr;     // start of the buffer; the tensor begins at virt_addr + offset
  uint64_t phys_addr;  // 0 when unknown
  int32_t fd;          // dma-buf, -1 when there is none
  int32_t offset;      // bytes
  uint32_t size;       // bytes
  uint32_t flags;      // rknn_tensor_mem_flags
  void* priv_data;     // the library's own
} rknn_tensor_mem;

// One input for rknn_inputs_set. Zero the structure first: a forgotten type means FLOAT32.
typedef struct _rknn_input {
  uint32_t index;
  void* buf;             // copied by the call
  uint32_t size;         // bytes
  uint8_t pass_through;  // 1: buf has the model's native type and layout already
  rknn_tensor_type type;
  rknn_tensor_format fmt;  // NHWC or NCHW for four dimensions, otherwise UNDEFINED
} rknn_input;

// One output for rknn_outputs_get.
typedef struct _rknn_output {
  uint8_t want_float;   // 1: dequantized float32; 0: the output's own type
  uint8_t is_prealloc;  // 1: the caller supplies buf and size; 0: the library does
  uint32_t index;
  void* buf;
  uint32_t size;  // bytes
} rknn_output;

// Extras of rknn_init. Only the fields that the flags ask for are read.
typedef struct _rknn_init_extend {
  rknn_context ctx;             // SHARE_WEIGHT_MEM: the context that has the weights
  int32_t real_model_offset;    // bytes from the start of the file or buffer to the model in it
  uint32_t real_model_size;     // bytes of that model
  int32_t model_buffer_fd;      // MODEL_BUFFER_ZERO_COPY: fd of the model's rknn_tensor_mem
  uint32_t model_buffer_flags;  // MODEL_BUFFER_ZERO_COPY: flags of the model's rknn_tensor_mem
  uint8_t reserved[112];
} rknn_init_extend;

// Extras of rknn_run. Pass a null pointer unless fences are in use.
typedef struct _rknn_run_extend {
  uint64_t frame_id;
  int32_t non_block;
  int32_t timeout_ms;
  int32_t fence_fd;
} rknn_run_extend;

// Extras of rknn_outputs_get.
typedef struct _rknn_output_extend {
  uint64_t frame_id;
} rknn_output_extend;

// All functions that return int give RKNN_SUCC or a negative RKNN_ERR_*.

// Load a model. size > 0: `model` is a file image of that many bytes, free to go after the call
// (except with MODEL_BUFFER_ZERO_COPY). size 0: `model` is the path of a file. `extend` may be
// null. The caller ends the context with rknn_destroy.
int rknn_init(rknn_context* context, void* model, uint32_t size, uint32_t flag,
              rknn_init_extend* extend);

// A second context on the same model: weights are shared, everything else is its own, and the two
// may be destroyed in any order. Not for dynamic-shape models.
int rknn_dup_context(rknn_context* context_in, rknn_context* context_out);

// End a context. Memory made with the rknn_create_mem calls stays the caller's.
int rknn_destroy(rknn_context context);

// Answer one question about the model or the last run. `size` is that of the structure at `info`.
int rknn_query(rknn_context context, rknn_query_cmd cmd, void* info, uint32_t size);

// Convert and copy inputs into the model. Do not mix with rknn_set_io_mem on one context.
int rknn_inputs_set(rknn_context context, uint32_t n_inputs, rknn_input inputs[]);

// Spread the batch of a model built for batches over this many cores. Multi-core chips only.
int rknn_set_batch_core_num(rknn_context context, int core_num);

// Choose the cores. Multi-core chips only.
int rknn_set_core_mask(rknn_context context, rknn_core_mask core_mask);

// Compute one frame from the inputs now set. Returns when it is done. `extend` may be null.
int rknn_run(rknn_context context, rknn_run_extend* extend);

// Wait for a run that was started without blocking. No chip supports this.
int rknn_wait(rknn_context context, rknn_run_extend* extend);

// Read the results of the last run. Buffers that the library allocates (is_prealloc 0) stay valid
// until rknn_outputs_release. `extend` may be null.
int rknn_outputs_get(rknn_context context, uint32_t n_outputs, rknn_output outputs[],
                     rknn_output_extend* extend);

// Free the buffers that rknn_outputs_get allocated; the array and the caller's buffers remain.
int rknn_outputs_release(rknn_context context, uint32_t n_ouputs, rknn_output outputs[]);

// The rknn_create_mem calls return null when they fail. The caller owns the result and gives it to
// rknn_destroy_mem.

// Describe physically contiguous memory of the caller, which stays the caller's.
rknn_tensor_mem* rknn_create_mem_from_phys(rknn_context ctx, uint64_t phys_addr, void* virt_addr,
                                           uint32_t size);

// Describe a dma-buf of the caller, which stays the caller's. `virt_addr` is the start of the
// buffer; the tensor begins `offset` bytes behind it.
rknn_tensor_mem* rknn_create_mem_from_fd(rknn_context ctx, int32_t fd, void* virt_addr,
                                         uint32_t size, int32_t offset);

// Describe a block of the media framework's pool. No chip supports this.
rknn_tensor_mem* rknn_create_mem_from_mb_blk(rknn_context ctx, void* mb_blk, int32_t offset);

// Allocate cacheable memory of `size` bytes.
rknn_tensor_mem* rknn_create_mem(rknn_context ctx, uint32_t size);

// Allocate memory with rknn_mem_alloc_flags and RKNN_MEM_FLAG_ALLOC_NO_CONTEXT; with the latter
// `ctx` may be 0.
rknn_tensor_mem* rknn_create_mem2(rknn_context ctx, uint64_t size, uint64_t alloc_flags);

// Free a description, and its storage if the library allocated that. A context it is bound to must
// not run again before other memory is bound.
int rknn_destroy_mem(rknn_context ctx, rknn_tensor_mem* mem);

// Supply weight or internal memory, of the sizes in rknn_mem_size, before the first run. Contexts
// that never run at the same time may share internal memory. The caller keeps ownership.
int rknn_set_weight_mem(rknn_context ctx, rknn_tensor_mem* mem);
int rknn_set_internal_mem(rknn_context ctx, rknn_tensor_mem* mem);

// Bind memory to one input or output, once, not per frame. `attr` comes from a query; the caller
// may change type, fmt, size, pass_through and h_stride in it. The caller keeps ownership of `mem`.
int rknn_set_io_mem(rknn_context ctx, rknn_tensor_mem* mem, rknn_tensor_attr* attr);

// Retired: use rknn_set_input_shapes.
int rknn_set_input_shape(rknn_context ctx, rknn_tensor_attr* attr);

// Choose the shapes of all inputs of a dynamic model: before the first run and at every change,
// followed by new inputs. Each attr needs index, name, n_dims, dims and fmt.
int rknn_set_input_shapes(rknn_context ctx, uint32_t n_inputs, rknn_tensor_attr attr[]);

// Make the CPU and the NPU see the same bytes. `context` may be 0.
int rknn_mem_sync(rknn_context context, rknn_tensor_mem* mem, rknn_mem_sync_mode mode);

#ifdef __cplusplus
}
#endif

#endif  // _RKNN_API_H
