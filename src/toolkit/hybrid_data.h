// SPDX-License-Identifier: Apache-2.0
// <model>.data of hybrid quantization: what step 2 must know beside the graph and what people edit. JSON text.
#pragma once

#include <map>
#include <string>

#include "quant/channel_stats.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::toolkit {

struct HybridData {
  Config config;
  std::string dataset;
  int rknn_batch_size = 1;
  quant::Ranges ranges;
  // Parameters that the model itself brought.
  std::map<std::string, QuantParams, std::less<>> own_params;
  // Means of the layers' inputs per channel, where biases are corrected; the rest of the statistics is not kept.
  quant::ValueStats stats;
  // The optimized graph at the other sets of dynamic_input (max_shape_first), as text without what the .model file has.
  std::vector<std::string> other_shapes;
  uint32_t model_crc32 = 0;  // of the .model file that belongs to it
};

std::string write_hybrid_data(const HybridData& data);
Result<HybridData> read_hybrid_data(const std::string& path);

}  // namespace rk::toolkit
