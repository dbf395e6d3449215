// SPDX-License-Identifier: Apache-2.0
// Writes a C++ project that runs one .rknn file: sources, CMake, the model, inputs, and the outputs that the simulator gives
// for them. The project's own files lie in codegen_project/ and are compiled into the library.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace rk::toolkit {

struct CodegenOptions {
  std::string model;        // the .rknn file
  std::string output_path;  // folder to write
  std::vector<std::string>
      inputs;                 // a picture or .npy file per input; none: nothing to compare with
  bool overwrite = false;     // also into a folder that exists
  std::vector<bool> rgb2bgr;  // per input: pictures are fed blue first; one entry serves all
};

struct CodegenResult {
  bool skipped = false;  // the folder exists and overwrite is off: nothing was written
  std::string project;   // name of the program
};

// Everything is computed before the first file is written. Files of the folder that are not the project's stay.
Result<CodegenResult> codegen(const CodegenOptions& options);

}  // namespace rk::toolkit
