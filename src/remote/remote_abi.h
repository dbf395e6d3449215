/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of librknn_remote.so, which holds gRPC and is loaded when a device is named. Texts are JSON, so that the
 * functions do not change when an option is added.
 *
 * Note: texts and output data belong to the connection and live until its next call. One thread at a time uses a
 * connection. */
#ifndef RKNN_REMOTE_ABI_H
#define RKNN_REMOTE_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKNN_REMOTE_ABI_VERSION 1

/* Results: 0 or one of these; rknn_remote_text says what was wrong. */
#define RKNN_REMOTE_INVALID_ARGUMENT 1
#define RKNN_REMOTE_UNAVAILABLE \
  2                           /* nobody answers, or the connection broke: another try may succeed */
#define RKNN_REMOTE_REFUSED 3 /* token or certificate */
#define RKNN_REMOTE_EXHAUSTED 4 /* a limit of the server */
#define RKNN_REMOTE_GONE 5      /* the session or the model is not there (any more) */
#define RKNN_REMOTE_FAILED 6

typedef struct rknn_remote rknn_remote;

typedef struct rknn_remote_tensor {
  const char* name;
  int32_t type;   /* rknn_tensor_type */
  int32_t format; /* rknn_tensor_format of an input; UNDEFINED: as the model has it */
  int32_t native; /* input: pass through; output: the model's own type instead of float32 */
  uint32_t rank;
  int64_t dims[16];
  const void* data;
  uint64_t size_bytes;
} rknn_remote_tensor;

int32_t rknn_remote_abi_version(void);

/* `options`: address "host:port" or "unix:path", token, tls_ca, tls_cert, tls_key (PEM texts), version, timeout_ms. The
 * connection is made even on failure, for its text, unless memory is short. */
int32_t rknn_remote_open(const char* options, rknn_remote** out);
/* Accepts null. The server frees what the connection held. */
void rknn_remote_close(rknn_remote* remote);

/* `method`: hello, status, load (name, flags, core_mask; `bytes` is the file), unload, describe, performance (name).
 * The answer is rknn_remote_text. */
int32_t rknn_remote_call(rknn_remote* remote, const char* method, const char* options,
                         const void* bytes, uint64_t size_bytes);

/* `outputs` in: names and native, or count 0 for all. Out: as many as the model gives, at most `capacity`. */
int32_t rknn_remote_infer(rknn_remote* remote, const char* model, const rknn_remote_tensor* inputs,
                          uint32_t input_count, rknn_remote_tensor* outputs, uint32_t* output_count,
                          uint32_t capacity);

/* The answer of the last call, or why it failed. */
const char* rknn_remote_text(const rknn_remote* remote);

#ifdef __cplusplus
}
#endif

#endif
