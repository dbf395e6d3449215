// SPDX-License-Identifier: Apache-2.0
// The number of threads is a matter of speed only.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/e2e/api_model.h"
#include "tests/e2e/figure.h"
#include "tests/e2e/models.h"

namespace rk::e2e {
namespace {

class ThreadCount : public testing::TestWithParam<std::string> {};

TEST_P(ThreadCount, OneTwoAndFourGiveIdenticalBytes) {
  auto model = load_model(GetParam());
  ASSERT_TRUE(model.ok() && model->has_value());
  const auto conversion = converted(**model);
  ASSERT_TRUE(conversion.ok()) << conversion.status().message();
  const size_t pictures = std::min<size_t>((*model)->pictures.size(), 2);
  std::vector<std::vector<std::vector<uint8_t>>> first(pictures);
  size_t bytes = 0;
  bool equal = true;
  for (const char* const threads : {"1", "2", "4"}) {
    ASSERT_EQ(setenv("RKNN_NUM_THREADS", threads, 1), 0);
    const auto api = ApiModel::load((*conversion)->rknn);
    ASSERT_TRUE(api.ok()) << api.status().message();
    for (size_t i = 0; i < pictures; ++i) {
      auto outputs = (*api)->run_raw((*model)->pictures[i]);
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      if (first[i].empty()) {
        for (const auto& output : *outputs) bytes += output.size();
        first[i] = std::move(*outputs);
      } else {
        equal = equal && *outputs == first[i];
      }
    }
  }
  unsetenv("RKNN_NUM_THREADS");
  figure_holds(str(GetParam(), " with 1, 2 and 4 threads"), equal && bytes > 0,
               str(equal ? "equal" : "different", " (", bytes, " bytes)"), "equal");
}

INSTANTIATE_TEST_SUITE_P(Models, ThreadCount, testing::Values("signs", "digits"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rk::e2e
