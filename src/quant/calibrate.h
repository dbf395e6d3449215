// SPDX-License-Identifier: Apache-2.0
// From distributions to ranges: the quantization algorithms.
//
//   normal         the smallest and largest value seen (min/max, not 3 sigma)
//   percentile     leaves out the outermost 1 in 10,000 values of each side
//   kl_divergence  the clipping whose 256 levels keep most of the distribution's information
//   mmse           the clipping with the least mean squared error after quantizing and dequantizing; the outermost 1
//                  in 100,000 values of each side do not count
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quant/histogram.h"

namespace rk::quant {

enum class Algorithm { kNormal, kPercentile, kKlDivergence, kMmse };

std::optional<Algorithm> parse_algorithm(std::string_view name);
std::string_view to_string(Algorithm algorithm);
// Every name that parse_algorithm() takes.
std::vector<std::string> algorithm_names();
// Samples recommended for it: {least, most}.
std::pair<size_t, size_t> recommended_samples(Algorithm algorithm);

// By value name, like Ranges.
using Histograms = std::map<std::string, Histogram, std::less<>>;

Result<Histograms> observe_histograms(const Graph& graph, const SampleSource& samples,
                                      ThreadPool* pool, const Progress& progress);

// The range always holds 0 and never exceeds what was seen.
Range choose_range(const Histogram& histogram, Algorithm algorithm);
// One value per thread of the pool, which may be null.
Ranges choose_ranges(const Histograms& histograms, Algorithm algorithm, ThreadPool* pool);

// One pass over the samples, whatever the algorithm; kNormal leaves out those that were seen already.
Result<Ranges> calibrate(const Graph& graph, const SampleSource& samples, Algorithm algorithm,
                         ThreadPool* pool, const Progress& progress, SeenSamples seen = {});

// Mean squared error of the binned values after int8 quantization to `range`, without the outermost 1 in 100,000 of each
// side; what mmse minimizes.
double quantization_error(const Histogram& histogram, Range range);
// Divergence of the distribution quantized to `range` from the true one; what kl_divergence minimizes.
double information_loss(const Histogram& histogram, Range range);

}  // namespace rk::quant
