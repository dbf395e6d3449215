// SPDX-License-Identifier: Apache-2.0
// One case through the importer and the float evaluator, and through a built float16 .rknn and the
// C API.
#pragma once

#include <optional>

#include "frontends/frontend.h"
#include "tests/conformance/case_data.h"

namespace rk::conformance {

struct Outcome {
  std::string op;
  Scope scope = Scope::kInference;
  Status evaluator;
  // Nothing: not asked for, or nothing is left to run on a device (why).
  std::optional<Status> rknn;
  std::string not_run;
};

enum class Paths { kEvaluator, kBoth };

Outcome run_case(const CaseSource& source, Paths paths);

// Builds for rk3588 in float16 with the options under which the evaluator took the model, and runs
// it. kUnavailable where the C API has no type for an input or output.
Result<std::vector<Tensor>> run_rknn(const std::string& model,
                                     const frontends::ImportOptions& options,
                                     const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& expected);

// A .rknn file's image through the C API, with `inputs` in the graph's order; results have the
// types of `expected`.
Result<std::vector<Tensor>> run_image(std::vector<uint8_t> image, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& expected);

}  // namespace rk::conformance
