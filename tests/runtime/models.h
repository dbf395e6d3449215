// SPDX-License-Identifier: Apache-2.0
// Small models for the load tests, as file images.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "format/writer.h"
#include "runtime/test_program.h"

namespace rk::under_load {

inline bool is_long() {
  const char* const text = std::getenv("LONG");
  return text != nullptr && *text != '\0' && std::string(text) != "0";
}

inline constexpr bool kSanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

inline std::vector<uint8_t> image_of(const program::Program& program) {
  auto file = format::write_rknn(program);
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? std::move(file).value() : std::vector<uint8_t>{};
}

// [1,channels,side,side] through a k x k convolution to as many channels.
inline program::Program conv_program(int64_t channels, int64_t side, int64_t kernel,
                                     int64_t out_channels) {
  runtime::TestProgram p;
  const int32_t in = p.input("x", {DType::kI8, {1, channels, side, side}, 1.0f, -128});
  const int32_t out = p.output("y", {DType::kI8, {1, out_channels, side, side}, 0.5f, 3});
  runtime::TestProgram::IntegerConv conv;
  const int64_t count = out_channels * channels * kernel * kernel;
  for (int64_t i = 0; i < count; ++i) conv.weights.push_back(static_cast<int8_t>(i * 31 % 13 - 6));
  conv.params.output.scale = {16384, 22};
  const auto pad = static_cast<int32_t>(kernel / 2);
  conv.params.pads = {pad, pad, pad, pad};
  p.conv(in, out, {out_channels, channels, kernel, kernel}, conv);
  program::split_over_cores(*target::find_target("rk3588").value(), p.variant());
  return std::move(p.program);
}

}  // namespace rk::under_load
