// SPDX-License-Identifier: Apache-2.0
// RK2118: an audio chip. float16 only, no CPU operators; the NPU name is assumed.
#include "target/capabilities.h"
#include "target/chips.h"

namespace rk::target {

const Target& rk2118() {
  static const Target target = {
      .name = "rk2118",
      .npu_name = "RKNPU audio",
      .family = Family::kC,
      .npu_cores = 1,
      .has_cpu_ops = false,
      .quantized_dtypes = {},
      .has_i8 = false,
      .has_f16 = true,
      .c2_i8 = 8,  // no int8; a value is needed for moved data only
      .c2_f16 = 4,
      .conv_output_channel_align_i8 = 16,
      .conv_output_channel_align_f16 = 8,
      .plane_align = 4,
      .input_width_align_i8 = 8,
      .input_width_align_f16 = 4,
      .picture = {.line_i8 = 0,
                  .line_f16 = 2048,
                  .max_width = 4096,
                  .banks = 8,
                  .area = 128,
                  .reserved = 2,
                  .depthwise_area = 4096,
                  .depthwise_reserved = 1},
      .cost = {.output_lanes_f16 = 8,
               .input_lanes_f16 = 4,
               .min_cycles_f16 = 4,
               .depthwise_lanes = 16,
               .ddr_bytes_per_cycle = 7.465},
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
      .memory = {.depthwise_align_i8 = 16,
                 .depthwise_align_f16 = 8,
                 .depthwise_spare_f16 = 8,
                 .pool_copies = 10,
                 .weight_block_f16 = 4,
                 .weight_least_f16 = 4,
                 .depthwise_copies_f16 = 2,
                 .usual_mib = 64},
      .npu = npu_rows(Column::kRk2118),
  };
  return target;
}

}  // namespace rk::target
