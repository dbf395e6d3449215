// SPDX-License-Identifier: Apache-2.0
// RK3566 and RK3568: one core, blocks of 8 channels.
#include "target/capabilities.h"
#include "target/chips.h"

namespace rk::target {

const Target& rk3566() {
  static const Target target = {
      .name = "rk3566",
      .npu_name = "RKNPU lite",
      .also = {"rk3568"},
      .family = Family::kA1,
      .npu_cores = 1,
      .cpu_ops = cpu_ops_full(),
      .quantized_dtypes = {"w8a8"},
      .c2_i8 = 8,
      .c2_f16 = 4,
      .conv_output_channel_align_i8 = 16,
      .conv_output_channel_align_f16 = 8,
      .plane_align = 4,
      .input_width_align_i8 = 8,
      .input_width_align_f16 = 4,
      .output_nhwc_channel_align_i8 = 8,
      .output_nhwc_channel_align_f16 = 4,
      // docs/facts/operators.md gives "<" where the others have "<=": one less.
      .picture = {.line_i8 = 1023,
                  .line_f16 = 1023,
                  .max_width = 4096,
                  .banks = 8,
                  .area = 128,
                  .reserved = 1,
                  .depthwise_area = 4096,
                  .depthwise_reserved = 1},
      // Depthwise blocks: seen in helper weights of resizes only; assumed for convolutions.
      .weights_i8 = {.oc2 = 16,
                     .oc2_min = 1,
                     .ic2 = 32,
                     .ic_small = 16,
                     .first_layer_ic = 8,
                     .depthwise_c2 = 32,
                     .bias_group = 4,
                     .bias_channel_align = 16},
      .cost = {.output_lanes_i8 = 16,
               .output_lanes_f16 = 8,
               .input_lanes_i8 = 32,
               .input_lanes_f16 = 16,
               .min_cycles_i8 = 4,
               .min_cycles_f16 = 2,
               .depthwise_lanes = 32,
               .ddr_bytes_per_cycle = 6.5711,
               .depthwise_bias_bytes_i8 = 8},
      .time = {.npu_mhz = 900,
               .cycle_factor = 0.631,
               .ms_per_mb = 1.834,
               .us_per_step = 63.0,
               .fitted = true},
      .matmul = {.types = 0x6,
                 .k_max = 10240,
                 .transposed_b = false,
                 .i8 = {.a_block = 8,
                        .b_block = {.n = 16, .k = 32},
                        .k_align = 32,
                        .n_align = 16,
                        .n_align_guide = 16,
                        .n_max_guide = 4096},
                 .f16 = {.a_block = 4,
                         .b_block = {.n = 8, .k = 16},
                         .k_align = 16,
                         .n_align = 8,
                         .n_align_guide = 16,
                         .n_max_guide = 4096}},
      .npu = npu_rows(Column::kRk3566),
  };
  return target;
}

}  // namespace rk::target
