// SPDX-License-Identifier: Apache-2.0
// Ranges of a graph's float values over calibration samples, measured on the float evaluator. One sample is alive at a
// time, and of it only what later nodes still read: memory does not grow with the number of samples.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>

#include "quant/samples.h"
#include "quant/scan.h"

namespace rk::quant {

struct Range {
  float min = 0;
  float max = 0;
};

// By value name. Every f32 input and result that was computed has an entry.
using Ranges = std::map<std::string, Range, std::less<>>;

// Called after each sample with (done, total); returning false stops with kCancelled.
using Progress = std::function<bool(size_t done, size_t total)>;

// As evaluator::EvaluateOptions::observer.
using SampleObserver = std::function<Status(const Value&, const Tensor&, const FiniteRange&)>;

// Of a float tensor whose range the evaluator may know already.
Extremes extremes(const Tensor& tensor, const FiniteRange& range, ThreadPool* pool);

// Evaluates the first `limit` samples; the observer sees every float value that holds anything. Warns when all samples
// are nearly the same.
Status run_samples(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                   const Progress& progress, const SampleObserver& observer,
                   size_t limit = std::numeric_limits<size_t>::max());

Result<Ranges> observe(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                       const Progress& progress);

}  // namespace rk::quant
