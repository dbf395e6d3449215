// SPDX-License-Identifier: Apache-2.0
// Det: determinants of the square matrices in the last two axes, by elimination with pivoting.
#include <cmath>
#include <utility>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status det_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  const int rank = in.rank();
  if (in[rank - 1] != in[rank - 2]) {
    return refuse("input 0 ('x') is ", rk::to_string(in), ", expected square matrices");
  }
  return set_output(call, 0, call.input(0).dtype, in.dims().first(static_cast<size_t>(rank - 2)));
}

// Takes `matrix` (n x n, row-major) apart.
double determinant(std::vector<double>& matrix, size_t n) {
  double product = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::fabs(matrix[row * n + column]) > std::fabs(matrix[pivot * n + column])) pivot = row;
    }
    if (matrix[pivot * n + column] == 0) return 0;
    if (pivot != column) {
      for (size_t i = 0; i < n; ++i) std::swap(matrix[pivot * n + i], matrix[column * n + i]);
      product = -product;
    }
    const double top = matrix[column * n + column];
    product *= top;
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = matrix[row * n + column] / top;
      for (size_t i = column; i < n; ++i) matrix[row * n + i] -= factor * matrix[column * n + i];
    }
  }
  return product;
}

Status det_reference(const EvalCall& call) {
  const Tensor& x = call.input(0);
  Tensor& out = call.output(0);
  const auto n = static_cast<size_t>(x.shape()[x.shape().rank() - 1]);
  std::vector<double> matrix(n * n);
  for (int64_t m = 0; m < out.elements(); ++m) {
    for (size_t i = 0; i < n * n; ++i) {
      matrix[i] = x.at_f64(m * static_cast<int64_t>(n * n) + static_cast<int64_t>(i));
    }
    uint8_t* to = out.mutable_data<uint8_t>() + static_cast<size_t>(m) * byte_size(out.dtype());
    store_f64(out.dtype(), to, determinant(matrix, n));
  }
  return ok_status();
}

Cost det_cost(const Node& node) {
  const Shape& in = node.input(0).shape();
  return {.macs =
              static_cast<uint64_t>(in.elements()) * static_cast<uint64_t>(in[in.rank() - 1]) / 3};
}

}  // namespace

OpDef det() {
  return {
      .name = "Det",
      .doc = "y = determinants of the matrices in the last two axes",
      .inputs = {{"x", floats().rank(2, kMaxRank)}},
      .outputs = {{"y"}},
      .infer = det_infer,
      .reference = det_reference,
      .cost = det_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
