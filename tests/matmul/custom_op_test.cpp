// SPDX-License-Identifier: Apache-2.0
// rknn_custom_op.h: life cycle, attributes, views, fall-back, plug-ins, and a network whose custom operators repeat
// built-in ones.
#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/log.h"
#include "base/npy.h"
#include "format/writer.h"
#include "rknn_custom_op.h"
#include "runtime/test_program.h"
#include "tests/e2e/figure.h"

namespace rk {
namespace {

using program::OpParams;
using runtime::TestProgram;

constexpr int kChannels = 6, kHeight = 4, kWidth = 5, kElements = kChannels * kHeight * kWidth;
const Shape kShape{1, kChannels, kHeight, kWidth};

// x (int8) -> Softmax over channels (float16) and y (float32) -> sum and difference.
program::Program network(bool custom) {
  TestProgram p;
  const int32_t x = p.input("x", {DType::kI8, kShape, 0.05f, -3});
  const int32_t y = p.input("y", {DType::kF16, kShape});
  const int32_t share = p.internal("share", {DType::kF16, kShape});
  const int32_t sum = p.output("sum", {DType::kF16, kShape});
  const int32_t difference = p.output("difference", {DType::kI8, kShape, 0.02f, 5});
  if (custom) {
    p.step("cstSoftmax", {x}, {share},
           OpParams{"custom.cstSoftmax",
                    {{"axis", int64_t{1}},
                     {"factor", 0.5f},
                     {"label", std::string("hello")},
                     {"pads", std::vector<int64_t>{1, 2, 3}},
                     {"weights", std::vector<float>{0.25f, 4.0f}}}});
    p.step("cstPair", {share, y}, {sum, difference}, OpParams{"custom.cstPair", {}});
  } else {
    p.step("Softmax", {x}, {share}, OpParams{"Softmax", {{"axis", int64_t{1}}}});
    p.step("Add", {share, y}, {sum}, OpParams{"Add", {}});
    p.step("Sub", {share, y}, {difference}, OpParams{"Sub", {}});
  }
  return p.program;
}

std::vector<uint8_t> image(const program::Program& program) {
  auto file = format::write_rknn(program);
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? std::move(file).value() : std::vector<uint8_t>{};
}

rknn_context open(const program::Program& program, uint32_t flags = 0) {
  std::vector<uint8_t> file = image(program);
  rknn_context context = 0;
  EXPECT_EQ(rknn_init(&context, file.data(), static_cast<uint32_t>(file.size()), flags, nullptr),
            0);
  return context;
}

std::vector<float> picture(int seed) {
  std::vector<float> out(kElements);
  for (int i = 0; i < kElements; ++i)
    out[i] = static_cast<float>((i * 7919 + seed * 104729) % 257 - 128) / 64.0f;
  return out;
}

int run(rknn_context context, std::vector<std::vector<float>>* results = nullptr) {
  std::vector<float> data[2] = {picture(1), picture(2)};
  rknn_input inputs[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    inputs[i].index = i;
    inputs[i].buf = data[i].data();
    inputs[i].size = kElements * 4;
    inputs[i].type = RKNN_TENSOR_FLOAT32;
    inputs[i].fmt = RKNN_TENSOR_NCHW;
  }
  EXPECT_EQ(rknn_inputs_set(context, 2, inputs), 0);
  if (const int code = rknn_run(context, nullptr); code != 0) return code;
  if (results == nullptr) return 0;
  rknn_output outputs[2] = {};
  for (rknn_output& output : outputs) output.want_float = 1;
  EXPECT_EQ(rknn_outputs_get(context, 2, outputs, nullptr), 0);
  results->clear();
  for (const rknn_output& output : outputs) {
    const auto* const values = static_cast<const float*>(output.buf);
    results->emplace_back(values, values + kElements);
  }
  return rknn_outputs_release(context, 2, outputs);
}

// What the callbacks saw.
struct Calls {
  int init = 0, prepare = 0, compute = 0, destroy = 0;
  int init_answer = 0, compute_answer = 0;
  std::vector<std::string> problems;
};
Calls calls;

void note(bool holds, const char* what) {
  if (!holds) calls.problems.push_back(what);
}

const float* data_of(const rknn_custom_op_tensor& tensor) {
  return reinterpret_cast<const float*>(static_cast<const uint8_t*>(tensor.mem.virt_addr) +
                                        tensor.mem.offset);
}
float* data_of(rknn_custom_op_tensor& tensor) {
  return const_cast<float*>(data_of(static_cast<const rknn_custom_op_tensor&>(tensor)));
}

int softmax_init(rknn_custom_op_context* context, rknn_custom_op_tensor* inputs, uint32_t n_inputs,
                 rknn_custom_op_tensor* outputs, uint32_t n_outputs) {
  ++calls.init;
  if (calls.init_answer != 0) return calls.init_answer;
  note(n_inputs == 1 && n_outputs == 1, "one input and one output");
  note(inputs[0].attr.type == RKNN_TENSOR_FLOAT32 && inputs[0].attr.fmt == RKNN_TENSOR_NCHW,
       "an int8 input is seen as float32 NCHW");
  note(inputs[0].attr.n_dims == 4 && inputs[0].attr.dims[1] == kChannels, "dims");
  note(inputs[0].attr.n_elems == kElements && inputs[0].attr.size == kElements * 4, "sizes");
  note(outputs[0].attr.type == RKNN_TENSOR_FLOAT32, "a float16 output is seen as float32");
  note(inputs[0].mem.fd >= 0 && outputs[0].mem.fd >= 0, "memory has a file descriptor");
  rknn_custom_op_attr attr;
  std::memset(&attr, 0xee, sizeof attr);
  rknn_custom_op_get_op_attr(context, "axis", &attr);
  note(attr.n_elems == 1 && attr.dtype == RKNN_TENSOR_INT64, "axis is one INT64");
  context->priv_data = new int64_t(attr.n_elems == 1 ? *static_cast<int64_t*>(attr.data) : -1);
  rknn_custom_op_get_op_attr(context, "factor", &attr);
  note(attr.n_elems == 1 && attr.dtype == RKNN_TENSOR_FLOAT32 &&
           *static_cast<float*>(attr.data) == 0.5f,
       "factor is 0.5");
  rknn_custom_op_get_op_attr(context, "label", &attr);
  note(attr.n_elems == 5 && attr.dtype == RKNN_TENSOR_UINT8 &&
           std::memcmp(attr.data, "hello", 5) == 0,
       "label is hello");
  rknn_custom_op_get_op_attr(context, "pads", &attr);
  note(attr.n_elems == 3 && static_cast<int64_t*>(attr.data)[2] == 3, "pads is 1, 2, 3");
  rknn_custom_op_get_op_attr(context, "weights", &attr);
  note(attr.n_elems == 2 && static_cast<float*>(attr.data)[1] == 4.0f, "weights is 0.25, 4");
  rknn_custom_op_get_op_attr(context, "name", &attr);
  note(attr.dtype == RKNN_TENSOR_UINT8 &&
           std::string(static_cast<char*>(attr.data), attr.n_elems) == "cstSoftmax:node0",
       "name is the node's");
  rknn_custom_op_get_op_attr(context, "missing", &attr);
  note(attr.n_elems == 0 && attr.data == nullptr, "an unknown attribute has no elements");
  return 0;
}

int softmax_prepare(rknn_custom_op_context*, rknn_custom_op_tensor*, uint32_t,
                    rknn_custom_op_tensor*, uint32_t) {
  ++calls.prepare;
  return 0;
}

int softmax_compute(rknn_custom_op_context* context, rknn_custom_op_tensor* inputs, uint32_t,
                    rknn_custom_op_tensor* outputs, uint32_t) {
  ++calls.compute;
  note(context->priv_data != nullptr && *static_cast<int64_t*>(context->priv_data) == 1,
       "priv_data stays");
  const float* const in = data_of(inputs[0]);
  float* const out = data_of(outputs[0]);
  constexpr int kPlane = kHeight * kWidth;
  for (int p = 0; p < kPlane; ++p) {
    double sum = 0;
    for (int c = 0; c < kChannels; ++c) sum += std::exp(double{in[c * kPlane + p]});
    for (int c = 0; c < kChannels; ++c)
      out[c * kPlane + p] = static_cast<float>(std::exp(double{in[c * kPlane + p]}) / sum);
  }
  return calls.compute_answer;
}

int softmax_destroy(rknn_custom_op_context* context) {
  ++calls.destroy;
  delete static_cast<int64_t*>(context->priv_data);
  return 0;
}

int pair_compute(rknn_custom_op_context*, rknn_custom_op_tensor* inputs, uint32_t n_inputs,
                 rknn_custom_op_tensor* outputs, uint32_t n_outputs) {
  note(n_inputs == 2 && n_outputs == 2, "two inputs and two outputs");
  for (int i = 0; i < kElements; ++i) {
    data_of(outputs[0])[i] = data_of(inputs[0])[i] + data_of(inputs[1])[i];
    data_of(outputs[1])[i] = data_of(inputs[0])[i] - data_of(inputs[1])[i];
  }
  return 0;
}

rknn_custom_op softmax_op() {
  rknn_custom_op op{};
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_CPU;
  std::strcpy(op.op_type, "cstSoftmax");
  op.init = softmax_init;
  op.prepare = softmax_prepare;
  op.compute = softmax_compute;
  op.destroy = softmax_destroy;
  return op;
}

rknn_custom_op pair_op() {
  rknn_custom_op op{};
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_CPU;
  std::strcpy(op.op_type, "cstPair");
  op.compute = pair_compute;
  return op;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    worst = std::max(worst, std::fabs(double{a[i]} - b[i]));
  return worst;
}

class CustomOp : public testing::Test {
 protected:
  void SetUp() override {
    calls = {};
    unsetenv("RKNN_TARGET");
    unsetenv("RKNN_OP_PLUGIN_DIR");
    error_.clear();
    set_log_sink([this](LogLevel level, std::string_view line) {
      if (level == LogLevel::kError) error_ = std::string(line);
    });
  }
  void TearDown() override {
    set_log_sink(nullptr);
    for (const std::string& problem : calls.problems) ADD_FAILURE() << "not so: " << problem;
  }
  std::string error_;
};

TEST_F(CustomOp, TheSameNetworkWithBuiltInOperatorsGivesTheSameResult) {
  std::vector<std::vector<float>> built_in, custom;
  rknn_context context = open(network(false));
  ASSERT_EQ(run(context, &built_in), 0);
  EXPECT_EQ(rknn_destroy(context), 0);
  context = open(network(true), RKNN_FLAG_COLLECT_PERF_MASK);
  EXPECT_EQ(run(context), RKNN_ERR_FAIL);
  EXPECT_NE(error_.find("needs the custom operator 'cstSoftmax'"), std::string::npos) << error_;
  // In another order than in the model.
  rknn_custom_op ops[] = {pair_op(), softmax_op()};
  ASSERT_EQ(rknn_register_custom_ops(context, ops, 2), 0);
  EXPECT_EQ(calls.init, 1);
  std::memset(ops, 0xee, sizeof ops);  // the array was copied
  ASSERT_EQ(run(context, &custom), 0);
  ASSERT_EQ(run(context, &custom), 0);
  EXPECT_EQ(calls.prepare, 2);
  EXPECT_EQ(calls.compute, 2);
  EXPECT_EQ(calls.destroy, 0);
  rknn_perf_detail detail{};
  ASSERT_EQ(rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail), 0);
  EXPECT_NE(std::string(detail.perf_data).find("cstSoftmax"), std::string::npos);
  EXPECT_EQ(rknn_destroy(context), 0);
  EXPECT_EQ(calls.destroy, 1);
  // float16 and int8 outputs: one step of each where a sum lies between two.
  e2e::figure_at_most("custom operators against built-in ones, float16 output, largest difference",
                      largest_difference(built_in[0], custom[0]), 0.002);
  e2e::figure_at_most("custom operators against built-in ones, int8 output, largest difference",
                      largest_difference(built_in[1], custom[1]), 0.0201);
}

// The words of a row of RKNN_QUERY_PERF_DETAIL: ID, OpType, DataType, Target, InputShape, OutputShape, Cycles, Time(us)...
std::vector<std::string> perf_row(rknn_context context, std::string_view type) {
  rknn_perf_detail detail{};
  if (rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail) != 0) return {};
  std::istringstream text(std::string(detail.perf_data, detail.data_len));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    const std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
    if (row.size() > 7 && row[1] == type) return row;
  }
  return {};
}

TEST_F(CustomOp, ItsRowHasTheTimeOfTheCallbackAndTheProcessor) {
  rknn_context context = open(network(true), RKNN_FLAG_COLLECT_PERF_MASK);
  rknn_custom_op pair = pair_op(), slow = softmax_op();
  slow.prepare = [](rknn_custom_op_context*, rknn_custom_op_tensor*, uint32_t,
                    rknn_custom_op_tensor*, uint32_t) {
    usleep(20000);
    return 0;
  };
  ASSERT_EQ(rknn_register_custom_ops(context, &slow, 1), 0);
  ASSERT_EQ(rknn_register_custom_ops(context, &pair, 1), 0);
  ASSERT_EQ(run(context), 0) << error_;
  const std::vector<std::string> row = perf_row(context, "cstSoftmax");
  ASSERT_FALSE(row.empty());
  EXPECT_EQ(row[3], "CPU");
  EXPECT_GE(std::stol(row[7]), 20000);
  EXPECT_EQ(rknn_destroy(context), 0);
}

TEST_F(CustomOp, OperatorsOfTheLibraryAreShownWhereTheyArePlaced) {
  program::Program placed = network(false);
  placed.variants[0].steps[1].processor = program::Processor::kGpu;
  placed.variants[0].steps[2].processor = program::Processor::kCpu;
  for (const uint32_t flag : {0, RKNN_FLAG_EXECUTE_FALLBACK_PRIOR_DEVICE_GPU}) {
    rknn_context context = open(placed, RKNN_FLAG_COLLECT_PERF_MASK | flag);
    ASSERT_EQ(run(context), 0) << error_;
    EXPECT_EQ(perf_row(context, "Softmax").at(3), "NPU");
    EXPECT_EQ(perf_row(context, "Add").at(3), "GPU");
    EXPECT_EQ(perf_row(context, "Sub").at(3), flag == 0 ? "CPU" : "GPU");
    EXPECT_EQ(rknn_destroy(context), 0);
  }
}

TEST_F(CustomOp, WhatCannotBeRegisteredIsRefusedAndChangesNothing) {
  rknn_context context = open(network(true));
  rknn_custom_op op = softmax_op();
  EXPECT_EQ(rknn_register_custom_ops(context, nullptr, 1), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_register_custom_ops(context, &op, 0), RKNN_ERR_PARAM_INVALID);
  EXPECT_EQ(rknn_register_custom_ops(context + 1000, &op, 1), RKNN_ERR_CTX_INVALID);
  op.compute = nullptr;
  EXPECT_EQ(rknn_register_custom_ops(context, &op, 1), RKNN_ERR_PARAM_INVALID);
  op = softmax_op();
  op.target = static_cast<rknn_target_type>(9);
  EXPECT_EQ(rknn_register_custom_ops(context, &op, 1), RKNN_ERR_PARAM_INVALID);
  rknn_custom_op twice[] = {softmax_op(), softmax_op()};
  EXPECT_EQ(rknn_register_custom_ops(context, twice, 2), RKNN_ERR_PARAM_INVALID);
  EXPECT_NE(error_.find("registered twice"), std::string::npos) << error_;
  calls.init_answer = -5;
  rknn_custom_op both[] = {pair_op(), softmax_op()};
  EXPECT_EQ(rknn_register_custom_ops(context, both, 2), RKNN_ERR_FAIL);
  EXPECT_NE(error_.find("callback init of the custom operator 'cstSoftmax' returned -5"),
            std::string::npos)
      << error_;
  // Nothing of the kind is built in.
  calls.init_answer = RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE;
  EXPECT_EQ(rknn_register_custom_ops(context, both, 2), RKNN_ERR_FAIL);
  calls.init_answer = 0;
  ASSERT_EQ(rknn_register_custom_ops(context, both, 2), 0);
  EXPECT_EQ(rknn_register_custom_ops(context, both, 2), RKNN_ERR_PARAM_INVALID);
  calls.compute_answer = -1;
  EXPECT_EQ(run(context), RKNN_ERR_FAIL);
  EXPECT_NE(error_.find("callback compute of the custom operator 'cstSoftmax' returned -1"),
            std::string::npos)
      << error_;
  calls.compute_answer = 0;
  EXPECT_EQ(run(context), 0);
  EXPECT_EQ(rknn_destroy(context), 0);
}

TEST_F(CustomOp, AStandardOperatorIsReplacedOrLeftToTheLibrary) {
  std::vector<std::vector<float>> built_in, replaced, left;
  rknn_context context = open(network(false));
  ASSERT_EQ(run(context, &built_in), 0);
  rknn_custom_op op{};
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_CPU;
  std::strcpy(op.op_type, "Add");
  op.compute = [](rknn_custom_op_context*, rknn_custom_op_tensor*, uint32_t,
                  rknn_custom_op_tensor* outputs, uint32_t) {
    std::fill_n(data_of(outputs[0]), kElements, 42.0f);
    return 0;
  };
  ASSERT_EQ(rknn_register_custom_ops(context, &op, 1), 0);
  ASSERT_EQ(run(context, &replaced), 0);
  EXPECT_EQ(replaced[0], std::vector<float>(kElements, 42.0f));
  EXPECT_EQ(replaced[1], built_in[1]);
  EXPECT_EQ(rknn_destroy(context), 0);
  context = open(network(false));
  op.init = [](rknn_custom_op_context*, rknn_custom_op_tensor*, uint32_t, rknn_custom_op_tensor*,
               uint32_t) { return RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE; };
  ASSERT_EQ(rknn_register_custom_ops(context, &op, 1), 0);
  ASSERT_EQ(run(context, &left), 0);
  EXPECT_EQ(left, built_in);
  EXPECT_EQ(rknn_destroy(context), 0);
}

TEST_F(CustomOp, ConstantsAndInt64ArriveAsTheyAre) {
  TestProgram p;
  const int32_t x = p.input("x", {DType::kF32, {2, 3}});
  const int32_t table = p.constant("table", {DType::kF32, {3}},
                                   TestProgram::bytes_of(std::vector<float>{10, 20, 30}));
  const int32_t order =
      p.constant("order", {DType::kI64, {3}}, TestProgram::bytes_of(std::vector<int64_t>{2, 0, 1}));
  const int32_t y = p.output("y", {DType::kF32, {2, 3}});
  p.step("cstPick", {x, table, order}, {y}, OpParams{"custom.cstPick", {}});
  rknn_context context = open(p.program);
  rknn_custom_op op{};
  op.version = 1;
  op.target = RKNN_TARGET_TYPE_CPU;
  std::strcpy(op.op_type, "cstPick");
  op.compute = [](rknn_custom_op_context*, rknn_custom_op_tensor* in, uint32_t n,
                  rknn_custom_op_tensor* out, uint32_t) {
    note(n == 3 && in[2].attr.type == RKNN_TENSOR_INT64 && in[1].attr.type == RKNN_TENSOR_FLOAT32,
         "types of constants");
    note(in[0].attr.fmt == RKNN_TENSOR_UNDEFINED, "two dimensions have no format");
    const auto* const index = reinterpret_cast<const int64_t*>(data_of(in[2]));
    for (int r = 0; r < 2; ++r) {
      for (int c = 0; c < 3; ++c)
        data_of(out[0])[r * 3 + c] = data_of(in[0])[r * 3 + c] + data_of(in[1])[index[c]];
    }
    return 0;
  };
  ASSERT_EQ(rknn_register_custom_ops(context, &op, 1), 0);
  float data[6] = {1, 2, 3, 4, 5, 6};
  rknn_input input{};
  input.buf = data;
  input.size = sizeof data;
  input.type = RKNN_TENSOR_FLOAT32;
  input.fmt = RKNN_TENSOR_UNDEFINED;
  ASSERT_EQ(rknn_inputs_set(context, 1, &input), 0);
  ASSERT_EQ(rknn_run(context, nullptr), 0);
  rknn_output output{};
  output.want_float = 1;
  ASSERT_EQ(rknn_outputs_get(context, 1, &output, nullptr), 0);
  const auto* const got = static_cast<const float*>(output.buf);
  EXPECT_EQ(std::vector<float>(got, got + 6), (std::vector<float>{31, 12, 23, 34, 15, 26}));
  EXPECT_EQ(rknn_outputs_release(context, 1, &output), 0);
  EXPECT_EQ(rknn_destroy(context), 0);
}

TEST_F(CustomOp, APluginLibraryIsFoundInTheFolderAndGivesWayToTheApplication) {
  setenv("RKNN_OP_PLUGIN_DIR", "/nowhere:" RK_PLUGIN_DIR, 1);
  rknn_context context = open(network(true));
  std::vector<std::vector<float>> by_plugin, by_application;
  rknn_custom_op softmax = softmax_op();
  ASSERT_EQ(rknn_register_custom_ops(context, &softmax, 1), 0);
  ASSERT_EQ(run(context, &by_plugin), 0) << error_;  // cstPair is the plug-in's
  rknn_custom_op pair = pair_op();
  ASSERT_EQ(rknn_register_custom_ops(context, &pair, 1), 0);
  ASSERT_EQ(run(context, &by_application), 0);
  EXPECT_EQ(by_plugin, by_application);
  EXPECT_EQ(rknn_destroy(context), 0);
}

size_t open_files() {
  size_t count = 0;
  if (DIR* const folder = opendir("/proc/self/fd")) {
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
  }
  return count;
}

size_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4;
}

TEST_F(CustomOp, AThousandCyclesLeakNothing) {
  std::vector<uint8_t> file = image(network(true));
  const auto cycle = [&] {
    rknn_context context = 0;
    ASSERT_EQ(rknn_init(&context, file.data(), static_cast<uint32_t>(file.size()), 0, nullptr), 0);
    rknn_custom_op ops[] = {softmax_op(), pair_op()};
    ASSERT_EQ(rknn_register_custom_ops(context, ops, 2), 0);
    ASSERT_EQ(rknn_destroy(context), 0);
  };
  for (int i = 0; i < 50; ++i) cycle();
  const size_t files = open_files();
  [[maybe_unused]] const size_t before = resident_kib();
  for (int i = 0; i < 1000; ++i) cycle();
  e2e::figure_at_most("1000 register/destroy cycles: file descriptors more",
                      static_cast<double>(open_files()) - static_cast<double>(files), 0);
#ifndef __SANITIZE_ADDRESS__  // its quarantine keeps what was freed; it looks for leaks itself
  e2e::figure_at_most("1000 register/destroy cycles: resident KiB more",
                      static_cast<double>(resident_kib()) - static_cast<double>(before), 1024);
#endif
  EXPECT_EQ(calls.init, 1050);
  EXPECT_EQ(calls.destroy, 1050);
}

int dual_residual(rknn_custom_op_context* context, rknn_custom_op_tensor* in, uint32_t n_in,
                  rknn_custom_op_tensor* out, uint32_t n_out) {
  rknn_custom_op_attr alpha{};
  rknn_custom_op_get_op_attr(context, "alpha", &alpha);
  if (n_in != 2 || n_out != 2 || alpha.n_elems != 1 || alpha.dtype != RKNN_TENSOR_FLOAT32)
    return -1;
  const float a = *static_cast<const float*>(alpha.data);
  for (uint32_t i = 0; i < in[0].attr.n_elems; ++i) {
    data_of(out[0])[i] = a * data_of(in[0])[i] - data_of(in[1])[i];
    data_of(out[1])[i] = a * data_of(in[1])[i] - data_of(in[0])[i];
  }
  return 0;
}

TEST_F(CustomOp, TheVendorsDualResidualFilesGiveThePublishedOutputs) {
  const std::string folder = RK_SHARED_DIR "/assets/vendor-rknn/dual_residual_";
  if (!std::ifstream(folder + "RK3588.rknn")) {
    ASSERT_EQ(std::getenv("RK_NEED_SHARED"), nullptr) << folder << "* is missing";
    GTEST_SKIP() << folder << "* is missing";
  }
  for (const std::string chip : {"RK3588", "RK3566_RK3568"}) {
    const std::string path = folder + chip + ".rknn";
    rknn_context context = 0;
    ASSERT_EQ(rknn_init(&context, const_cast<char*>(path.c_str()), 0, 0, nullptr), 0) << error_;
    rknn_custom_op op{};
    op.version = 1;
    op.target = RKNN_TARGET_TYPE_CPU;
    std::strcpy(op.op_type, "cstDualResidual");
    op.compute = dual_residual;
    ASSERT_EQ(rknn_register_custom_ops(context, &op, 1), 0) << error_;
    std::vector<NpyArray> arrays;
    rknn_input inputs[2] = {};
    for (uint32_t i = 0; i < 2; ++i) {
      auto array = read_npy(folder + "input_" + std::to_string(i) + "_nhwc.npy");
      ASSERT_TRUE(array.ok()) << array.status().message();
      arrays.push_back(std::move(array).value());
    }
    for (uint32_t i = 0; i < 2; ++i) {
      inputs[i].index = i;
      inputs[i].buf = arrays[i].bytes.data();
      inputs[i].size = static_cast<uint32_t>(arrays[i].bytes.size());
      inputs[i].type = RKNN_TENSOR_FLOAT32;
      inputs[i].fmt = RKNN_TENSOR_NHWC;
    }
    ASSERT_EQ(rknn_inputs_set(context, 2, inputs), 0) << error_;
    ASSERT_EQ(rknn_run(context, nullptr), 0) << error_;
    rknn_output outputs[2] = {};
    for (rknn_output& output : outputs) output.want_float = 1;
    ASSERT_EQ(rknn_outputs_get(context, 2, outputs, nullptr), 0);
    double worst = 0;
    for (uint32_t i = 0; i < 2; ++i) {
      std::ifstream file(folder + "output_" + std::to_string(i) + ".bin", std::ios::binary);
      std::vector<float> wanted(300);
      file.read(reinterpret_cast<char*>(wanted.data()), 1200);
      ASSERT_EQ(file.gcount(), 1200);
      for (int e = 0; e < 300; ++e)
        worst =
            std::max(worst, std::fabs(double{wanted[e]} - static_cast<float*>(outputs[i].buf)[e]));
    }
    EXPECT_EQ(rknn_outputs_release(context, 2, outputs), 0);
    EXPECT_EQ(rknn_destroy(context), 0);
    e2e::figure_at_most("dual_residual from the vendor's " + chip + " file, largest error", worst,
                        0.002);
  }
}

}  // namespace
}  // namespace rk
