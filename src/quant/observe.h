// SPDX-License-Identifier: Apache-2.0
// Ranges of a graph's float values over calibration samples, measured on the float evaluator.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "quant/samples.h"

namespace rk::quant {

struct Range {
  float min = 0;
  float max = 0;
};

// By value name. Every f32 input and result that was computed has an entry.
using Ranges = std::map<std::string, Range, std::less<>>;

// Called after each sample with (done, total); returning false stops with kCancelled.
using Progress = std::function<bool(size_t done, size_t total)>;

Result<Ranges> observe(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                       const Progress& progress);

}  // namespace rk::quant
