// SPDX-License-Identifier: Apache-2.0
// What each channel of a value does, over a few calibration samples: the data that equalization and bias correction
// work from. A few samples are enough, because both use it for proportions and means, never as a range.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "quant/observe.h"

namespace rk::quant {

struct ChannelStats {
  float min = 0, max = 0;  // with 0
  double mean = 0;
  double power = 0;  // mean of the squares
};

// By value name: inputs 0 and outputs of Linear nodes and what homogeneous operators (Relu, pooling) make of these, one
// entry per index of axis 1.
using ValueStats = std::map<std::string, std::vector<ChannelStats>, std::less<>>;

// Samples that observe_channels looks at. With four, means that biases are corrected by were still a matter of luck.
inline constexpr size_t kStatsSamples = 12;

// What the samples show of ranges is kept in `seen`, where it is given.
Result<ValueStats> observe_channels(const Graph& graph, const SampleSource& samples,
                                    ThreadPool* pool, const Progress& progress = {},
                                    SeenSamples* seen = nullptr);

}  // namespace rk::quant
