// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/samples.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace rk::vendor {
namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

}  // namespace

const std::string& sample_folder() {
  static const std::string folder = [] {
    const char* const given = std::getenv("RK_VENDOR_SAMPLES");
    const std::string path =
        given != nullptr ? given : RK_SOURCE_DIR "/../shared/assets/vendor-rknn";
    return std::filesystem::exists(path + "/multiple_input_RK3588.rknn") ? path : std::string();
  }();
  return folder;
}

std::vector<uint8_t> sample(const std::string& name) {
  auto bytes = read_file(sample_folder() + "/" + name);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? std::move(bytes).value() : std::vector<uint8_t>();
}

std::vector<uint8_t> corpus_file(const std::string& folder) {
  const char* const corpus = std::getenv("RK_VENDOR_CORPUS");
  if (corpus == nullptr) return {};
  auto bytes = read_file(str(corpus, "/", folder, "/model.rknn"));
  return bytes.ok() ? std::move(bytes).value() : std::vector<uint8_t>();
}

bool is_subset() { return is_set("RK_VENDOR_SUBSET"); }
bool is_long() { return is_set("LONG"); }

}  // namespace rk::vendor
