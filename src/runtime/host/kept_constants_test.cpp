// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/kept_constants.h"

#include <gtest/gtest.h>

#include "format/writer.h"
#include "runtime/session/loaded_model.h"
#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

std::vector<uint8_t> bytes_of(const program::Blob& blob) {
  return {blob.bytes.begin(), blob.bytes.end()};
}

std::shared_ptr<const LoadedModel> load_and_forget(const program::Program& program) {
  auto image = format::write_rknn(program);
  EXPECT_TRUE(image.ok());
  auto model = LoadedModel::from_bytes(*image, {});
  EXPECT_TRUE(model.ok());
  std::fill(image->begin(), image->end(), uint8_t{0xa5});
  return *model;
}

TEST(KeptConstantsTest, WeightsGoAfterPackingAndComeBackByteForByte) {
  const program::Program program = heavy_program();
  const auto model = load_and_forget(program);
  const auto complete = model->complete_program();
  ASSERT_TRUE(complete.ok());
  size_t released = 0;
  ASSERT_EQ(complete->weights.size(), program.weights.size());
  for (size_t i = 0; i < program.weights.size(); ++i) {
    EXPECT_EQ(bytes_of(complete->weights[i]), bytes_of(program.weights[i])) << i;
    if (bytes_of(model->program().weights[i]).size() < program.weights[i].bytes.size()) {
      released += program.weights[i].bytes.size();
    }
  }
  EXPECT_EQ(released, 64u * 32u);
}

TEST(KeptConstantsTest, AModelOfSeveralShapesKeepsAllForThePlansToCome) {
  const program::Program program = dynamic_picture_program();
  const auto model = load_and_forget(program);
  for (size_t i = 0; i < program.weights.size(); ++i)
    EXPECT_EQ(bytes_of(model->program().weights[i]), bytes_of(program.weights[i])) << i;
}

}  // namespace
}  // namespace rk::runtime
