// SPDX-License-Identifier: Apache-2.0
// Rounding a channel's weights shifts the mean of its result by (rounded - true weights) times the mean of its input.
// The shift is known before the model runs, so it is taken out of the bias.
#pragma once

#include "quant/channel_stats.h"

namespace rk::quant {

// After quantize(). Nodes whose input has no statistics, and weights that a model brought along as integers, are left
// alone. Gives the number of nodes whose bias was moved.
size_t correct_biases(Graph& graph, const ValueStats& stats);

}  // namespace rk::quant
