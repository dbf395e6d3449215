// SPDX-License-Identifier: Apache-2.0
#include "media/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/npy.h"

namespace rk::media {
namespace {

using testing::ElementsAre;

// A folder with a red and a blue pixel as PNG and as BMP, a number array and the list under test.
class DatasetTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("rk_dataset_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "sub");
    ASSERT_TRUE(write_png(in_folder("sub/a.png"), {2, 1, 3, {255, 0, 0, 0, 0, 255}}).ok());
    ByteWriter bmp;
    for (const char c : {'B', 'M'}) bmp.write(c);
    for (const uint32_t word :
         {62u, 0u, 54u, 40u, 2u, 1u, 24u << 16 | 1u, 0u, 0u, 0u, 0u, 0u, 0u}) {
      bmp.write(word);
    }
    bmp.write_bytes(std::vector<uint8_t>{0, 0, 255, 255, 0, 0, 0, 0});
    ASSERT_TRUE(write_file(in_folder("c.bmp"), bmp.bytes()).ok());
    ASSERT_TRUE(write_npy(in_folder("b.npy"), {'f', 4, {1}, {0, 0, 0, 0}}).ok());
    ASSERT_TRUE(write_file(in_folder("words.txt"), std::vector<uint8_t>{'h', 'i'}).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return (folder_ / name).string(); }

  Result<Dataset> read(const std::string& text) const {
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    RK_TRY(write_file(in_folder("dataset.txt"), bytes));
    return read_dataset(in_folder("dataset.txt"));
  }
  std::string error_of(const std::string& text) const {
    const auto dataset = read(text);
    return dataset.ok() ? "no error" : dataset.status().message();
  }

  std::filesystem::path folder_;
};

TEST_F(DatasetTest, NamesAreRelativeToTheTextFile) {
  const auto dataset =
      read("sub/a.png b.npy\r\n\n  \t\r\n" + in_folder("sub/a.png") + "\t./b.npy  ");
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  ASSERT_EQ(dataset->samples.size(), 2u);
  EXPECT_EQ(dataset->samples[0].line, 1);
  EXPECT_EQ(dataset->samples[1].line, 4);
  for (const DatasetSample& sample : dataset->samples) {
    ASSERT_EQ(sample.files.size(), 2u);
    EXPECT_TRUE(std::filesystem::equivalent(sample.files[0].path, in_folder("sub/a.png")));
    EXPECT_TRUE(std::filesystem::equivalent(sample.files[1].path, in_folder("b.npy")));
    EXPECT_FALSE(sample.files[0].is_npy);
    EXPECT_TRUE(sample.files[1].is_npy);
  }
}

TEST_F(DatasetTest, AByteOrderMarkIsNotPartOfTheFirstName) {
  EXPECT_TRUE(read("\xef\xbb\xbf"
                   "b.npy\n")
                  .ok());
}

TEST_F(DatasetTest, ErrorsNameTheListTheLineAndTheFile) {
  const std::string list = "'" + in_folder("dataset.txt") + "'";
  EXPECT_EQ(error_of("b.npy\n\nmissing.jpg\n"),
            list + " line 3: '" + in_folder("missing.jpg") + "': No such file or directory");
  EXPECT_EQ(error_of("words.txt"), list + " line 1: '" + in_folder("words.txt") +
                                       "' is neither a JPEG, PNG, BMP nor .npy file");
  EXPECT_EQ(error_of("b.npy b.npy\nb.npy\n"),
            list + " line 2: 1 files, line 1 has 2; each line needs one file for each input");
  EXPECT_EQ(error_of("\n \r\n"), list + " names no files; one sample a line is expected");
  EXPECT_NE(error_of("sub"), "no error");
  EXPECT_EQ(read_dataset(in_folder("sub/a.png")).status().message(),
            "dataset '" + in_folder("sub/a.png") +
                "' is a picture; give a text file with the names of pictures or .npy files, one "
                "sample a line");
  EXPECT_EQ(error_of(std::string("a\0b", 3)),
            "dataset " + list +
                " is no text; give a text file with the names of pictures or .npy files, one "
                "sample a line");
  EXPECT_EQ(read_dataset(in_folder("none.txt")).status().code(), Code::kIo);
}

TEST_F(DatasetTest, ImagesTakeTheFormOfTheInput) {
  const std::string path = in_folder("sub/a.png");
  EXPECT_THAT(load_image_as(path, {.width = 2, .height = 1})->pixels,
              ElementsAre(255, 0, 0, 0, 0, 255));
  EXPECT_THAT(load_image_as(path, {.width = 2, .height = 1, .rgb2bgr = true})->pixels,
              ElementsAre(0, 0, 255, 255, 0, 0));
  // 127.5 by column and then by row; cv2.resize drops the half as well.
  EXPECT_THAT(load_image_as(path, {.width = 1, .height = 2})->pixels,
              ElementsAre(127, 0, 127, 127, 0, 127));
  // 0.299 * 255 = 76.2 and 0.114 * 255 = 29.1
  EXPECT_THAT(
      load_image_as(in_folder("c.bmp"), {.width = 2, .height = 1, .channels = 1, .rgb2bgr = true})
          ->pixels,
      ElementsAre(76, 29));
}

TEST_F(DatasetTest, ImagesThatDoNotFitTheInputAreRefused) {
  const std::string path = in_folder("sub/a.png");
  EXPECT_EQ(load_image_as(path, {.width = 2, .height = 1, .channels = 4}).status().message(),
            "'" + path + "': pictures have 1 or 3 channels, the input has 4; give it as .npy");
  EXPECT_FALSE(load_image_as(path, {.width = 0, .height = 1}).ok());
  EXPECT_FALSE(load_image_as(in_folder("b.npy"), {.width = 1, .height = 1}).ok());
}

}  // namespace
}  // namespace rk::media
