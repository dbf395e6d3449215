// SPDX-License-Identifier: Apache-2.0
// export_encrypted_rknn_model of the Python API and `rknn encrypt`.
#pragma once

#include <string>

#include "base/status.h"
#include "format/encrypted/encrypted_model.h"

namespace rk::toolkit {

// Writes an encrypted copy and returns its path; an empty `output` means <stem>.crypt.rknn beside the input.
Result<std::string> encrypt_file(const std::string& input, std::string output, int level,
                                 const format::ModelKeys& keys);

}  // namespace rk::toolkit
