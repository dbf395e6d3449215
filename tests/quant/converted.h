// SPDX-License-Identifier: Apache-2.0
// Test models built with each algorithm, and how far their outputs are from the float model.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/models.h"
#include "tests/foundation/any_model.h"
#include "tests/foundation/zoo.h"

namespace rk::quant_check {

inline const std::vector<std::string> kAlgorithms = {"normal", "percentile", "kl_divergence",
                                                     "mmse"};

struct Build {
  toolkit::Toolkit toolkit;
  foundation::AnyModel model;
};

struct Settings {
  std::string algorithm = "normal";
  bool auto_hybrid = false;
  double cos_thresh = 0.98;
  int optimization_level = 3;
};

Result<Build> convert(const e2e::TestModel& model, const Settings& settings);
Result<Build> convert(const foundation::ZooModel& model, const Settings& settings);

// The worst cosine and signal-to-noise ratio (dB) of one output over the pictures. A picture on which the output stays
// below two of its own steps is judged by the largest difference instead, at most one step: cosine 1 or 0.
struct Closeness {
  double cosine = 1;
  double sqnr_db = 200;
};
using Worst = std::map<std::string, Closeness>;
Result<Worst> judge(const e2e::TestModel& model, const Build& build);
Result<Worst> judge(const foundation::ZooModel& model, const Build& build);

double cosine(std::span<const float> a, std::span<const float> b);

}  // namespace rk::quant_check
