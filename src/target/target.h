// SPDX-License-Identifier: Apache-2.0
// A chip is data: one file per family fills Target rows; nothing else names a chip. Unknown facts
// are marked where they stand, with what was assumed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/type.h"
#include "target/cost.h"
#include "target/matmul.h"

namespace rk {
class Node;
}

namespace rk::target {

// Which library a chip's programs link, hence which API calls exist there (docs/facts/runtime.md,
// section 1).
enum class Family : uint8_t { kA1, kA2, kB, kC };

// How int8 weights of convolutions are coded where they are stored in fewer bytes (docs/facts/container.md, section 4.5).
enum class WeightCode : uint8_t { kNone, kSixteenStreams, kEightStreams, kTwoStreams };

// How weights and bias of a convolution lie in memory (docs/facts/container.md, sections 4.1 and 4.2).
struct WeightLayout {
  int oc2 = 0;             // output channels per block; 0: not known, written plain
  int oc2_min = 1;         // a single, smaller block is padded to this
  int ic2 = 0;             // input channels per block
  int ic_small = 0;        // block width when no more than this many input channels are left
  int first_layer_ic = 0;  // block width for a picture input of 1, 3 or 4 channels
  int depthwise_c2 =
      0;               // channels per block of a depthwise convolution; 0: not known, written plain
  int bias_group = 0;  // channels per group of the bias block
  int bias_channel_align = 0;
};

// How wide a picture the first convolution can take (docs/facts/operators.md, section 7.3):
// width * kernel height <= line * N, N = banks - max(ceil(kernel area / area), reserved), 1..7.
struct PictureLimit {
  int line_i8 = 0;  // 0: no limit known
  int line_f16 = 0;
  int max_width = 0;
  int banks = 0;
  int area = 0, reserved = 0;                      // Conv and ConvTranspose
  int depthwise_area = 0, depthwise_reserved = 0;  // depthwise convolutions
};

// Limits of one operator on the NPU. Extents of -1 are free.
struct Capability {
  std::string_view op;  // IR operator name
  bool i8 = false, f16 = false, i16 = false;
  // Further conditions on attributes and shapes; empty text accepts, otherwise why not ("kernel 9 >
  // 8").
  std::string (*refuse)(const Node& node) = nullptr;
};

struct Target {
  std::string_view name;      // "rk3588"; what target_platform says
  std::string_view npu_name;  // "RKNPU v2", as in Model slot 1
  std::vector<std::string_view>
      also;  // other chips that take the same models: rk3588s, rk3568, rv1103
  Family family = Family::kA1;
  int npu_cores = 1;
  bool has_cpu_ops = true;
  std::vector<std::string_view> cpu_ops;           // the only ones, when not empty
  std::vector<std::string_view> quantized_dtypes;  // accepted by config: w8a8, w8a16, ...
  bool has_i8 = true, has_f16 = true, has_i16 = false;
  int c2_i8 = 16;  // channels per feature block
  int c2_f16 = 8;
  int conv_output_channel_align_i8 = 32;  // channels a convolution writes are rounded up to this
  int conv_output_channel_align_f16 = 16;
  int plane_align = 4;            // H * W of a plane is rounded up to this, unless it is 1
  int input_width_align_i8 = 16;  // picture inputs of 1, 3 or 4 channels, in pixels
  int input_width_align_f16 = 8;
  int output_nhwc_channel_align_i8 = 0;  // an NHWC output needs this; 0: no condition
  int output_nhwc_channel_align_f16 = 0;
  PictureLimit picture;
  WeightLayout weights_i8;
  WeightLayout weights_f16;
  WeightCode weight_code = WeightCode::kNone;  // of config's compress_weight
  int64_t sram_bytes = 0;
  CostModel cost;
  TimeModel time;
  MemoryModel memory;
  MatmulRules matmul;           // of rknn_matmul_api.h; no types: the chip has no such interface
  std::vector<Capability> npu;  // one row per operator

  // The row for an operator, null when the NPU has none.
  const Capability* find(std::string_view op) const;
  // Empty when the NPU takes the node in this dtype, else the reason in words.
  std::string refuse(const Node& node, DType dtype) const;
  // Empty when the chip's CPU operators take it, else the reason.
  std::string refuse_cpu(const Node& node) const;
};

// By name or alias, any case ("RK3588", "rk3588s"). An unknown name lists the accepted ones.
Result<const Target*> find_target(std::string_view name);
std::span<const Target* const> all_targets();
// Models for `model_target` run on `chip` (same row, or listed as `also`).
bool runs_on(std::string_view model_target, std::string_view chip);

}  // namespace rk::target
