// SPDX-License-Identifier: Apache-2.0
// Checks, tables, units and dispatch of the element-wise family.
#include "kernels/eltwise/eltwise.h"

#include "base/checked_math.h"
#include "kernels/dispatch.h"

namespace rk::kernels {

namespace {

Status scale_error(const char* what, ScaleShift scale) {
  return unsupported(str(what, " scale ", scale.scale, " / 2^", scale.shift,
                         " is outside what 64-bit arithmetic holds; shifts are 0..62"));
}

}  // namespace

int64_t eltwise_units(int64_t elements) { return ceil_div(elements, kEltwiseRun); }

Status check_sum_i8(const SumI8Args& args) {
  if (args.input_count < 1) return invalid_argument("element-wise sum: no inputs");
  int64_t bound = 0;
  for (int32_t i = 0; i < args.input_count; ++i) {
    const InputStage& stage = args.inputs[i].stage;
    const int64_t term = scaled_bound(input_bound(stage.zero_point), stage.scale);
    if (term < 0 || __builtin_add_overflow(bound, term, &bound)) {
      return scale_error("element-wise sum: input", stage.scale);
    }
  }
  if (scaled_bound(bound, args.output_stage.scale) < 0) {
    return scale_error("element-wise sum: output", args.output_stage.scale);
  }
  return ok_status();
}

Status check_rescale(const InputStage& input, const OutputStage& output) {
  const SumI8Input one = {nullptr, input};
  return check_sum_i8({.inputs = &one, .input_count = 1, .output_stage = output});
}

bool make_rescale_table(const InputStage& input, const OutputStage& output, int8_t* table) {
  bool identity = true;
  for (int32_t x = -128; x <= 127; ++x) {
    table[x + 128] = to_output(to_inner(static_cast<int8_t>(x), input), output);
    identity &= table[x + 128] == x;
  }
  return identity;
}

void sum_i8(const SumI8Args& args, IndexRange units) { RK_DISPATCH(sum_i8, args, units); }

void table_i8(const TableI8Args& args, IndexRange units) { RK_DISPATCH(table_i8, args, units); }

void table_f16(const TableF16Args& args, IndexRange units) { RK_DISPATCH(table_f16, args, units); }

void sum_f16(const SumF16Args& args, IndexRange units) { RK_DISPATCH(sum_f16, args, units); }

void activate_f16(const ActivateF16Args& args, IndexRange units) {
  RK_DISPATCH(activate_f16, args, units);
}

}  // namespace rk::kernels
