// SPDX-License-Identifier: Apache-2.0
// Gemm: y = alpha * A' * B' + beta * C, where A' and B' may be transposed and C broadcasts to the
// result (one way only). Fully connected layers arrive as Gemm with transB = 1.
#include "ops/shared/matmul_core.h"

namespace rk::ops {
namespace {

Status gemm_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "transA", 0, 1));
  RK_TRY(require_range(call.node, "transB", 0, 1));
  const bool trans_a = call.node.i64("transA") != 0;
  const bool trans_b = call.node.i64("transB") != 0;
  const Shape& a = call.input(0).shape;
  const Shape& b = call.input(1).shape;
  if (a[trans_a ? 0 : 1] != b[trans_b ? 1 : 0]) {
    return refuse("inputs ", to_string(a), trans_a ? " (transposed)" : "", " and ", to_string(b),
                  trans_b ? " (transposed)" : "", " do not fit: inner extents ", a[trans_a ? 0 : 1],
                  " and ", b[trans_b ? 1 : 0], " differ");
  }
  const Shape out = {a[trans_a ? 1 : 0], b[trans_b ? 0 : 1]};
  if (call.has_input(2)) {
    RK_TRY(require_same_dtype(call, 0, 2));
    RK_ASSIGN(const Shape both, broadcast_shapes(out, call.input(2).shape));
    if (!(both == out)) {
      return refuse("input 2 ('c') is ", to_string(call.input(2).shape),
                    ", expected a shape that broadcasts to ", to_string(out));
    }
  }
  return set_output(call, 0, call.input(0).dtype, out.dims());
}

template <typename T>
void multiply(const EvalCall& call) {
  const Node& node = call.node;
  const bool trans_a = node.i64("transA") != 0;
  const bool trans_b = node.i64("transB") != 0;
  const Shape& a = call.input(0).shape();
  const Shape& b = call.input(1).shape();
  const Shape& out = call.output(0).shape();
  const MatrixView<T> left = {call.input(0).data<T>(), trans_a ? 1 : a[1], trans_a ? a[1] : 1};
  const MatrixView<T> right = {call.input(1).data<T>(), trans_b ? 1 : b[1], trans_b ? b[1] : 1};
  const int64_t depth = a[trans_a ? 0 : 1];
  const double alpha = node.f32("alpha");
  const double beta = node.f32("beta");
  const T* c = call.has_input(2) ? call.input(2).data<T>() : nullptr;
  const Strides c_strides =
      c != nullptr ? broadcast_strides(call.input(2).shape(), out) : Strides{};
  T* y = call.output(0).mutable_data<T>();
  call.parallel_for(out[0], 1, [&](IndexRange range) {
    std::vector<SumOf<T>> sums(static_cast<size_t>(out[1]));
    for (int64_t i = range.begin; i < range.end; ++i) {
      multiply_row<T>(left, i, right, depth, sums);
      for (int64_t j = 0; j < out[1]; ++j) {
        const auto sum = sums[static_cast<size_t>(j)];
        const T addend = c == nullptr ? T{0} : c[i * c_strides[0] + j * c_strides[1]];
        if constexpr (std::is_floating_point_v<T>) {
          y[i * out[1] + j] = static_cast<T>(alpha * sum + beta * addend);
        } else if (alpha == 1 && beta == 1) {
          y[i * out[1] + j] = static_cast<T>(wrap_add(sum, static_cast<int64_t>(addend)));
        } else {
          const double value =
              alpha * static_cast<double>(sum) + beta * static_cast<double>(addend);
          uint8_t* to = reinterpret_cast<uint8_t*>(y + i * out[1] + j);
          store_f64(call.output(0).dtype(), to, value);
        }
      }
    }
  });
}

Status gemm_compute(const EvalCall& call) {
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    multiply<decltype(tag)>(call);
    return ok_status();
  });
}

Status gemm_reference(const EvalCall& call) { return halves_as_f32(call, gemm_compute); }

Cost gemm_cost(const Node& node) {
  const Shape& a = node.input(0).shape();
  const auto outputs = static_cast<uint64_t>(node.output().shape().elements());
  return {.macs = outputs * static_cast<uint64_t>(a[node.i64("transA") != 0 ? 0 : 1])};
}

}  // namespace

OpDef gemm() {
  return {
      .name = "Gemm",
      .doc = "y = alpha * A' * B' + beta * C",
      .inputs = {{"a", numbers().rank(2)},
                 {"b", numbers().like(0).rank(2)},
                 {"c", numbers().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"alpha", 1.0f, "factor of the product"},
                {"beta", 1.0f, "factor of c"},
                {"transA", int64_t{0}, "1: a is transposed first"},
                {"transB", int64_t{0}, "1: b is transposed first"}},
      .infer = gemm_infer,
      .reference = gemm_reference,
      .cost = gemm_cost,
      .quant = QuantRule::kAccumulate,
      .weight_axis = [](const Node& node) { return node.i64("transB") != 0 ? 0 : 1; },
  };
}

}  // namespace rk::ops
