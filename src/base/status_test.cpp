// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace rk {
namespace {

Result<int> parse_positive(int value) {
  if (value <= 0) return invalid_argument(str("found ", value, ", a positive number expected"));
  return value;
}

Status check_both(int first, int second) {
  RK_TRY(parse_positive(first).status());
  RK_TRY(parse_positive(second).status());
  return ok_status();
}

Result<int> add(int first, int second) {
  RK_ASSIGN(const int a, parse_positive(first));
  int b = 0;
  RK_ASSIGN(b, parse_positive(second));
  return a + b;
}

TEST(StatusTest, ADefaultStatusIsOk) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(ok_status().ok());
  EXPECT_EQ(Status().message(), "");
}

TEST(StatusTest, ContextStandsInFrontAndKeepsTheCode) {
  const Status status =
      unsupported("5 inputs").with_context("node 'cat' (Concat)").with_context("m.onnx");
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_EQ(status.message(), "m.onnx: node 'cat' (Concat): 5 inputs");
  EXPECT_TRUE(ok_status().with_context("nothing happened").ok());
  EXPECT_EQ(ok_status().with_context("nothing happened").message(), "");
}

TEST(StatusTest, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::kCancelled); ++code) {
    names.insert(to_string(static_cast<Code>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Code::kCancelled) + 1);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(StatusTest, TryAndAssignReturnTheFirstFailure) {
  EXPECT_TRUE(check_both(1, 2).ok());
  EXPECT_EQ(check_both(-1, -2).message(), "found -1, a positive number expected");
  EXPECT_EQ(check_both(1, -2).message(), "found -2, a positive number expected");
  EXPECT_EQ(add(3, 4).value(), 7);
  EXPECT_EQ(add(0, -4).status().message(), "found 0, a positive number expected");
  EXPECT_EQ(add(3, -4).status().code(), Code::kInvalidArgument);
}

TEST(StatusTest, AResultHandsOutWhatOnlyMoves) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(StatusTest, TheValueOfAFailureAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)parse_positive(-3).value(), "found -3");
}

}  // namespace
}  // namespace rk
