// SPDX-License-Identifier: Apache-2.0
// The small networks of the pairs test: as an ONNX file, and as loops that compute them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rk::sound {

struct Network {
  bool residual = false;        // y = conv2(h) + h, else conv2(h)
  bool custom = false;          // h = Twist(relu(conv1(x))), 0.5 * v + 0.25
  bool quantized = false;       // QuantizeLinear and DequantizeLinear between all layers
  bool empty_channels = false;  // two channels of conv1 are zero, for pruning to find
};

inline constexpr int64_t kInChannels = 3, kChannels = 8;

// Serialized ONNX; the spatial extents are those of a shape for the model's own use, or symbolic.
std::string to_onnx(const Network& network, int64_t height, int64_t width);

// y [channels, height, width] of x [3, height, width] in 0..1.
std::vector<float> compute(const Network& network, const std::vector<float>& x, int64_t height,
                           int64_t width);

inline float twist(float value) { return 0.5f * value + 0.25f; }

}  // namespace rk::sound
