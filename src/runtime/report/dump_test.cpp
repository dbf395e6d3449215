// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/dump.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/npy.h"
#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

TEST(DumpTest, EveryTensorBecomesAnArrayFile) {
  const std::string folder = testing::TempDir() + "dumps";
  std::filesystem::remove_all(folder);
  const auto session =
      Session::create(LoadedModel::from_program(picture_program(), {}).value()).value();
  session->set_observer(make_dumper(*session, folder));
  const std::vector<uint8_t> pixels = picture_pixels();
  ASSERT_TRUE(session
                  ->set_input(0, {.dtype = DType::kU8, .format = TensorFormat::kNhwc},
                              pixels.data(), pixels.size())
                  .ok());
  ASSERT_TRUE(session->run().ok());
  const auto scores = read_npy(folder + "/2_Conv_scores.npy");
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  EXPECT_EQ(scores->shape, (std::vector<int64_t>{1, 2, 2, 4}));
  EXPECT_EQ(load<float>(scores->bytes.data() + 4), 24.0f);
  EXPECT_TRUE(std::filesystem::exists(folder + "/2_OutputOperator_scores.npy"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/1_InputOperator_image.npy"));
  std::filesystem::remove_all(folder);
}

TEST(DumpTest, FolderThatCannotBeWrittenDoesNotFailTheRun) {
  const auto session =
      Session::create(LoadedModel::from_program(picture_program(), {}).value()).value();
  session->set_observer(make_dumper(*session, "/proc/no/such/folder"));
  EXPECT_TRUE(session->run().ok());
}

}  // namespace
}  // namespace rk::runtime
