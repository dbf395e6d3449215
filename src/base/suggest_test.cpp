// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <gtest/gtest.h>

namespace rk {
namespace {

TEST(SuggestTest, CloseNamesComeClosestFirst) {
  EXPECT_EQ(close_names("conv1", {"relu1", "conv12", "cnov1", "conv2"}),
            "'conv12', 'conv2', 'cnov1'");
  EXPECT_EQ(close_names("x", {"something_else"}), "");
}

}  // namespace
}  // namespace rk
