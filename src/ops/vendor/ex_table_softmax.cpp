// SPDX-License-Identifier: Apache-2.0
// exTableSoftmax: softmax over an axis of int8 scores (x is a code less the zero point, times its
// unit), as the vendor's lists compute it: the exponential from a table, numbers between the stages
// are halves, the result is an int8 code. table[m][i] is the exponential of code i - 128 in a row
// whose largest is m - 128; a table may end before code 127.
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
  const int64_t axis = call.node.i64("axis"), rank = call.input(0).shape.rank();
  if (rank != 0 && (axis < -rank || axis >= rank))
    return refuse("axis is ", axis, ", expected ", -rank, " to ", rank - 1);
  if (!(call.node.f32("input_unit") > 0))
    return refuse("input_unit is ", call.node.f32("input_unit"), ", expected a number above 0");
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
  float unit = 1;  // of the scores

  int64_t place(float x) const {
    const float code = x == x ? std::clamp(x / unit, -512.0f, 512.0f) : 0;
    return std::clamp<int64_t>(std::lround(code) + origin, 0, codes - 1);
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
  if (shape.elements() == 0) return ok_status();
  const int rank = shape.rank();
  const int64_t given = call.node.i64("axis");
  const auto axis = static_cast<int>(given < 0 ? given + rank : given);
  const int64_t count = rank == 0 ? 1 : shape[axis];
  int64_t step = 1;  // from one score of a row to the next
  for (int i = axis + 1; i < rank; ++i) step *= shape[i];
  const float* const x = call.input(0).data<float>();
  const Exponentials table{call.input(1).data<float>(), call.input(1).shape()[1],
                           call.node.i64("zero_point") - INT8_MIN, call.node.f32("input_unit")};
  const auto zero = static_cast<float>(call.node.i64("output_zero_point"));
  const Output output{call.node.f32("factor"), call.node.f32("unit"), -128 - zero, 127 - zero};
  float* const y = call.output(0).mutable_data<float>();
  call.parallel_for(shape.elements() / count, 16, [&](IndexRange range) {
    std::vector<float> scores(step == 1 ? 0 : static_cast<size_t>(count)), parts(scores);
    for (int64_t row = range.begin; row < range.end; ++row) {
      if (step == 1) {
        run_row(x + row * count, count, table, output, y + row * count);
        continue;
      }
      const int64_t first = row / step * step * count + row % step;
      for (int64_t i = 0; i < count; ++i) scores[static_cast<size_t>(i)] = x[first + i * step];
      run_row(scores.data(), count, table, output, parts.data());
      for (int64_t i = 0; i < count; ++i) y[first + i * step] = parts[static_cast<size_t>(i)];
    }
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
      .doc = "y = unit * int8(factor * table[max][x] / sum) over an axis, in halves",
      .inputs = {{"x", floats()}, {"table", floats().like(0)}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{-1}, "over which the results add up to one", AttrDef::kDefault,
                 AttrDef::kAxisOfInput},
                {"input_unit", 1.0f, "what one step of the scores counts"},
                {"zero_point", int64_t{0}, "of the scores"},
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
