// SPDX-License-Identifier: Apache-2.0
#include "ir/pass.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "ir/text.h"

namespace rk {

Result<std::vector<PassReport>> PassManager::run(Graph& graph) const {
  std::vector<PassReport> reports;
  for (const Pass& pass : passes_) {
    if (std::ranges::find(skipped_, pass.name) != skipped_.end()) continue;
    const auto start = std::chrono::steady_clock::now();
    const auto rewrites = pass.run(graph);
    if (!rewrites.ok()) return rewrites.status().with_context(str("pass ", pass.name));
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    reports.push_back({pass.name, *rewrites, elapsed.count()});
    if (log_enabled(LogLevel::kDebug) && *rewrites != 0) {
      log(LogLevel::kDebug,
          str("pass ", pass.name, ": ", *rewrites, " rewrites, ", elapsed.count(), " ms"));
    }
#ifndef NDEBUG
    const Status status = verify(graph);
    if (!status.ok()) return status.with_context(str("after pass ", pass.name));
#endif
  }
  return reports;
}

}  // namespace rk
