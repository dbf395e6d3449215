// SPDX-License-Identifier: Apache-2.0
// What a convolution costs on the NPU, counted as the vendor's compiler counts it when it prints its layer table: cycles of
// the multiplier array, cycles of memory traffic, bytes read. The rules were found by fitting the printed tables of eleven
// chips; docs/board-model.md says on how many rows each holds.
//
// Note: these are a compiler's estimates, not measurements of a board. Times are predicted from them in program/cost.h.
#pragma once

#include <array>
#include <cstdint>

#include "ir/type.h"

namespace rk::target {

struct Target;

// The multiplier array and the memory behind it, one row per chip.
struct CostModel {
  // Output and input channels that one core multiplies per cycle and pixel.
  int output_lanes_i8 = 0;  // 0: the chip has no int8
  int output_lanes_f16 = 0;
  int input_lanes_i8 = 0;
  int input_lanes_f16 = 0;
  // A block of output channels takes at least this many cycles per pixel, however small the kernel.
  int min_cycles_i8 = 4;
  int min_cycles_f16 = 2;
  int depthwise_lanes = 0;          // channels per cycle of a depthwise convolution, any type
  double ddr_bytes_per_cycle = 0;   // NPU cycles, at the clock the compiler assumes
  int depthwise_bias_bytes_i8 = 6;  // per channel; dense int8 convolutions: 8
};

// How cycles and traffic become time: fitted to published frame rates (docs/board-model.md).
struct TimeModel {
  int npu_mhz = 0;              // the highest clock; 0: not known
  double npu_factor = 1;        // share of a counted cycle of the array that a frame takes
  double ddr_factor = 1;        // the same of a counted cycle of memory, on top of it
  double move_ms_per_mb = 0.3;  // NPU steps that are not counted in cycles, per MB (2^20) read
  double activate_ms_per_mb =
      0.3;  // activations by table, per MB written; they join what comes before
  double product_ms_per_mb = 0.1;    // Gemm and normalization, per MB read
  double attention_ms_per_mb = 0.2;  // attention, Softmax, MatMul, per MB read and written
  double us_per_step = 0;            // each step on the NPU
  double cpu_ms_per_mb = 0.2;        // steps on the chip's CPU, per MB read and written
  double us_per_core_switch = 30;    // between a step on one core and one on several
  std::array<int, 3> cpu_mhz = {};   // highest clock of each cluster; 0: no such cluster
  int ddr_mhz = 0;
  bool fitted = false;  // false: taken over from the nearest chip that has published rates
};

// What features, weights and commands take in the chip's memory, as the vendor's compiler lays them out.
struct MemoryModel {
  // Channels that a depthwise convolution writes are rounded up to this. Where `rest` is not 0, channels past the last
  // full 64 take that many instead; `spare` ones are added to counts that are no multiple of 64.
  int depthwise_align_i8 = 0, depthwise_align_f16 = 0;
  int depthwise_rest_i8 = 0, depthwise_rest_f16 = 0;
  int depthwise_spare_i8 = 0, depthwise_spare_f16 = 0;
  int pool_copies = 1;  // features that a MaxPool reads or writes lie so many times
  bool concat_scratch =
      false;  // joining blocks that are not full takes the result's size once more
  // Input channels of a weight lie in blocks; what is left takes the smallest of least, 2 * least, ... that holds it.
  int weight_block_i8 = 32, weight_least_i8 = 16;
  int weight_block_f16 = 32, weight_least_f16 = 8;
  int picture_lane_i8 = 4, picture_lane_f16 = 4;  // the same for pictures of up to 4 channels
  int depthwise_least_i8 = 16, depthwise_least_f16 = 8;
  int depthwise_copies = 1,
      depthwise_copies_f16 = 1;  // 2: weights of a depthwise convolution lie beside their offsets
  bool even_outputs = true;      // int8: an odd count of output channels has one more
  int bias_bytes_i8 = 8;         // per output channel of a dense convolution
  // Beside the constants: once, per int8 convolution, per float16 depthwise convolution, per int8 table.
  int fixed_bytes = 0, conv_bytes_i8 = 0, depthwise_bytes_f16 = 0, table_bytes = 0;
  int command_bytes = 1300;  // register commands and tasks of a step, all core counts; an average
  int usual_mib = 0;         // DDR that boards with this chip usually have
};

struct ConvGeometry {
  DType dtype = DType::kI8;  // of the data: kI8 or kF16
  int64_t batch = 1;
  int64_t in_channels = 0, in_h = 1, in_w = 1;
  int64_t out_channels = 0, out_h = 1, out_w = 1;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t group = 1;
  bool picture = false;  // reads a model input of 1, 3 or 4 interleaved channels
  bool has_bias = true;
  bool has_addend = false;  // a fused Add reads a second feature of the output's shape
};

struct NpuCost {
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  uint64_t ddr_cycles = 0;
  uint64_t npu_cycles = 0;
  uint64_t total_cycles() const { return ddr_cycles > npu_cycles ? ddr_cycles : npu_cycles; }
  bool memory_bound() const { return ddr_cycles > npu_cycles; }
};

// A dense, grouped or depthwise convolution. `target` must have lanes for the dtype.
NpuCost conv_cost(const Target& target, const ConvGeometry& geometry);

// Time of a counted step of which the busiest core has `share`; `mhz` 0: at the chip's highest clock. Memory keeps its
// own clock.
double counted_us(const Target& target, const NpuCost& cost, double share = 1, int mhz = 0);

// Channels that a depthwise convolution's output takes in memory.
int64_t depthwise_channels(const Target& target, DType dtype, int64_t channels);
// Bytes of a convolution's weight and bias in memory, each to a multiple of 64.
uint64_t weight_bytes(const Target& target, const ConvGeometry& geometry);

// Two activations multiplied: [batch, m, k] by [batch, k, n].
NpuCost matmul_cost(const Target& target, DType dtype, int64_t batch, int64_t m, int64_t k,
                    int64_t n);

// Bytes of a feature as the counts see it: channels rounded up to a block, planes not padded. Ranks other than 4 count as
// [N, C, H * W * ...].
uint64_t counted_feature_bytes(const Target& target, DType dtype, const Shape& shape);

}  // namespace rk::target
