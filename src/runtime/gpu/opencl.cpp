// SPDX-License-Identifier: Apache-2.0
// The few OpenCL 1.2 functions that are needed, by their published types and values; no header, so that the library builds
// and runs without OpenCL.
#include "runtime/gpu/opencl.h"

#include <dlfcn.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "base/symbol.h"

namespace rk::runtime {
namespace {

using Object = void*;  // cl_platform_id, cl_device_id, cl_context, ...
constexpr uint64_t kDeviceTypeGpu = 1 << 2, kDeviceTypeAll = 0xffffffff;
constexpr uint32_t kProgramBuildLog = 0x1183, kDeviceName = 0x102b;

struct Functions {
  int32_t (*get_platforms)(uint32_t, Object*, uint32_t*) = nullptr;
  int32_t (*get_devices)(Object, uint64_t, uint32_t, Object*, uint32_t*) = nullptr;
  int32_t (*device_info)(Object, uint32_t, size_t, void*, size_t*) = nullptr;
  Object (*create_context)(const intptr_t*, uint32_t, const Object*,
                           void (*)(const char*, const void*, size_t, void*), void*,
                           int32_t*) = nullptr;
  Object (*create_queue)(Object, Object, uint64_t, int32_t*) = nullptr;
  Object (*create_program)(Object, uint32_t, const char**, const size_t*, int32_t*) = nullptr;
  int32_t (*build_program)(Object, uint32_t, const Object*, const char*, void (*)(Object, void*),
                           void*) = nullptr;
  int32_t (*build_info)(Object, Object, uint32_t, size_t, void*, size_t*) = nullptr;
  Object (*create_kernel)(Object, const char*, int32_t*) = nullptr;
  int32_t (*release_program)(Object) = nullptr;
  int32_t (*release_kernel)(Object) = nullptr;
};

struct OpenCl {
  Functions call;
  Object device = nullptr;
  Object context = nullptr;
  Object queue = nullptr;
};

constexpr const char* kInstall =
    "install the package ocl-icd-libopencl1 and a driver, for example pocl-opencl-icd";

Result<Functions> load() {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return Status(Code::kUnavailable,
                  str("a GPU operator needs OpenCL: ",
                      why == nullptr ? "libOpenCL.so.1 is missing" : why, "; ", kInstall));
  }
  Functions f;
  const bool complete = find_symbol(library, "clGetPlatformIDs", f.get_platforms) &&
                        find_symbol(library, "clGetDeviceIDs", f.get_devices) &&
                        find_symbol(library, "clGetDeviceInfo", f.device_info) &&
                        find_symbol(library, "clCreateContext", f.create_context) &&
                        find_symbol(library, "clCreateCommandQueue", f.create_queue) &&
                        find_symbol(library, "clCreateProgramWithSource", f.create_program) &&
                        find_symbol(library, "clBuildProgram", f.build_program) &&
                        find_symbol(library, "clGetProgramBuildInfo", f.build_info) &&
                        find_symbol(library, "clCreateKernel", f.create_kernel) &&
                        find_symbol(library, "clReleaseProgram", f.release_program) &&
                        find_symbol(library, "clReleaseKernel", f.release_kernel);
  if (!complete)
    return Status(Code::kUnavailable,
                  str("libOpenCL.so.1 lacks functions of OpenCL 1.2; ", kInstall));
  return f;
}

// A GPU where there is one, else whatever computes.
Object choose_device(const Functions& f) {
  uint32_t count = 0;
  if (f.get_platforms(0, nullptr, &count) != 0 || count == 0) return nullptr;
  std::vector<Object> platforms(count);
  if (f.get_platforms(count, platforms.data(), nullptr) != 0) return nullptr;
  for (const uint64_t type : {kDeviceTypeGpu, kDeviceTypeAll}) {
    for (Object platform : platforms) {
      Object device = nullptr;
      uint32_t found = 0;
      if (f.get_devices(platform, type, 1, &device, &found) == 0 && found > 0) return device;
    }
  }
  return nullptr;
}

Result<OpenCl> start() {
  OpenCl cl;
  RK_ASSIGN(cl.call, load());
  cl.device = choose_device(cl.call);
  if (cl.device == nullptr)
    return Status(Code::kUnavailable, str("OpenCL has no device; ", kInstall));
  int32_t error = 0;
  cl.context = cl.call.create_context(nullptr, 1, &cl.device, nullptr, nullptr, &error);
  if (cl.context != nullptr) cl.queue = cl.call.create_queue(cl.context, cl.device, 0, &error);
  if (cl.context == nullptr || cl.queue == nullptr)
    return Status(Code::kUnavailable, str("OpenCL error ", error, " while making a context"));
  char name[256] = "";
  cl.call.device_info(cl.device, kDeviceName, sizeof name - 1, name, nullptr);
  log(LogLevel::kInfo, str("GPU operators run on OpenCL device '", name, "'"));
  return cl;
}

// Tried again after a failure. What was made stays as long as the process: drivers do not like to be unloaded.
Result<const OpenCl*> opencl() {
  static std::mutex mutex;
  static const OpenCl* instance = nullptr;
  const std::lock_guard lock(mutex);
  if (instance == nullptr) {
    RK_ASSIGN(OpenCl cl, start());
    instance = new OpenCl(cl);
  }
  return instance;
}

std::string build_log(const OpenCl& cl, Object program) {
  size_t size = 0;
  cl.call.build_info(program, cl.device, kProgramBuildLog, 0, nullptr, &size);
  std::string text(size, '\0');
  if (size != 0)
    cl.call.build_info(program, cl.device, kProgramBuildLog, size, text.data(), nullptr);
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

}  // namespace

Result<std::unique_ptr<GpuKernel>> GpuKernel::make(const GpuSource& source) {
  RK_ASSIGN(const OpenCl* const cl, opencl());
  std::unique_ptr<GpuKernel> out(new GpuKernel);
  const char* text = source.text.c_str();
  const size_t size = source.text.size();
  int32_t error = 0;
  out->program_ = cl->call.create_program(cl->context, 1, &text, &size, &error);
  if (out->program_ == nullptr)
    return Status(Code::kUnavailable, str("OpenCL error ", error, " while reading the source"));
  error = cl->call.build_program(out->program_, 1, &cl->device, source.options.c_str(), nullptr,
                                 nullptr);
  if (error != 0)
    return invalid_argument(str("the OpenCL source of kernel '", source.kernel_name,
                                "' does not build (error ", error, ", options '", source.options,
                                "'):\n", build_log(*cl, out->program_)));
  out->kernel_ = cl->call.create_kernel(out->program_, source.kernel_name.c_str(), &error);
  if (out->kernel_ == nullptr)
    return invalid_argument(
        str("the OpenCL source has no kernel '", source.kernel_name, "' (error ", error, ")"));
  return out;
}

GpuKernel::~GpuKernel() {
  const auto cl = opencl();
  if (!cl.ok()) return;
  if (kernel_ != nullptr) (*cl)->call.release_kernel(kernel_);
  if (program_ != nullptr) (*cl)->call.release_program(program_);
}

void* GpuKernel::context() const { return opencl().value()->context; }
void* GpuKernel::queue() const { return opencl().value()->queue; }

}  // namespace rk::runtime
