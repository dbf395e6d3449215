// SPDX-License-Identifier: Apache-2.0
// A YAML file as JSON, for rknn_convert configurations. Plain scalars become booleans and numbers where they read as
// such; quoted ones stay text.
#pragma once

#include <string>

#include "base/json.h"
#include "base/status.h"

namespace rk::toolkit {

Result<Json> read_yml(const std::string& path);

}  // namespace rk::toolkit
