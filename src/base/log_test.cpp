// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rk {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    level_before_ = log_level();
    set_log_sink(
        [this](LogLevel level, std::string_view line) { lines_.emplace_back(level, line); });
  }
  void TearDown() override {
    set_log_sink({});
    set_log_level(level_before_);
  }

  int level_before_ = 0;
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

TEST_F(LogTest, ALineIsALetterTheNameTheTimeAndTheText) {
  set_log_level(5);
  log(LogLevel::kError, "first");
  log(LogLevel::kWarning, "second");
  log(LogLevel::kInfo, "third");
  log(LogLevel::kDebug, "");
  ASSERT_EQ(lines_.size(), 4u);
  const std::string time = "\\[[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9][0-9][0-9]\\] ";
  EXPECT_THAT(lines_[0].second, testing::MatchesRegex("E RKNN: " + time + "first\n"));
  EXPECT_THAT(lines_[1].second, testing::MatchesRegex("W RKNN: " + time + "second\n"));
  EXPECT_THAT(lines_[2].second, testing::MatchesRegex("I RKNN: " + time + "third\n"));
  EXPECT_THAT(lines_[3].second, testing::MatchesRegex("D RKNN: " + time + "\n"));
  EXPECT_EQ(lines_[1].first, LogLevel::kWarning);
}

TEST_F(LogTest, ALevelLetsItselfAndTheGraverThrough) {
  const LogLevel all[] = {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug};
  for (const auto& [level, expected] : {std::pair{0, 1u}, {1, 2u}, {2, 3u}, {3, 4u}, {5, 4u}}) {
    lines_.clear();
    set_log_level(level);
    for (const LogLevel one : all) log(one, "x");
    EXPECT_EQ(lines_.size(), expected) << level;
  }
  set_log_level(1);
  EXPECT_TRUE(log_enabled(LogLevel::kWarning));
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
}

TEST_F(LogTest, LongTextIsNotCut) {
  log(LogLevel::kError, std::string(5000, 'x'));
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0].second, testing::HasSubstr(std::string(5000, 'x') + "\n"));
}

TEST_F(LogTest, WithoutASinkLinesGoToStandardError) {
  set_log_sink({});
  testing::internal::CaptureStderr();
  log(LogLevel::kError, "to the terminal");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("] to the terminal\n"));
}

}  // namespace
}  // namespace rk
