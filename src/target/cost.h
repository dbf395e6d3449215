// SPDX-License-Identifier: Apache-2.0
// What a convolution costs on the NPU, counted as the vendor's compiler counts it when it prints its layer table: cycles of
// the multiplier array, cycles of memory traffic, bytes read. The rules were found by fitting the printed tables of eleven
// chips; docs/board-model.md says on how many rows each holds.
//
// Note: these are a compiler's estimates, not measurements of a board. Times are predicted from them in program/cost.h.
#pragma once

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
  int depthwise_lanes = 0;         // channels per cycle of a depthwise convolution, any type
  double ddr_bytes_per_cycle = 0;  // NPU cycles, at the clock the compiler assumes
  int weight_align_f16 = 4;  // input channels of a float16 weight are read in blocks of this many
  int depthwise_bias_bytes_i8 = 6;  // per channel; dense int8 convolutions: 8
};

// How cycles and traffic become time: fitted to published frame rates (docs/board-model.md).
struct TimeModel {
  int npu_mhz = 0;                 // the highest clock; 0: not known
  double cycle_factor = 0.8;       // share of a counted cycle that a frame really takes
  double ms_per_mb = 1.0;          // NPU steps that are not counted in cycles, per MB (2^20) read
  double us_per_step = 20;         // each step on the NPU
  double cpu_ms_per_mb = 4.0;      // steps on the chip's CPU, per MB read and written
  double us_per_core_switch = 30;  // between a step on one core and one on several
  bool fitted = false;  // false: taken over from the nearest chip that has published rates
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

// Two activations multiplied: [batch, m, k] by [batch, k, n].
NpuCost matmul_cost(const Target& target, DType dtype, int64_t batch, int64_t m, int64_t k,
                    int64_t n);

// Bytes of a feature as the counts see it: channels rounded up to a block, planes not padded. Ranks other than 4 count as
// [N, C, H * W * ...].
uint64_t counted_feature_bytes(const Target& target, DType dtype, const Shape& shape);

}  // namespace rk::target
