// SPDX-License-Identifier: Apache-2.0
// Damaged models of every format but ONNX: each is refused with a reason, or imports and runs once on the evaluator.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/log.h"
#include "tests/frontends/cases.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/import_and_run.h"
#include "tests/fuzz/mutate.h"

namespace rk::fuzz {
namespace {

using frontends::TinyCase;

constexpr uint64_t kSeed = 20261115;

class FrontendFuzz : public testing::TestWithParam<const char*> {};

Outcome run(const TinyCase& c) {
  std::vector<frontends::ModelFile> files;
  for (const auto& bytes : c.files) files.push_back({"", bytes});
  frontends::ImportOptions options;
  options.input_shapes = c.shapes;
  options.input_is_nchw = c.input_is_nchw;
  return import_and_run(files, c.format, options);
}

TEST_P(FrontendFuzz, DamagedFilesAreRefusedWithAReasonOrRun) {
  const std::string format = GetParam();
  const auto source = frontends::find_source(format);
  ASSERT_TRUE(source.ok());
  if ((*source)->import == nullptr) GTEST_SKIP() << format << " is switched off";
  const std::string folder = format == "pytorch" ? "torchscript" : format;
  const auto bases =
      frontends::read_cases(str(RK_SOURCE_DIR, "/tests/frontends/", folder, "/cases.bin"));
  ASSERT_TRUE(bases.ok()) << bases.status().message();
  const int level = log_level();
  set_log_level(0);
  size_t refused = 0, ran = 0, accepted = 0;
  {
    Guard guard;
    for (size_t i = 0; i < case_count(); ++i) {
      Random random(kSeed + i);
      TinyCase damaged = (*bases)[random.below(bases->size())];
      auto& file = damaged.files[random.below(damaged.files.size())];
      const std::string text = mutate(file, {0, file.size()}, false, random);
      guard.begin_case(
          str("case ", i, " of seed ", kSeed, " on ", format, "/", damaged.name, ": ", text));
      const Outcome outcome = run(damaged);
      if (!outcome.status.ok()) {
        ++refused;
        EXPECT_GT(outcome.status.message().size(), 10u) << "case " << i << ": " << text;
      } else {
        ++(outcome.ran ? ran : accepted);
      }
    }
  }
  set_log_level(level);
  std::printf(
      "FIGURE damaged %s files (seed %llu): crash, hang, over 1 GiB | 0 of %zu; %zu refused with a "
      "reason, %zu ran, %zu too large to run | 0 | ok\n",
      format.c_str(), static_cast<unsigned long long>(kSeed), refused + ran + accepted, refused,
      ran, accepted);
  EXPECT_GT(refused, 0u);
  EXPECT_GT(ran, 0u);
}

INSTANTIATE_TEST_SUITE_P(Formats, FrontendFuzz,
                         testing::Values("tflite", "darknet", "caffe", "tensorflow", "pytorch"));

}  // namespace
}  // namespace rk::fuzz
