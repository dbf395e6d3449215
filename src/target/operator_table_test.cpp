// SPDX-License-Identifier: Apache-2.0
#include "target/operator_table.h"

#include <gtest/gtest.h>

#include "target/capabilities.h"

namespace rk::target {
namespace {

TEST(OperatorTable, PutsEveryLimitIntoWords) {
  for (const Target* target : all_targets()) {
    for (const Capability& row : target->npu) {
      EXPECT_EQ(row.refuse == nullptr, limits_in_words(row).empty())
          << target->name << ": " << row.op;
    }
  }
}

TEST(OperatorTable, ShowsDtypesCpuAndGaps) {
  const std::string page = operators_markdown();
  // Columns: rk3562, rk3566, rk3576, rk3588, rv1106, rv1106b, rv1126b, rk2118.
  EXPECT_NE(page.find("\n| Div | f16 | f16 | f16 | f16 | f16 | f16 | f16 | f16 |\n"),
            std::string::npos);
  EXPECT_NE(page.find("\n| Sqrt | CPU | CPU | CPU | CPU | | | CPU | |\n"), std::string::npos);
  EXPECT_NE(page.find("\n| exSDPAttention | i8 f16 | | i8 f16 | i8 f16 | i8 | | i8 f16 | |\n"),
            std::string::npos);
  EXPECT_NE(page.find("\n| ConvTranspose | rk3566, rk3588 | kernel 1..31, stride 1, 2, 4 or 8"),
            std::string::npos);
}

}  // namespace
}  // namespace rk::target
