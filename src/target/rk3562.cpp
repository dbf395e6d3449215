// SPDX-License-Identifier: Apache-2.0
// RK3562: one core.
#include "target/capabilities.h"
#include "target/chips.h"

namespace rk::target {

const Target& rk3562() {
  static const Target target = {
      .name = "rk3562",
      .npu_name = "RKNPU t4",
      .family = Family::kA1,
      .npu_cores = 1,
      .cpu_ops = cpu_ops_full(),
      .quantized_dtypes = {"w8a8", "w8a16"},
      .c2_i8 = 16,
      .c2_f16 = 8,
      // The operator list says 32, but in a vendor file a convolution of 8 channels takes one
      // plane. The float16 value is assumed by analogy.
      .conv_output_channel_align_i8 = 16,
      .conv_output_channel_align_f16 = 8,
      .plane_align = 4,
      .input_width_align_i8 = 16,
      .input_width_align_f16 = 8,
      .picture = {.line_i8 = 2048,
                  .line_f16 = 2048,
                  .max_width = 4096,
                  .banks = 8,
                  .area = 128,
                  .reserved = 2,
                  .depthwise_area = 4096,
                  .depthwise_reserved = 1},
      // Depthwise blocks are not known.
      .weights_i8 = {.oc2 = 16,
                     .oc2_min = 1,
                     .ic2 = 32,
                     .ic_small = 16,
                     .first_layer_ic = 4,
                     .depthwise_c2 = 0,
                     .bias_group = 4,
                     .bias_channel_align = 16},
      .cost = {.output_lanes_i8 = 16,
               .output_lanes_f16 = 8,
               .input_lanes_i8 = 32,
               .input_lanes_f16 = 32,
               .min_cycles_i8 = 4,
               .min_cycles_f16 = 2,
               .depthwise_lanes = 64,
               .ddr_bytes_per_cycle = 7.465,
               .weight_align_f16 = 16,
               .depthwise_bias_bytes_i8 = 6},
      .time = {.npu_mhz = 1000,
               .cycle_factor = 0.686,
               .ms_per_mb = 1.399,
               .us_per_step = 30.2,
               .fitted = true},
      .matmul = {.types = 0x6,
                 .k_max = 10240,
                 .transposed_b = true,
                 .i8 = {.a_block = 16,
                        .b_block = {.n = 16, .k = 32},
                        .k_align = 32,
                        .n_align = 16,
                        .n_align_guide = 16,
                        .n_max_guide = 4096},
                 .f16 = {.a_block = 8,
                         .b_block = {.n = 8, .k = 32},
                         .k_align = 32,
                         .n_align = 8,
                         .n_align_guide = 16,
                         .n_max_guide = 4096}},
      .npu = npu_rows(Column::kRk3562),
  };
  return target;
}

}  // namespace rk::target
