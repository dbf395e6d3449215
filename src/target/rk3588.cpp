// SPDX-License-Identifier: Apache-2.0
// RK3588 and RK3588S: three cores. The chip most facts were decoded on.
#include "target/capabilities.h"
#include "target/chips.h"

namespace rk::target {

const Target& rk3588() {
  static const Target target = {
      .name = "rk3588",
      .npu_name = "RKNPU v2",
      .also = {"rk3588s"},
      .family = Family::kA2,
      .npu_cores = 3,
      .cpu_ops = cpu_ops_full(),
      .quantized_dtypes = {"w8a8"},
      .c2_i8 = 16,
      .c2_f16 = 8,
      .conv_output_channel_align_i8 = 32,
      .conv_output_channel_align_f16 = 16,
      .plane_align = 4,
      .input_width_align_i8 = 16,
      .input_width_align_f16 = 8,
      .output_nhwc_channel_align_i8 = 16,
      .output_nhwc_channel_align_f16 = 8,
      // The published N starts at 9 here and is limited to 1..7; larger values count as 7.
      .picture = {.line_i8 = 2048,
                  .line_f16 = 1024,
                  .max_width = 8192,
                  .banks = 12,
                  .area = 128,
                  .reserved = 3,
                  .depthwise_area = 2048,
                  .depthwise_reserved = 3},
      .weights_i8 = {.oc2 = 32,
                     .oc2_min = 1,
                     .ic2 = 32,
                     .ic_small = 16,
                     .first_layer_ic = 16,
                     .depthwise_c2 = 64,
                     .bias_group = 8,
                     .bias_channel_align = 32},
      .sram_bytes = 956 * 1024,
      .macs_per_cycle_i8 = 1024,  // from 6 TOPS at 1 GHz over three cores
      .npu_mhz = 1000,
      // INT8 to INT32, INT8 and FLOAT32; FLOAT16 to both; INT4 to INT16.
      .matmul = {.types = 0x61e,
                 .k_segment = 8192,
                 .transposed_b = true,
                 .i4 = {.a_block = 32,
                        .b_block = {.n = 64, .k = 32},
                        .k_align = 32,
                        .n_align = 64,
                        .n_align_guide = 64,
                        .n_max_guide = 8192},
                 .i8 = {.a_block = 16,
                        .b_block = {.n = 32, .k = 32},
                        .k_align = 32,
                        .n_align = 32,
                        .n_align_guide = 32,
                        .n_max_guide = 4096},
                 .f16 = {.a_block = 8,
                         .b_block = {.n = 16, .k = 32},
                         .k_align = 32,
                         .n_align = 16,
                         .n_align_guide = 32,
                         .n_max_guide = 4096}},
      .npu = npu_rows(Column::kRk3588),
  };
  return target;
}

}  // namespace rk::target
