// SPDX-License-Identifier: Apache-2.0
// The yml file of rknn_convert: one conversion, described in a file. The one reader for the command
// line and for Python.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "toolkit/config.h"

namespace rk::toolkit {

struct ConvertFile {
  std::string name;                          // of the output, without ending; may be empty
  std::string platform = "onnx";             // the framework
  std::vector<std::string> paths;            // the model's files in the order of its load_... call
  std::map<std::string, std::string> files;  // the same by key: model_file_path and so on
  Config config;
  LoadOptions load;
  BuildOptions build;  // quantize and dataset
};

// Paths are relative to the file. Unknown keys are refused with the nearest name that is known.
Result<ConvertFile> read_convert_file(const std::string& path);

// {"name": ..., "platform": ..., "paths": [...], "config": {...}, "load": {...}, "build": {...}}.
Json to_json(const ConvertFile& file);

}  // namespace rk::toolkit
