// SPDX-License-Identifier: Apache-2.0
// GPU custom operators on whatever OpenCL there is, in practice PoCL.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/log.h"
#include "format/writer.h"
#include "openrknn_opencl.h"
#include "runtime/test_program.h"
#include "tests/e2e/figure.h"

namespace rk {
namespace {

constexpr char kSource[] =
    "__kernel void leaky(__global const float* x, __global float* y, float slope) {\n"
    "  const int i = get_global_id(0);\n"
    "  y[i] = x[i] >= 0 ? x[i] * SCALE : x[i] * slope;\n"
    "}\n";

const Shape kShape{1, 5, 3, 7};
constexpr int kElements = 105;

program::Program network(bool custom) {
  runtime::TestProgram p;
  const int32_t x = p.input("x", {DType::kI8, kShape, 0.05f, -3});
  const int32_t y = p.output("y", {DType::kF16, kShape});
  if (custom) {
    p.step("cstLeaky", {x}, {y}, program::OpParams{"custom.cstLeaky", {{"alpha", 0.125f}}});
  } else {
    p.step("LeakyRelu", {x}, {y}, program::OpParams{"LeakyRelu", {{"alpha", 0.125f}}});
  }
  return p.program;
}

rknn_context open(bool custom) {
  auto file = format::write_rknn(network(custom));
  EXPECT_TRUE(file.ok());
  rknn_context context = 0;
  EXPECT_EQ(rknn_init(&context, file->data(), static_cast<uint32_t>(file->size()),
                      RKNN_FLAG_COLLECT_PERF_MASK, nullptr),
            0);
  return context;
}

int leaky_compute(rknn_custom_op_context* op, rknn_custom_op_tensor* in, uint32_t,
                  rknn_custom_op_tensor* out, uint32_t) {
  const auto context = static_cast<cl_context>(op->gpu_ctx.cl_context);
  const auto queue = static_cast<cl_command_queue>(op->gpu_ctx.cl_command_queue);
  const auto kernel = static_cast<cl_kernel>(op->gpu_ctx.cl_kernel);
  rknn_custom_op_attr alpha{};
  rknn_custom_op_get_op_attr(op, "alpha", &alpha);
  cl_int error = 0;
  cl_mem x = openrknn_cl_import(context, queue, &in[0], CL_MEM_READ_ONLY, &error);
  if (x == nullptr) return error;
  cl_mem y = openrknn_cl_import(context, queue, &out[0], CL_MEM_WRITE_ONLY, &error);
  if (y == nullptr) return error;
  const size_t count = in[0].attr.n_elems;
  clSetKernelArg(kernel, 0, sizeof x, &x);
  clSetKernelArg(kernel, 1, sizeof y, &y);
  clSetKernelArg(kernel, 2, sizeof(float), alpha.data);
  error = clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &count, nullptr, 0, nullptr, nullptr);
  if (error == CL_SUCCESS) error = openrknn_cl_finish(queue, y, &out[0]);
  clReleaseMemObject(x);
  clReleaseMemObject(y);
  return error;
}

rknn_custom_op leaky_op() {
  rknn_custom_op op{};
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_GPU;
  std::strcpy(op.op_type, "cstLeaky");
  std::strcpy(op.cl_kernel_name, "leaky");
  op.cl_kernel_source = const_cast<char*>(kSource);
  op.cl_source_size = sizeof kSource - 1;
  std::strcpy(op.cl_build_options, "-DSCALE=1.0f");
  op.compute = leaky_compute;
  return op;
}

std::vector<float> run(rknn_context context) {
  std::vector<float> data(kElements);
  for (int i = 0; i < kElements; ++i) data[i] = static_cast<float>(i * 37 % 120 - 60) / 10.0f;
  rknn_input input{};
  input.buf = data.data();
  input.size = kElements * 4;
  input.type = RKNN_TENSOR_FLOAT32;
  input.fmt = RKNN_TENSOR_NCHW;
  EXPECT_EQ(rknn_inputs_set(context, 1, &input), 0);
  EXPECT_EQ(rknn_run(context, nullptr), 0);
  rknn_output output{};
  output.want_float = 1;
  if (rknn_outputs_get(context, 1, &output, nullptr) != 0) return {};
  const auto* const values = static_cast<const float*>(output.buf);
  std::vector<float> out(values, values + kElements);
  EXPECT_EQ(rknn_outputs_release(context, 1, &output), 0);
  return out;
}

bool has_device() {
  cl_uint count = 0;
  return clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS && count > 0;
}

class GpuOp : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("RKNN_TARGET");
    if (!has_device()) {
      ASSERT_EQ(std::getenv("RK_NEED_OPENCL"), nullptr) << "no OpenCL platform: install PoCL";
      GTEST_SKIP() << "no OpenCL platform: install pocl-opencl-icd";
    }
    set_log_sink([this](LogLevel level, std::string_view line) {
      if (level == LogLevel::kError) error_ = std::string(line);
    });
  }
  void TearDown() override { set_log_sink(nullptr); }
  std::string error_;
};

TEST_F(GpuOp, AKernelFromTextOrFileEqualsTheBuiltInOperator) {
  rknn_context context = open(false);
  const std::vector<float> wanted = run(context);
  EXPECT_EQ(rknn_destroy(context), 0);
  rknn_custom_op op = leaky_op();
  context = open(true);
  ASSERT_EQ(rknn_register_custom_ops(context, &op, 1), 0) << error_;
  e2e::figure_holds("GPU operator from source text against the built-in one",
                    run(context) == wanted, "equal", "equal");
  rknn_perf_detail detail{};
  ASSERT_EQ(rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), 0);
  const std::string table(detail.perf_data, detail.data_len);
  const size_t row = table.find("cstLeaky");
  ASSERT_NE(row, std::string::npos) << table;
  EXPECT_NE(table.substr(row, table.find('\n', row) - row).find("GPU"), std::string::npos) << table;
  EXPECT_EQ(rknn_destroy(context), 0);
  const std::string path = testing::TempDir() + "leaky_kernel_of_test.cl";
  std::ofstream(path) << kSource;
  op.cl_kernel_source = const_cast<char*>(path.c_str());
  op.cl_source_size = 0;
  context = open(true);
  ASSERT_EQ(rknn_register_custom_ops(context, &op, 1), 0) << error_;
  e2e::figure_holds("GPU operator from a .cl file against the built-in one", run(context) == wanted,
                    "equal", "equal");
  EXPECT_EQ(rknn_destroy(context), 0);
  std::remove(path.c_str());
}

TEST_F(GpuOp, TheBuildLogIsPartOfTheError) {
  rknn_custom_op op = leaky_op();
  std::strcpy(op.cl_build_options, "");  // SCALE is not defined
  const rknn_context context = open(true);
  EXPECT_EQ(rknn_register_custom_ops(context, &op, 1), RKNN_ERR_PARAM_INVALID);
  EXPECT_NE(error_.find("does not build"), std::string::npos) << error_;
  EXPECT_NE(error_.find("SCALE"), std::string::npos) << error_;
  op = leaky_op();
  std::strcpy(op.cl_kernel_name, "another");
  EXPECT_EQ(rknn_register_custom_ops(context, &op, 1), RKNN_ERR_PARAM_INVALID);
  EXPECT_NE(error_.find("has no kernel 'another'"), std::string::npos) << error_;
  op = leaky_op();
  op.cl_source_size = 0;
  op.cl_kernel_source = const_cast<char*>("/no/such/file.cl");
  EXPECT_NE(rknn_register_custom_ops(context, &op, 1), 0);
  EXPECT_NE(error_.find("/no/such/file.cl"), std::string::npos) << error_;
  EXPECT_EQ(rknn_destroy(context), 0);
}

}  // namespace
}  // namespace rk
