/* SPDX-License-Identifier: Apache-2.0
 * A tensor of a GPU custom operator as an OpenCL buffer, on every OpenCL: boards with a Mali GPU import its memory by file
 * descriptor, all others use the memory where it lies. Not part of the vendor's interface; needs CL/cl.h and libOpenCL.
 *
 *   cl_mem x = openrknn_cl_import(context, queue, &inputs[0], CL_MEM_READ_ONLY, &error);
 *   ... clSetKernelArg, clEnqueueNDRangeKernel ...
 *   openrknn_cl_finish(queue, y, &outputs[0]);   // results are where the CPU reads them
 *   clReleaseMemObject(x); clReleaseMemObject(y);
 */
#ifndef OPENRKNN_OPENCL_H
#define OPENRKNN_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "rknn_custom_op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the data of a tensor starts. */
static inline void* openrknn_tensor_data(const rknn_custom_op_tensor* tensor) {
  return (char*)tensor->mem.virt_addr + tensor->mem.offset;
}

/* cl_arm_import_memory, by its published types and values: stock headers do not have it. */
typedef cl_mem(CL_API_CALL* openrknn_import_memory_arm)(cl_context, cl_mem_flags, const intptr_t*,
                                                        void*, size_t, cl_int*);

static inline cl_mem openrknn_cl_import_fd(cl_context context, cl_command_queue queue,
                                           const rknn_custom_op_tensor* tensor,
                                           cl_mem_flags flags) {
  const intptr_t properties[] = {0x40B2 /* import type */, 0x40B4 /* dma-buf */, 0};
  cl_device_id device = NULL;
  cl_platform_id platform = NULL;
  openrknn_import_memory_arm import;
  cl_int error = CL_SUCCESS;
  cl_mem mem;
  int fd = tensor->mem.fd;
  if (fd < 0 || tensor->mem.offset != 0) return NULL;
  if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS)
    return NULL;
  if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS)
    return NULL;
  import = (openrknn_import_memory_arm)clGetExtensionFunctionAddressForPlatform(
      platform, "clImportMemoryARM");
  if (import == NULL) return NULL;
  mem = import(context, flags, properties, &fd, tensor->mem.size, &error);
  return error == CL_SUCCESS ? mem : NULL;
}

/* NULL on failure, with an OpenCL code in *error. The buffer is the caller's to release. */
static inline cl_mem openrknn_cl_import(cl_context context, cl_command_queue queue,
                                        const rknn_custom_op_tensor* tensor, cl_mem_flags flags,
                                        cl_int* error) {
  cl_mem mem = openrknn_cl_import_fd(context, queue, tensor, flags);
  if (mem != NULL) {
    *error = CL_SUCCESS;
    return mem;
  }
  return clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, tensor->mem.size,
                        openrknn_tensor_data(tensor), error);
}

/* Waits for the queue; afterwards the CPU sees what kernels wrote to the buffer of an output. */
static inline cl_int openrknn_cl_finish(cl_command_queue queue, cl_mem mem,
                                        const rknn_custom_op_tensor* tensor) {
  cl_int error = CL_SUCCESS;
  void* const mapped = clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, tensor->mem.size, 0,
                                          NULL, NULL, &error);
  if (mapped == NULL) return error;
  error = clEnqueueUnmapMemObject(queue, mem, mapped, 0, NULL, NULL);
  return error == CL_SUCCESS ? clFinish(queue) : error;
}

#ifdef __cplusplus
}
#endif

#endif /* OPENRKNN_OPENCL_H */
