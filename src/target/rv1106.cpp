// SPDX-License-Identifier: Apache-2.0
// RV1103, RV1106 and their B variants: small-memory chips with their own runtime library. Weights of
// a Program are plain; registers/ packs those of lists. The NPU names are assumed.
#include "target/capabilities.h"
#include "target/chips.h"

namespace rk::target {
namespace {

Target common() {
  return {
      .family = Family::kB,
      .npu_cores = 1,
      .cpu_ops = cpu_ops_small(),
      .plane_align = 4,
      .picture = {.line_i8 = 2048,
                  .line_f16 = 2048,
                  .max_width = 4096,
                  .banks = 8,
                  .area = 128,
                  .reserved = 2,
                  .depthwise_area = 4096,
                  .depthwise_reserved = 1},
      // No published rates: RK3566's.
      .time = {.npu_mhz = 500,
               .npu_factor = 1.047,
               .ddr_factor = 1.062,
               .move_ms_per_mb = 0.485,
               .activate_ms_per_mb = 0.398,
               .product_ms_per_mb = 0.08,
               .attention_ms_per_mb = 19.665,
               .us_per_step = 0.0,
               .cpu_ms_per_mb = 0.05},
  };
}

Target make_rv1106() {
  Target target = common();
  target.name = "rv1106";
  target.weight_code = WeightCode::kTwoStreams;
  target.npu_name = "RKNPU mini";
  target.also = {"rv1103"};
  target.quantized_dtypes = {"w8a8", "w16a16i", "w16a16i_dfp"};
  target.has_i16 = true;
  target.c2_i8 = 16;
  target.c2_f16 = 8;
  target.conv_output_channel_align_i8 = 16;
  target.conv_output_channel_align_f16 = 8;
  target.input_width_align_i8 = 16;
  target.input_width_align_f16 = 8;  // float16 inputs are not offered; assumed for sizes
  target.weights_i8 = {.bias_group = 8, .bias_channel_align = 32};  // assumed as RK3588
  target.cost = {.output_lanes_i8 = 16,
                 .output_lanes_f16 = 8,
                 .input_lanes_i8 = 32,
                 .input_lanes_f16 = 16,
                 .min_cycles_i8 = 4,
                 .min_cycles_f16 = 2,
                 .depthwise_lanes = 32,
                 .ddr_bytes_per_cycle = 6.1595,
                 .depthwise_bias_bytes_i8 = 6};
  target.memory = {.depthwise_align_i8 = 32,
                   .depthwise_align_f16 = 16,
                   .depthwise_rest_i8 = 48,
                   .depthwise_copies = 2,
                   .usual_mib = 128};
  target.npu = npu_rows(Column::kRv1106);
  return target;
}

Target make_rv1106b() {
  Target target = common();
  target.name = "rv1106b";
  target.npu_name = "RKNPU mini2";
  target.also = {"rv1103b"};
  target.quantized_dtypes = {"w8a8"};
  target.c2_i8 = 8;
  target.c2_f16 = 4;  // not given; assumed half of int8, as everywhere else
  target.conv_output_channel_align_i8 = 8;
  target.conv_output_channel_align_f16 = 4;
  target.input_width_align_i8 = 8;
  target.input_width_align_f16 = 4;
  target.weights_i8 = {.bias_group = 4, .bias_channel_align = 16};  // assumed as RK3566
  target.cost = {.output_lanes_i8 = 8,
                 .output_lanes_f16 = 4,
                 .input_lanes_i8 = 16,
                 .input_lanes_f16 = 8,
                 .min_cycles_i8 = 4,
                 .min_cycles_f16 = 2,
                 .depthwise_lanes = 16,
                 .ddr_bytes_per_cycle = 7.465,
                 .depthwise_bias_bytes_i8 = 6};
  target.memory = {.depthwise_align_i8 = 8,
                   .depthwise_align_f16 = 4,
                   .depthwise_spare_i8 = 8,
                   .weight_block_i8 = 16,
                   .weight_least_i8 = 8,
                   .picture_lane_i8 = 8,
                   .depthwise_copies = 2,
                   .bias_bytes_i8 = 7,
                   .usual_mib = 128};
  target.npu = npu_rows(Column::kRv1106b);
  return target;
}

}  // namespace

const Target& rv1106() {
  static const Target target = make_rv1106();
  return target;
}

const Target& rv1106b() {
  static const Target target = make_rv1106b();
  return target;
}

}  // namespace rk::target
