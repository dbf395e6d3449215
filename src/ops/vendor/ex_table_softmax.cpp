// SPDX-License-Identifier: Apache-2.0
// exTableSoftmax: softmax over the last axis of int8 scores (x is a code less the zero point), as
// the vendor's lists compute it: the exponential from a table, numbers between the stages are
// halves, the result is an int8 code. table[m][i] is the exponential of code i - 128 in a row whose
// largest is m - 128; a table may end before code 127.
#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

constexpr int64_t kMaxCodes = 256;

Status ex_table_softmax_infer(InferCall& call) {
  RK_TRY(require_same_dtype(call, 0, 1));
  RK_TRY(require_rank(call, 1, 2, 2));
  const Shape& table = call.input(1).shape;
  if (table[0] != table[1] || table[0] < 1 || table[0] > kMaxCodes) {
    return refuse("input 1 ('table') is ", rk::to_string(table),
                  ", expected as many rows as columns, 1 to ", kMaxCodes);
  }
  for (const char* name : {"zero_point", "output_zero_point"}) {
    if (const int64_t zero = call.node.i64(name); zero < INT8_MIN || zero > INT8_MAX)
      return refuse(name, " is ", zero, ", expected -128 to 127");
  }
  return infer_float_same_as_input(call);
}

float as_half(float value) { return half_to_float(float_to_half(value)); }

// The table, and where a score is found in its rows and columns.
struct Exponentials {
  const float* values = nullptr;
  int64_t codes = 0, origin = 0;

  int64_t place(float x) const {
    const float code = x == x ? std::clamp(x, -512.0f, 512.0f) : 0;
    return std::clamp<int64_t>(static_cast<int64_t>(code) + origin, 0, codes - 1);
  }
};

// Of a part of the sum: an int8 code less its zero point, times its unit.
struct Output {
  float factor = 1, unit = 1, low = -128, high = 127;

  // To nearest, ties to even: what is limited to 255 has no bits below one beside 1.5 * 2^23.
  float of(float part) const {
    constexpr float kMagic = 12582912.0f;
    const float code = std::clamp(part * factor, low, high);
    return code == code ? unit * (code + kMagic - kMagic) : 0;
  }
};

void run_row(const float* x, int64_t count, const Exponentials& table, const Output& output,
             float* y) {
  const float* const line =
      table.values + table.place(*std::max_element(x, x + count)) * table.codes;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += y[i] = line[table.place(x[i])];
  const float total = as_half(static_cast<float>(sum));
  // Few codes occur, and neighbors often share one.
  float last = -1, result = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (y[i] != last) result = output.of(as_half(y[i] / total));
    last = y[i];
    y[i] = result;
  }
}

Status ex_table_softmax_compute(const EvalCall& call) {
  const Shape& shape = call.input(0).shape();
  const int64_t count = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  if (shape.elements() == 0) return ok_status();
  const float* const x = call.input(0).data<float>();
  const Exponentials table{call.input(1).data<float>(), call.input(1).shape()[1],
                           call.node.i64("zero_point") - INT8_MIN};
  const auto zero = static_cast<float>(call.node.i64("output_zero_point"));
  const Output output{call.node.f32("factor"), call.node.f32("unit"), -128 - zero, 127 - zero};
  float* const y = call.output(0).mutable_data<float>();
  call.parallel_for(shape.elements() / count, 16, [&](IndexRange range) {
    for (int64_t row = range.begin; row < range.end; ++row)
      run_row(x + row * count, count, table, output, y + row * count);
  });
  return ok_status();
}

Status ex_table_softmax_reference(const EvalCall& call) {
  return in_f32(call, ex_table_softmax_compute);
}

Cost ex_table_softmax_cost(const Node& node) {
  return {.ops = 4 * static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef ex_table_softmax() {
  return {
      .name = "exTableSoftmax",
      .doc = "y = unit * int8(factor * table[max][x] / sum) over the last axis, in halves",
      .inputs = {{"x", floats()}, {"table", floats().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"zero_point", int64_t{0}, "of the scores"},
                {"factor", 1.0f, "of the result before it is rounded to int8"},
                {"output_zero_point", int64_t{0}, "of the result"},
                {"unit", 1.0f, "what one step of the result counts"}},
      .infer = ex_table_softmax_infer,
      .reference = ex_table_softmax_reference,
      .cost = ex_table_softmax_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
