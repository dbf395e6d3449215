// SPDX-License-Identifier: Apache-2.0
#include "toolkit/encrypt.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "format/reader.h"

namespace rk::toolkit {
namespace {

// Chips whose runtime of the vendor opens no encrypted file.
constexpr std::string_view kPlainOnly[] = {"rv1103", "rv1106", "rv1103b", "rv1106b", "rk2118"};

}  // namespace

Result<std::string> encrypt_file(const std::string& input, std::string output, int level,
                                 const format::ModelKeys& keys) {
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(input));
  if (output.empty())
    output = std::filesystem::path(input).replace_extension(".crypt.rknn").string();
  if (is_same_file(input, output))
    return invalid_argument(str("'", output, "' is the model itself: give another name"));
  const auto program = format::read_rknn(file, nullptr, {.info_only = true});
  if (!program.ok()) return program.status().with_context(input);
  if (std::ranges::find(kPlainOnly, program->target) != std::end(kPlainOnly)) {
    return unsupported(str("the model is built for ", program->target,
                           ": RV1103, RV1106, RV1103B, RV1106B and RK2118 open no encrypted "
                           "models"));
  }
  RK_ASSIGN(const std::vector<uint8_t> encrypted, format::encrypt_model(file, level, keys));
  RK_TRY(write_file(output, encrypted));
  return output;
}

}  // namespace rk::toolkit
