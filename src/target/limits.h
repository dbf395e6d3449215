// SPDX-License-Identifier: Apache-2.0
// Size and attribute limits of NPU operators, as refuse functions for capability rows: empty text
// accepts, otherwise the reason in words. All read the node only; what depends on the chip comes
// in variants, and capabilities.cpp picks.
#pragma once

#include <string>

#include "ir/graph.h"

namespace rk::target {

std::string refuse_conv(const Node& node);  // dense, grouped and depthwise; FusedConv too
std::string refuse_conv_known_weights(const Node& node);  // the same, weights must be constant
std::string refuse_conv_transpose_any_stride(const Node& node);    // 1..8
std::string refuse_conv_transpose_power_of_two(const Node& node);  // 1, 2, 4, 8
std::string refuse_max_pool(const Node& node);
std::string refuse_average_pool(const Node& node);
std::string refuse_global_pool(const Node& node);
std::string refuse_broadcast(const Node& node);          // Add, Mul, ...: what Expand allows
std::string refuse_channel_broadcast(const Node& node);  // [b,c,1,1] or scalar
std::string refuse_expand(const Node& node);
std::string refuse_axis_beyond_width(const Node& node);  // Concat, Split, Gather: axis 0..3
std::string refuse_gather(const Node& node);
std::string refuse_slice(const Node& node);
std::string refuse_pad(const Node& node);
std::string refuse_pow(const Node& node);
std::string refuse_prelu(const Node& node);
std::string refuse_elu(const Node& node);
std::string refuse_clip(const Node& node);
std::string refuse_resize(const Node& node);
std::string refuse_softmax(const Node& node);  // any axis but the batch
std::string refuse_hardmax(const Node& node);
std::string refuse_hardmax_small(const Node& node);  // RV1103, RV1106
std::string refuse_recurrent(const Node& node);      // GRU, LSTM
std::string refuse_matmul(const Node& node);
std::string refuse_glu(const Node& node);        // axis 1
std::string refuse_attention(const Node& node);  // channels of query and value

}  // namespace rk::target
