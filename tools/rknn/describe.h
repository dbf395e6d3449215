// SPDX-License-Identifier: Apache-2.0
// What a page of rknn report says of one file: shared by rknn report and rknn view.
#pragma once

#include "base/json.h"
#include "rknn/model_options.h"

namespace rk::tools {

// A .rknn file is described as it is; another model is built first, as the model options of `args` say.
Result<Json> describe_model_file(const Arguments& args, const std::string& path);

}  // namespace rk::tools
