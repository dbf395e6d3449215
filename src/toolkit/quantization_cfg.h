// SPDX-License-Identifier: Apache-2.0
// <model>.quantization.cfg, the file between the two steps of hybrid quantization: YAML that people edit.
//
//   custom_quantize_layers:
//       Conv__350:0: float16
//   quantize_parameters:
//       FeatureExtractor/MobilenetV2/Conv/Relu6:0:
//           qtype: asymmetric_quantized
//           qmethod: layer
//           dtype: int8
//           min: ...
//
// Note: scale and zero_point repeat what min and max say. Whoever edits one pair leaves the other as it
// was, so an entry is read against what step 1 wrote: the pair that was edited wins, and two edited pairs must agree.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace rk::toolkit {

// The stored form of one tensor; lists have one entry (qmethod layer) or one per channel.
struct TensorEntry {
  std::string dtype = "int8";  // int8 or int16
  int axis = -1;
  std::optional<std::vector<double>> min, max, scale, zero_point;
};

struct QuantizationCfg {
  std::map<std::string, std::string, std::less<>> layers;  // tensor -> float16, int16, int8
  std::map<std::string, TensorEntry, std::less<>> parameters;
};

TensorEntry entry_of(const QuantParams& params);

// Tensors in the graph's order.
std::string write_cfg(const Graph& graph, const QuantizationCfg& cfg);
// Errors name line or tensor.
Result<QuantizationCfg> read_cfg(const std::string& path);

// The parameters an edited entry asks for; none where it says what `before` says. kInvalidArgument names the tensor.
Result<std::optional<QuantParams>> edited_params(std::string_view tensor, const TensorEntry& entry,
                                                 const QuantParams& before);

}  // namespace rk::toolkit
