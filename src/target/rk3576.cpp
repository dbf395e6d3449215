// SPDX-License-Identifier: Apache-2.0
// RK3576 (two cores) and RV1126B (one core): the same operators and layouts.
#include "target/capabilities.h"
#include "target/chips.h"

namespace rk::target {
namespace {

Target common() {
  return {
      .cpu_ops = cpu_ops_full(),
      .quantized_dtypes = {"w8a8", "w4a16"},
      .c2_i8 = 16,
      .c2_f16 = 8,
      .conv_output_channel_align_i8 = 32,
      .conv_output_channel_align_f16 = 16,
      .plane_align = 4,
      .input_width_align_i8 = 16,
      .input_width_align_f16 = 8,
      // The float16 rules for ConvTranspose and depthwise are printed with other constants, which
      // look like slips; the int8 ones stand here.
      .picture = {.line_i8 = 2048,
                  .line_f16 = 2048,
                  .max_width = 4096,
                  .banks = 8,
                  .area = 128,
                  .reserved = 2,
                  .depthwise_area = 2048,
                  .depthwise_reserved = 1},
      // Depthwise blocks are not known.
      .weights_i8 = {.oc2 = 32,
                     .oc2_min = 16,
                     .ic2 = 32,
                     .ic_small = 16,
                     .first_layer_ic = 4,
                     .depthwise_c2 = 0,
                     .bias_group = 8,
                     .bias_channel_align = 32},
      .weight_code = WeightCode::kTwoStreams,
      .cost = {.output_lanes_i8 = 32,
               .output_lanes_f16 = 16,
               .input_lanes_i8 = 32,
               .input_lanes_f16 = 32,
               .min_cycles_i8 = 4,
               .min_cycles_f16 = 2,
               .depthwise_lanes = 64,
               .ddr_bytes_per_cycle = 7.465,
               .depthwise_bias_bytes_i8 = 6},
      .memory = {.depthwise_align_i8 = 64,
                 .depthwise_align_f16 = 32,
                 .depthwise_rest_i8 = 96,
                 .depthwise_rest_f16 = 48,
                 .picture_lane_i8 = 8,
                 .depthwise_copies = 2,
                 .fixed_bytes = 18688,
                 .conv_bytes_i8 = 512,
                 .depthwise_bytes_f16 = 512,
                 .table_bytes = 2048,
                 .command_bytes = 5000,
                 .usual_mib = 4096},
      // RV1126B has the calls but no published list: taken to be RK3576's.
      .matmul = {.types = 0x9b6,
                 .k_segment = 4096,
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
      .npu = npu_rows(Column::kRk3576),
  };
}

Target make_rk3576() {
  Target target = common();
  target.name = "rk3576";
  target.npu_name = "RKNPU f2";
  target.family = Family::kA2;
  target.npu_cores = 2;
  target.time = {.npu_mhz = 950,
                 .npu_factor = 1.082,
                 .ddr_factor = 0.094,
                 .move_ms_per_mb = 0.245,
                 .activate_ms_per_mb = 0.0,
                 .product_ms_per_mb = 0.101,
                 .attention_ms_per_mb = 0.132,
                 .us_per_step = 8.459,
                 .cpu_ms_per_mb = 0.058,
                 .cpu_mhz = {2208, 2304},
                 .ddr_mhz = 2112,
                 .fitted = true};
  return target;
}

Target make_rv1126b() {
  Target target = common();
  target.name = "rv1126b";
  target.npu_name = "RKNPU f3";
  target.family = Family::kA1;
  target.npu_cores = 1;
  // No published rates: RK3576's, whose array and memory the compiler counts alike.
  target.time = {.npu_mhz = 900,
                 .npu_factor = 1.082,
                 .ddr_factor = 0.094,
                 .move_ms_per_mb = 0.245,
                 .activate_ms_per_mb = 0.0,
                 .product_ms_per_mb = 0.101,
                 .attention_ms_per_mb = 0.132,
                 .us_per_step = 8.459,
                 .cpu_ms_per_mb = 0.058};
  return target;
}

}  // namespace

const Target& rk3576() {
  static const Target target = make_rk3576();
  return target;
}

const Target& rv1126b() {
  static const Target target = make_rv1126b();
  return target;
}

}  // namespace rk::target
