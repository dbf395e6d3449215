// SPDX-License-Identifier: Apache-2.0
// Where the vendor's files lie. They may be used for testing and not copied into the project, so a checkout without
// them skips the tests that need them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace rk::vendor {

// RK_VENDOR_SAMPLES, or ../shared/assets/vendor-rknn beside the project. Empty when there is no such folder.
const std::string& sample_folder();
// The whole file; a test failure and no bytes when it cannot be read.
std::vector<uint8_t> sample(const std::string& name);

// model.rknn of a folder below RK_VENDOR_CORPUS; empty when it is not there.
std::vector<uint8_t> corpus_file(const std::string& folder);

bool is_subset();  // the sanitized build: less of everything
bool is_long();

}  // namespace rk::vendor

// First line of a test that needs the files.
#define RK_NEEDS_SAMPLES()                                                     \
  if (rk::vendor::sample_folder().empty()) {                                   \
    std::puts("SKIP vendor files: ../shared/assets/vendor-rknn is not there"); \
    GTEST_SKIP();                                                              \
  }
