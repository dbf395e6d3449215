// SPDX-License-Identifier: Apache-2.0
#include "target/memory_rules.h"

#include <algorithm>
#include <array>

namespace rk::target {
namespace {

struct Row {
  std::string_view chip;
  MemoryRules rules;
};

MemoryRules multi_core() {
  return {.table_copies_f16 = 2,
          .gate_copies_f16 = 2,
          .norm_copies_f16 = 2,
          .gray_lane_i8 = 4,
          .nhwc = NhwcScratch::kPlain,
          .depthwise_whole_bytes_i8 = 300 * 1024,  // seen: 147 KiB whole, 441 not
          .depthwise_add = true,
          .deconv_spare = true,
          .attention_i8 = {4, 4, 64, 256},
          .attention_f16 = {6, 6, 144, 256},  // assumed from several heads
          .attention_heads_i8 = {20, 8, 192, 640},
          .attention_heads_f16 = {20, 12, 256, 384},
          .softmax = {10, 0, 224},
          .slope_bytes_i8 = 1536,
          .slope_bytes_f16 = 512,
          .operand_bytes_i8 = 1024,
          .resize_bytes = 2304};
}

const std::array<Row, 8>& rows() {
  static const std::array<Row, 8> all = {{
      {"rk3588",
       {.table_copies_f16 = 2,
        .gate_copies_f16 = 3,
        .norm_copies_f16 = 2,
        .alone_copies_i8 = 4,
        .nhwc = NhwcScratch::kTwice,
        .depth_to_space_any = false,
        .reshape_scratch = true,
        .attention_i8 = {6, 4, 96, 192},
        .attention_f16 = {8, 6, 144, 256},
        .attention_heads_i8 = {6, 4, 96, 192},
        .attention_heads_f16 = {8, 6, 144, 256},
        .softmax = {3, 1, 0}}},
      {"rk3576",
       [] {
         MemoryRules rules = multi_core();
         // Seen: 306 KiB stay whole, 315 do not.
         rules.deep_kernel_bytes_i8 = 312 * 1024;
         rules.depthwise_whole_bytes_i8 = 470 * 1024;  // seen: 441 KiB whole, 500 not
         return rules;
       }()},
      {"rv1126b", multi_core()},
      {"rk3562",
       {.output_copy = OutputCopy::kNhwc,
        .table_copies_f16 = 2,
        .gate_copies_f16 = 2,
        .nhwc = NhwcScratch::kPlain,
        .depthwise_whole_bytes_i8 = 208 * 1024,  // seen: 192 KiB whole, 220 not
        .linear_any = true,
        .attention_i8 = {4, 4, 48, 256},
        .attention_heads_i8 = {4, 4, 48, 256},
        .softmax = {0, 3, 0}}},
      {"rk3566",
       {.output_copy = OutputCopy::kTransposed,
        .table_copies_f16 = 2,
        .gate_copies_f16 = 3,
        .depth_to_space_any = false}},
      {"rk2118",
       {.add_fusion = AddFusion::kNone,
        .activation_fusion = ActivationFusion::kNone,  // its compiler takes no int8
        .output_copy = OutputCopy::kNhwc,
        .table_copies_f16 = 2,
        .gate_copies_f16 = 3,
        .softmax = {0, 4, 0}}},
      {"rv1106", {.nhwc = NhwcScratch::kPlain, .depthwise_whole_bytes_i8 = 208 * 1024}},
      {"rv1106b",
       {.add_fusion = AddFusion::kWithoutActivation,
        .activation_fusion = ActivationFusion::kOneSlope,
        .nhwc = NhwcScratch::kPlain}},
  }};
  return all;
}

}  // namespace

const MemoryRules& memory_rules(const Target& target) {
  static const MemoryRules none;
  const auto row = std::ranges::find(rows(), target.name, &Row::chip);
  return row == rows().end() ? none : row->rules;
}

}  // namespace rk::target
