// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gtest/gtest.h>

#include <numeric>

namespace rk {
namespace {

TEST(FileTest, BytesComeBackAsWritten) {
  const std::string path = testing::TempDir() + "rk_file_test.bin";
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65536}, size_t{200001}}) {
    std::vector<uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), uint8_t{3});
    ASSERT_TRUE(write_file(path, bytes).ok());
    const auto read = read_file(path);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, bytes);
  }
  std::remove(path.c_str());
}

TEST(FileTest, TheLimitIsTheLargestSizeAccepted) {
  const std::string path = testing::TempDir() + "rk_file_limit_test.bin";
  ASSERT_TRUE(write_file(path, std::vector<uint8_t>(10)).ok());
  EXPECT_TRUE(read_file(path, 10).ok());
  const auto refused = read_file(path, 9);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kOutOfMemory);
  EXPECT_EQ(refused.status().message(), "'" + path + "' is longer than the limit of 9 bytes");
  std::remove(path.c_str());
}

TEST(FileTest, EndlessFilesStopAtTheLimit) {
  EXPECT_EQ(read_file("/dev/zero", 1000000).status().code(), Code::kOutOfMemory);
}

TEST(FileTest, FilesWithoutASizeAreReadToTheEnd) {
  const auto read = read_file("/proc/self/status");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_GT(read->size(), 100u);
}

TEST(FileTest, FailuresNameThePathAndTheReason) {
  EXPECT_EQ(read_file("/nowhere/x").status().message(),
            "'/nowhere/x': cannot open: No such file or directory");
  EXPECT_EQ(read_file("/proc").status().message(), "'/proc': cannot read: Is a directory");
  EXPECT_EQ(write_file("/nowhere/x", {}).message(),
            "'/nowhere/x': cannot create: No such file or directory");
  EXPECT_EQ(write_file("/dev/full", std::vector<uint8_t>(100)).code(), Code::kIo);
}

}  // namespace
}  // namespace rk
