// SPDX-License-Identifier: Apache-2.0
// OpenCL for custom operators, loaded when the first GPU operator asks for it: nothing else needs it. One context and one
// queue serve the process.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace rk::runtime {

struct GpuSource {
  std::string kernel_name;
  std::string text;     // the program
  std::string options;  // for the compiler
};

// A kernel with the context and queue it lives in, as the opaque pointers of rknn_gpu_op_context.
class GpuKernel {
 public:
  // kUnavailable without a library or device, with what to install; kInvalidArgument where the source does not build,
  // with the compiler's log, or has no such kernel.
  static Result<std::unique_ptr<GpuKernel>> make(const GpuSource& source);
  ~GpuKernel();
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  void* context() const;
  void* queue() const;
  void* kernel() const { return kernel_; }

 private:
  GpuKernel() = default;
  void* program_ = nullptr;
  void* kernel_ = nullptr;
};

}  // namespace rk::runtime
