// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <thread>

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

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "rk_folder_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(std::string_view name) const { return (folder_ / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  static std::vector<uint8_t> text(std::string_view bytes) { return {bytes.begin(), bytes.end()}; }

  std::filesystem::path folder_;
};

TEST_F(FolderTest, AFailureLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(write_file(at("model"), text("old")).ok());
  EXPECT_EXIT(
      {
        // A limit on the size of files is what a full disk looks like.
        std::signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit;
        limit.rlim_cur = limit.rlim_max = 1000;
        setrlimit(RLIMIT_FSIZE, &limit);
        const Status status =
            write_file(at("model"), std::vector<uint8_t>(100000), Durability::kPower);
        std::_Exit(status.code() == Code::kIo ? 7 : 8);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EQ(read_file(at("model")).value(), text("old"));
  EXPECT_EQ(files(), 1u);
}

TEST_F(FolderTest, ALinkIsReplacedAndWhatItLeadsToKept) {
  ASSERT_TRUE(write_file(at("secret"), text("kept")).ok());
  std::filesystem::create_symlink(at("secret"), at("model"));
  ASSERT_TRUE(write_file(at("model"), text("new")).ok());
  EXPECT_EQ(read_file(at("secret")).value(), text("kept"));
  EXPECT_EQ(read_file(at("model")).value(), text("new"));
  EXPECT_FALSE(std::filesystem::is_symlink(at("model")));
}

TEST_F(FolderTest, TheNewFileHasTheOldOnesPermissions) {
  ASSERT_TRUE(write_file(at("model"), text("old")).ok());
  std::filesystem::permissions(
      at("model"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_TRUE(write_file(at("model"), text("new"), Durability::kPower).ok());
  EXPECT_EQ(std::filesystem::status(at("model")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(FolderTest, PipesAreReadAndThoseWithoutAWriterGivenUp) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(write_file(at("pipe"), text("through")).ok());
  });
  const auto read = read_file(at("pipe"));
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, text("through"));
}

TEST_F(FolderTest, NamesOfOneFileAreTheSameFile) {
  ASSERT_TRUE(write_file(at("a"), text("x")).ok());
  ASSERT_TRUE(write_file(at("b"), text("x")).ok());
  std::filesystem::create_symlink(at("a"), at("link"));
  std::filesystem::create_hard_link(at("a"), at("twin"));
  EXPECT_TRUE(is_same_file(at("a"), at("link")));
  EXPECT_TRUE(is_same_file(at("a"), at("twin")));
  EXPECT_FALSE(is_same_file(at("a"), at("b")));
  EXPECT_FALSE(is_same_file(at("a"), at("none")));
}

}  // namespace
}  // namespace rk
