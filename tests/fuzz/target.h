// SPDX-License-Identifier: Apache-2.0
// One reader, fed with any bytes. `make fuzz` builds each target with libFuzzer; the replay program holds all of them and
// runs stored files, so that what was found once is tried in every `make test`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rk::fuzz {

using Bytes = std::span<const uint8_t>;

// Extents and networks that are sound but enormous are read, not run: multiplications plus some effort per element.
inline constexpr uint64_t kMaxWork = 20'000'000;

#define RK_FUZZ_TARGETS(X) \
  X(rknn)                  \
  X(info)                  \
  X(lift)                  \
  X(program)               \
  X(onnx)                  \
  X(tflite)                \
  X(tensorflow)            \
  X(darknet)               \
  X(caffe)                 \
  X(torchscript)           \
  X(graph_text)            \
  X(json)                  \
  X(bson)                  \
  X(npy)                   \
  X(picture)               \
  X(hybrid)                \
  X(options)               \
  X(formula)               \
  X(capi)

#define RK_DECLARE(name) void fuzz_##name(Bytes bytes);
RK_FUZZ_TARGETS(RK_DECLARE)
#undef RK_DECLARE

}  // namespace rk::fuzz

// libFuzzer's entry point, in the one target that a program is made of.
#ifdef RK_LIBFUZZER
#define RK_FUZZ_ENTRY(name)                                                 \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    rk::fuzz::fuzz_##name({data, size});                                    \
    return 0;                                                               \
  }                                                                         \
  extern "C" int LLVMFuzzerInitialize(int*, char***) {                      \
    rk::set_log_level(0);                                                   \
    return 0;                                                               \
  }
#else
#define RK_FUZZ_ENTRY(name)
#endif
