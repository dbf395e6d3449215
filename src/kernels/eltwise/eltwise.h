// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels on flat arrays; layout does not matter as long as all operands share it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/requantize.h"

namespace rk::kernels {

// One unit of every kernel here is a run of this many elements; the last may be shorter.
inline constexpr int64_t kEltwiseRun = 1024;
int64_t eltwise_units(int64_t elements);

struct SumI8Input {
  const int8_t* data = nullptr;
  InputStage stage;
};

// y = output(relu(sum_i rne((x_i - zp_i) * scale_i / 2^shift_i)))
struct SumI8Args {
  const SumI8Input* inputs = nullptr;
  int32_t input_count = 0;  // at least 1
  bool relu = false;
  OutputStage output_stage;
  int8_t* output = nullptr;  // may be one of the inputs
  int64_t elements = 0;
};
Status check_sum_i8(const SumI8Args& args);
void sum_i8(const SumI8Args& args, IndexRange units);

// y = table[x + 128]. Activations without a chip formula, and a change of scale, which is a table
// too.
struct TableI8Args {
  const int8_t* input = nullptr;
  int8_t* output = nullptr;  // may be `input`
  const int8_t* table = nullptr;
  int64_t elements = 0;
};
void table_i8(const TableI8Args& args, IndexRange units);

// y = table[the bits of x], of fp16.
struct TableF16Args {
  const uint16_t* input = nullptr;
  uint16_t* output = nullptr;       // may be `input`
  const uint16_t* table = nullptr;  // 65536 entries
  int64_t elements = 0;
};
void table_f16(const TableF16Args& args, IndexRange units);

// The table of sum_i8 with one input: 256 entries, entry i for x = i - 128. True if it changes
// nothing, so that the caller can pass null where a table is optional, or drop the step.
bool make_rescale_table(const InputStage& input, const OutputStage& output, int8_t* table);
Status check_rescale(const InputStage& input, const OutputStage& output);

// y = relu(a + b) with one rounding; b may be null: then it is a copy or a plain ReLU. -0 and NaN:
// max(v, 0) keeps NaN.
struct SumF16Args {
  const uint16_t* a = nullptr;
  const uint16_t* b = nullptr;
  uint16_t* output = nullptr;  // may be an input
  bool relu = false;
  int64_t elements = 0;
};
void sum_f16(const SumF16Args& args, IndexRange units);

// Activations of a few operations, each rounded in float32, so that the results are the operators' own.
enum class ActivationF16 {
  kHardSigmoid,  // max(0, min(1, alpha * x + beta))
  kHardSwish,    // x * hard_sigmoid(x)
  kLeakyRelu,    // x where x >= 0, alpha * x elsewhere; alpha is finite
};
struct ActivateF16Args {
  const uint16_t* input = nullptr;
  uint16_t* output = nullptr;  // may be `input`
  ActivationF16 kind = ActivationF16::kHardSigmoid;
  float alpha = 0.0f;
  float beta = 0.0f;
  int64_t elements = 0;
};
void activate_f16(const ActivateF16Args& args, IndexRange units);

// y = y clamped to `before`, plus the addend or 0, clamped to `after`. NaN stays.
struct ClampF32Args {
  struct Bounds {
    float low, high;
  };
  float* values = nullptr;
  const float* addend = nullptr;  // or null
  Bounds before, after;
  int64_t elements = 0;
  bool extremes = false;  // wanted
};
// The extremes, if wanted, of what the units became; infinite or NaN where a value is.
ClampF32Args::Bounds clamp_f32(const ClampF32Args& args, IndexRange units);

}  // namespace rk::kernels
