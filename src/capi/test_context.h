// SPDX-License-Identifier: Apache-2.0
// A context on picture_program() for tests of the C interface, and the few calls every one of them makes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "capi/api.h"
#include "format/writer.h"
#include "runtime/test_program.h"

namespace rk::capi {

inline std::vector<uint8_t> image_of(const program::Program& program) {
  auto file = format::write_rknn(program);
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? std::move(file).value() : std::vector<uint8_t>{};
}

// Ends with the test.
class TestContext {
 public:
  explicit TestContext(uint32_t flags = 0,
                       const program::Program& program = runtime::picture_program()) {
    std::vector<uint8_t> image = image_of(program);
    EXPECT_EQ(rknn_init(&handle, image.data(), static_cast<uint32_t>(image.size()), flags, nullptr),
              RKNN_SUCC);
  }
  ~TestContext() {
    if (handle != 0) {
      EXPECT_EQ(rknn_destroy(handle), RKNN_SUCC);
    }
  }
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;

  int set(std::vector<uint8_t> pixels) const {
    rknn_input input{};
    input.buf = pixels.data();
    input.size = static_cast<uint32_t>(pixels.size());
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    return rknn_inputs_set(handle, 1, &input);
  }
  std::vector<int8_t> scores(rknn_output_extend* extend = nullptr) const {
    rknn_output output{};
    if (rknn_outputs_get(handle, 1, &output, extend) != RKNN_SUCC) return {};
    const auto* const from = static_cast<const int8_t*>(output.buf);
    const std::vector<int8_t> out(from, from + output.size);
    EXPECT_EQ(rknn_outputs_release(handle, 1, &output), RKNN_SUCC);
    return out;
  }
  rknn_tensor_attr attr(rknn_query_cmd cmd, uint32_t index = 0) const {
    rknn_tensor_attr out{};
    out.index = index;
    EXPECT_EQ(rknn_query(handle, cmd, &out, sizeof out), RKNN_SUCC);
    return out;
  }
  rknn_mem_size memory() const {
    rknn_mem_size out{};
    EXPECT_EQ(rknn_query(handle, RKNN_QUERY_MEM_SIZE, &out, sizeof out), RKNN_SUCC);
    return out;
  }

  rknn_context handle = 0;
};

// Keeps every log line while it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_sink([this](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      text_ += std::string(line) + "\n";
    });
  }
  ~LogCapture() { set_log_sink({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool has(std::string_view part) const { return text().find(part) != std::string::npos; }
  size_t count(std::string_view part) const {
    const std::string all = text();
    size_t found = 0;
    for (size_t at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++found;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// An environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

}  // namespace rk::capi
