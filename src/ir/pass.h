// SPDX-License-Identifier: Apache-2.0
// Passes change one thing each. PassManager runs them in order, verifies the graph after each one
// in debug builds, and can print, time, skip or stop after a pass by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace rk {

struct Pass {
  std::string_view name;
  // How many rewrites were made, or why the graph cannot be handled.
  std::function<Result<size_t>(Graph&)> run;
};

struct PassReport {
  std::string_view name;
  size_t rewrites = 0;
  double milliseconds = 0;
};

class PassManager {
 public:
  void add(Pass pass) { passes_.push_back(std::move(pass)); }
  // Names not to run; for bisecting by hand (RKNN_SKIP_PASSES=a,b).
  void skip(std::vector<std::string> names) { skipped_ = std::move(names); }
  Result<std::vector<PassReport>> run(Graph& graph) const;

 private:
  std::vector<Pass> passes_;
  std::vector<std::string> skipped_;
};

}  // namespace rk
