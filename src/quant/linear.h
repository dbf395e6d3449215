// SPDX-License-Identifier: Apache-2.0
// A node that multiplies its input with constant weights (Conv, FusedConv, ConvTranspose, Gemm), seen as a matrix of
// taps from input channels to output channels. Equalization and bias correction read and scale weights through it.
//
// Note: channels of the data are axis 1 of the node's input 0 and of its output, whatever axis they
// have in the weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace rk::quant {

class Linear {
 public:
  struct Place {
    size_t out = 0, in = 0;
  };

  // Nothing where weights or bias are computed at run time, or where the node scales its product (Gemm's alpha).
  static std::optional<Linear> of(const Node& node);

  const Node& node() const { return *node_; }
  size_t in_channels() const { return in_channels_; }
  size_t out_channels() const { return out_channels_; }
  // Calls use(index, place) for every weight in the order of the plain tensor, with the channels that it joins.
  template <typename Use>
  void each_place(const Use& use) const {
    const size_t rows = inputs_first_ ? in_channels_ : out_channels_;
    const size_t row_length = (inputs_first_ ? out_channels_ : in_channels_) / groups_;
    size_t index = 0;
    for (size_t row = 0; row < rows; ++row) {
      const size_t first = row / (rows / groups_) * row_length;
      for (size_t across = first; across < first + row_length; ++across) {
        const Place place = inputs_first_ ? Place{across, row} : Place{row, across};
        for (size_t tap = 0; tap < taps_; ++tap) use(index++, place);
      }
    }
  }
  // Weights per output channel.
  double taps_per_output() const;
  const Tensor& weights() const { return node_->input(1).constant(); }
  std::vector<float> bias() const;  // one per output channel, zeros when the node has none

 private:
  const Node* node_ = nullptr;
  size_t in_channels_ = 0, out_channels_ = 0;
  size_t groups_ = 1;
  size_t taps_ = 1;            // of the window
  bool inputs_first_ = false;  // weights are [in][out / groups] instead of [out][in / groups]
};

// Replaces constant weights and bias; constants that other nodes read stay as they are. What nobody reads any more goes
// with the next remove_unused().
void replace_weights(Graph& graph, Node& node, Tensor weights);
void replace_bias(Graph& graph, Node& node, const std::vector<float>& bias);

}  // namespace rk::quant
