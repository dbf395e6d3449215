// SPDX-License-Identifier: Apache-2.0
// Ranges of a graph's float values over calibration samples, measured on the float evaluator. One sample is alive at a
// time, and of it only what later nodes still read: memory does not grow with the number of samples.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>

#include "quant/likeness.h"
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

// Which samples are evaluated: from `first` up to, without, `end`.
struct SampleRun {
  size_t first = 0;
  size_t end = std::numeric_limits<size_t>::max();
  Likeness* likeness = nullptr;  // of the samples before, and of these afterwards
};

// The observer sees every float value that holds anything. Warns when all samples up to the last one are nearly the same.
Status run_samples(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                   const Progress& progress, const SampleObserver& observer, SampleRun run = {});

// What the first samples showed, for a calibration that goes on with the others.
struct SeenSamples {
  size_t count = 0;
  Ranges ranges;
  std::map<std::string, size_t> not_finite;  // samples on which a value held NaN or infinity
  Likeness likeness;

  // One value of one sample.
  Status add(const Value& value, const Tensor& tensor, const FiniteRange& range, ThreadPool* pool);
};

// Evaluates the samples that `seen` does not have yet.
Result<Ranges> observe(const Graph& graph, const SampleSource& samples, ThreadPool* pool,
                       const Progress& progress, SeenSamples seen = {});

}  // namespace rk::quant
