// SPDX-License-Identifier: Apache-2.0
// Exporting over a model that is there: whenever the process is killed, and whenever the disk is full, the file is the
// old one or the new one, never a part.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"
#include "base/log.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::sound {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kKills = 250;  // four times as slow
#else
constexpr int kKills = 1000;
#endif
constexpr uint32_t kSeed = 20261115;

Status convert(toolkit::Toolkit& toolkit, const std::string& custom_string) {
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.custom_string = custom_string;
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(RK_SOURCE_DIR "/examples/digits/digits.onnx"));
  return toolkit.build({.do_quantization = false, .dataset = {}, .progress = {}});
}

class Export : public testing::Test {
 protected:
  void SetUp() override {
    set_log_level(0);
    std::string name = testing::TempDir() + "rk_export_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_TRUE(convert(one_, "one").ok());
    ASSERT_TRUE(convert(two_, "two").ok());
    first_ = one_.rknn_bytes().value();
    second_ = two_.rknn_bytes().value();
    ASSERT_NE(first_, second_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  toolkit::Toolkit one_, two_;
  std::vector<uint8_t> first_, second_;
};

TEST_F(Export, KilledAtAnyMomentItLeavesTheOldFileOrTheNewOne) {
  const std::string path = (folder_ / "model.rknn").string();
  ASSERT_TRUE(one_.export_rknn(path).ok());
  // A kill comes at any time within the first few exports, however slow the machine is.
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(one_.export_rknn(path).ok());
  const std::chrono::microseconds one_export =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                            start);
  const auto longest = std::max<useconds_t>(8000, static_cast<useconds_t>(4 * one_export.count()));
  std::mt19937 random(kSeed);
  size_t broken = 0, is_first = 0, is_second = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        if (!two_.export_rknn(path).ok() || !one_.export_rknn(path).ok()) _exit(1);
      }
    }
    usleep(std::uniform_int_distribution<useconds_t>(0, longest)(random));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exporting failed by itself";
    const auto found = read_file(path);
    ++(!found.ok() ? broken : *found == first_ ? is_first : *found == second_ ? is_second : broken);
  }
  std::printf(
      "FIGURE exports killed (seed %u): neither the old nor the new file | %zu of %d "
      "(%zu old, %zu new) | 0 | %s\n",
      kSeed, broken, kKills, is_first, is_second, broken == 0 ? "ok" : "SHORT");
  EXPECT_EQ(broken, 0u);
  EXPECT_GT(is_first, 0u);
  EXPECT_GT(is_second, 0u);
}

// A file system of few kilobytes, in a mount namespace of the test's own where it is not root.
TEST_F(Export, AFullDiskLeavesTheOldFile) {
  const std::string path = (folder_ / "model.rknn").string();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) _exit(3);
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(4);
    const std::string size = str("size=", first_.size() * 3 / 2);
    if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, size.c_str()) != 0) _exit(5);
    if (!one_.export_rknn(path).ok()) _exit(6);
    const Status status = two_.export_rknn(path);  // there is room for one of them only
    if (status.ok()) _exit(7);
    if (status.message().find("No space left on device") == std::string::npos) _exit(8);
    const auto found = read_file(path);
    if (!found.ok() || *found != first_) _exit(9);
    const auto files = std::distance(std::filesystem::directory_iterator(folder_), {});
    _exit(files == 1 ? 0 : 10);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code >= 3 && code <= 5) {
    std::printf("SKIP a full disk: this process may not mount a tmpfs\n");
    GTEST_SKIP();
  }
  std::printf(
      "FIGURE export on a full tmpfs keeps the old file and leaves nothing else | %s | yes | %s\n",
      code == 0 ? "yes" : str("no, step ", code).c_str(), code == 0 ? "ok" : "SHORT");
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace rk::sound
