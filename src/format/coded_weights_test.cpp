// SPDX-License-Identifier: Apache-2.0
#include "format/coded_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/container.h"
#include "format/program_codec.h"
#include "program/weight_code.h"

namespace rk::format {
namespace {

using testing::HasSubstr;

// One constant of 4,608 zeros.
program::Program coded_program() {
  program::Program program;
  program.target = "rk3562";
  const auto code =
      program::encode_weights(target::WeightCode::kTwoStreams, std::vector<uint8_t>(4608));
  EXPECT_TRUE(code.ok());
  program.weights.resize(1);
  program.weights.push_back(program::make_blob(code->bytes));
  program.coded.push_back({1, 4608});
  return program;
}

std::string refusal(program::Program program) {
  const Status status = decode_constants(program);
  EXPECT_FALSE(status.ok());
  return status.message();
}

TEST(CodedConstants, AreDecodedInTheirPlace) {
  program::Program program = coded_program();
  ASSERT_LT(program.weights[1].bytes.size(), 4608U);
  ASSERT_TRUE(decode_constants(program).ok());
  EXPECT_TRUE(program.coded.empty());
  EXPECT_EQ(program.weights[1].bytes.size(), 4608U);
  EXPECT_EQ(program.weights[1].bytes[4607], 0);
}

TEST(CodedConstants, AreNamedInTheSection) {
  const program::Program program = coded_program();
  const auto back = decode_program(kSectionVersion, encode_program(program), program.weights);
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back->coded.size(), 1U);
  EXPECT_EQ(back->coded[0].weight, 1);
  EXPECT_EQ(back->coded[0].size_bytes, 4608U);
  EXPECT_THAT(program::verify(*back).message(), HasSubstr("1 constants have not been decoded"));
}

TEST(CodedConstants, DamagedOnesAreRefused) {
  program::Program program = coded_program();
  program.coded[0].weight = 2;
  EXPECT_THAT(refusal(program), HasSubstr("index 2 of 2"));
  program.coded[0] = {-1, 4608};
  EXPECT_THAT(refusal(program), HasSubstr("index -1"));
  program.coded[0] = {1, uint64_t{1} << 40};
  EXPECT_THAT(refusal(program), HasSubstr("512 MiB in all"));
  program.coded[0] = {1, 1 << 20};
  EXPECT_THAT(refusal(program), HasSubstr("constant 1"));
  program.coded[0] = {0, 64};
  EXPECT_THAT(refusal(program), HasSubstr("constant 0"));
  program = coded_program();
  program.target = "rv1103b";
  EXPECT_THAT(refusal(program), HasSubstr("this chip has none"));
}

}  // namespace
}  // namespace rk::format
