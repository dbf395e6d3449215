// SPDX-License-Identifier: Apache-2.0
// Cross-layer equalization. Between two layers that only multiply and add, with nothing but Relu, LeakyRelu or pooling
// in between, channel c of the value may be divided by any s > 0 if the next layer's weights for it are multiplied by
// s. int8 has one scale for all channels of a value and a floor for narrow weight channels, so a channel a thousand
// times larger than the others takes their resolution; after equalization it does not.
//
// Note: every s is a power of two, so the float model computes exactly what it did before; only what
// int8 can hold of it changes. Which s are worth it is decided by the noise that quantizing would add, with and
// without them, not by a rule of thumb about ranges.
#pragma once

#include <set>
#include <string>

#include "quant/channel_stats.h"

namespace rk::quant {

struct Equalized {
  std::string value;     // that the next layers read
  std::string computed;  // by the layer before; the same unless a Relu or the like lies in between
  std::vector<double> factors;  // per channel
  double noise_before = 0;      // expected, relative to the next layers' results
  double noise_after = 0;
};

// Works on a float graph; `stats` follow the values. Clip (ReLU6), additions and values that the model gives out end a
// chain: their result would change.
std::vector<Equalized> equalize(Graph& graph, ValueStats& stats);

// Names of the weights that equalize() may change, whatever the samples show. All others are the
// same in every build.
std::set<std::string, std::less<>> fittable_weights(const Graph& graph);

// Ranges seen before the factors were applied become those that the same samples would show now: a factor changes the
// values of its own chain only, and their `stats` followed. Where these are not finite, everything seen is forgotten.
void follow_equalized(const Graph& graph, const std::vector<Equalized>& factors,
                      const ValueStats& stats, SeenSamples& seen);

// The same factors on the same model at other input shapes, so that both hold the same weights.
void equalize_alike(Graph& graph, const std::vector<Equalized>& factors);

}  // namespace rk::quant
