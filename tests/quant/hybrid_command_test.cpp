// SPDX-License-Identifier: Apache-2.0
// rknn hybrid step1 and step2 as a user types them, on the bundled digits.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/e2e/models.h"

namespace rk::quant_check {
namespace {

namespace fs = std::filesystem;

// The exit code; what it printed goes to `text`.
int run_command(const std::string& arguments, const fs::path& folder, std::string& text) {
  const std::string log = (folder / "log.txt").string();
  const int status = std::system(str(RK_COMMAND, " ", arguments, " >", log, " 2>&1").c_str());
  std::stringstream out;
  out << std::ifstream(log).rdbuf();
  text = out.str();
  return WEXITSTATUS(status);
}

TEST(HybridCommand, TwoStepsMakeAFileAndMistakesAreExplained) {
  const fs::path folder = fs::temp_directory_path() / str("hybrid_command_", ::getpid());
  fs::create_directories(folder);
  std::string text;
  const std::string step1 =
      str("hybrid step1 ", e2e::example_path("digits/digits.onnx"), " -t rk3588 --dataset ",
          e2e::example_path("digits/calib.txt"), " --mean 127.5 --std 64 -o ", folder.string());
  ASSERT_EQ(run_command(step1 + " --proposal", folder, text), 0) << text;
  const std::string stem = (folder / "digits").string();
  const std::string step2 = str("hybrid step2 ", stem, ".model ", stem, ".data ", stem,
                                ".quantization.cfg -o ", stem, ".rknn");
  ASSERT_EQ(run_command(step2, folder, text), 0) << text;
  EXPECT_GT(fs::file_size(stem + ".rknn"), 50000u);

  EXPECT_NE(run_command("hybrid step3", folder, text), 0);
  EXPECT_NE(text.find("step1 or rknn hybrid step2"), std::string::npos) << text;
  EXPECT_NE(run_command(step1 + " --between a,b", folder, text), 0);
  EXPECT_NE(text.find("custom_hybrid names 'a'"), std::string::npos) << text;
  std::ofstream(stem + ".quantization.cfg") << "custom_quantize_layers:\n    nothing: float16\n";
  EXPECT_NE(run_command(step2, folder, text), 0);
  EXPECT_NE(text.find("custom_quantize_layers names 'nothing'"), std::string::npos) << text;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rk::quant_check
