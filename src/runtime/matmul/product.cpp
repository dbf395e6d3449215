// SPDX-License-Identifier: Apache-2.0
#include "runtime/matmul/product.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "base/log.h"
#include "runtime/threads/pool_cache.h"

namespace rk::runtime::matmul {
namespace {

const char* name_of(Matrix matrix) {
  constexpr const char* kNames[] = {"A", "B", "C"};
  return kNames[static_cast<size_t>(matrix)];
}

std::string text(const MatrixSizes& sizes) {
  return str("M ", sizes.m, ", K ", sizes.k, ", N ", sizes.n);
}

struct Range {
  int32_t low, high;
};
Range zero_point_range(DType dtype) {
  if (dtype == DType::kI4) return {-8, 7};
  if (dtype == DType::kI8) return {-128, 127};
  return {-32768, 32767};
}

}  // namespace

Product::Product(const Kind& kind, std::vector<Plan> plans, bool strict)
    : kind_(kind), plans_(std::move(plans)), strict_(strict) {
  const MatrixSizes& sizes = plan().sizes;
  const int64_t count = kind_.b_quant.reach == QuantReach::kChannel ? sizes.n
                        : kind_.b_quant.reach == QuantReach::kGroup
                            ? sizes.n * (sizes.k / kind_.group_size)
                            : 1;
  quant_.b.scale.assign(static_cast<size_t>(count), 1.0f);
  quant_.b.zero_point.assign(static_cast<size_t>(count), 0);
}

const MatrixAttr& Product::attr(Matrix matrix) const {
  return matrix == Matrix::kA ? plan().a : matrix == Matrix::kB ? plan().b : plan().c;
}

bool Product::integer_sums() const {
  return is_integer(kind_.type->a) && kind_.b_quant.reach != QuantReach::kGroup;
}

Status Product::set_sizes(const MatrixSizes& sizes) {
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (!(plans_[i].sizes == sizes)) continue;
    const MatrixSizes before = plan().sizes;
    current_ = i;
    a_loaded_ = false;
    if (before.k == sizes.k && before.n == sizes.n) return ok_status();
    b_packed_ = false;
    if (kind_.b_quant.reach != QuantReach::kLayer) {
      const int64_t per_channel = kind_.group_size == 0 ? 1 : sizes.k / kind_.group_size;
      const auto count = static_cast<size_t>(sizes.n * per_channel);
      if (quant_.b.scale.size() != count) {
        quant_.b.scale.assign(count, 1.0f);
        quant_.b.zero_point.assign(count, 0);
      }
    }
    return ok_status();
  }
  return invalid_argument(str("the context was not made for ", text(sizes), ": it has ",
                              plans_.size(), " shape(s), the first is ", text(plans_[0].sizes)));
}

Status Product::set_quant(Matrix matrix, std::span<const float> scales,
                          std::span<const int32_t> zero_points) {
  MatrixQuant& quant = matrix == Matrix::kA ? quant_.a : matrix == Matrix::kB ? quant_.b : quant_.c;
  const char* const name = name_of(matrix);
  const bool symmetric = matrix == Matrix::kB ? kind_.b_quant.symmetric : kind_.ac_quant.symmetric;
  const size_t count = quant.scale.size();
  const bool fits =
      scales.size() == count && (zero_points.size() == count || (zero_points.empty() && symmetric));
  if (!fits)
    return invalid_argument(str("matrix ", name, ": ", scales.size(), " scales and ",
                                zero_points.size(), " zero points, expected ", count,
                                " of each (1 per layer, N per channel, N * K / group_size per "
                                "group)"));
  for (const float scale : scales) {
    if (!(scale > 0) || !std::isfinite(scale))
      return invalid_argument(str("matrix ", name, ": scale ", scale, " is not a positive number"));
  }
  const DType dtype = attr(matrix).dtype;
  const Range range = zero_point_range(dtype);
  for (const int32_t zero : zero_points) {
    if (symmetric && zero != 0)
      return invalid_argument(str("matrix ", name, ": zero point ", zero,
                                  " with a symmetric quantization type, where all are 0: choose "
                                  "the ASYM type at creation"));
    if (zero < range.low || zero > range.high)
      return invalid_argument(
          str("matrix ", name, ": zero point ", zero, " is not in ", range.low, "..", range.high));
  }
  if (is_float(dtype))
    log(LogLevel::kWarning,
        str("rknn_matmul_set_quant_params, matrix ", name, " is of floating point: no scale used"));
  quant.scale.assign(scales.begin(), scales.end());
  quant.zero_point.assign(count, 0);
  std::copy(zero_points.begin(), zero_points.end(), quant.zero_point.begin());
  // Where sums are of floating point, zero points are part of the packed matrices.
  if (!integer_sums()) a_loaded_ = b_packed_ = false;
  return ok_status();
}

Result<float> Product::normalized_scale() const {
  if (kind_.type->value != 2 || kind_.b_quant.reach != QuantReach::kChannel)
    return unsupported(str("type ", kind_.type->name,
                           ": only INT8_MM_INT8_TO_INT32 with B quantized per channel has a "
                           "normalized scale"));
  return largest_scale(quant_.b);
}

Status Product::bind(Matrix matrix, Binding binding) {
  const MatrixAttr& wanted = attr(matrix);
  if (binding.size_bytes < wanted.size_bytes)
    return invalid_argument(str("matrix ", wanted.name, " takes ", wanted.size_bytes,
                                " bytes, the memory has ", binding.size_bytes,
                                " after its offset"));
  this->binding(matrix) = std::move(binding);
  if (matrix == Matrix::kC) return ok_status();
  const BorrowedPool pool(0);
  if (matrix == Matrix::kB) return pack_b(pool.get());
  a_loaded_ = false;
  return kind_.native_ac ? ok_status() : load_a(pool.get());
}

Result<uint8_t*> Product::data(Matrix matrix) {
  const Binding& bound = binding(matrix);
  const MatrixAttr& wanted = attr(matrix);
  if (bound.memory == nullptr)
    return invalid_argument(
        str("matrix ", wanted.name, " has no memory: call rknn_matmul_set_io_mem for A, B and C"));
  if (bound.memory->released() && !bound.memory->keeps_data())
    return invalid_argument(str("the memory of matrix ", wanted.name, " is destroyed"));
  if (bound.size_bytes < wanted.size_bytes)
    return invalid_argument(str("matrix ", wanted.name, " takes ", wanted.size_bytes,
                                " bytes in the current shape (", text(plan().sizes),
                                "), its memory has ", bound.size_bytes));
  return bound.memory->data() + bound.offset_bytes;
}

Status Product::load_a(ThreadPool* pool) {
  RK_ASSIGN(const uint8_t* const a, data(Matrix::kA));
  const MatrixSizes& sizes = plan().sizes;
  const RowLayout layout{sizes.m, sizes.k, plan().a_block};
  const DType dtype = kind_.type->a;
  if (integer_sums()) {
    RK_TRY(kernels::load_rows_i8(
        sizes.m, sizes.k, [&](int64_t row, int8_t* to) { read_row_i8(layout, dtype, a, row, to); },
        pool, a_i8_));
  } else if (dtype == DType::kF16) {
    RK_TRY(kernels::load_rows_f16(
        sizes.m, sizes.k, [&](int64_t row, uint16_t* to) { read_row_f16(layout, a, row, to); },
        pool, a_f32_));
  } else {
    const int32_t zero = quant_.a.zero_point[0];
    RK_TRY(kernels::load_rows_f16(
        sizes.m, sizes.k,
        [&](int64_t row, uint16_t* to) {
          std::vector<int8_t> line(static_cast<size_t>(sizes.k));
          read_row_i8(layout, dtype, a, row, line.data());
          for (const int8_t value : line) *to++ = float_to_half(static_cast<float>(value - zero));
        },
        pool, a_f32_));
  }
  a_loaded_ = true;
  return ok_status();
}

Status Product::pack_b(ThreadPool* pool) {
  b_packed_ = false;
  b_i8_.reset();
  b_f16_.reset();
  RK_ASSIGN(const uint8_t* const b, data(Matrix::kB));
  const BLayout& layout = plan().b_layout;
  const DType dtype = kind_.type->b;
  const auto integers = [&](int64_t row, int8_t* to) { read_b_row_i8(layout, dtype, b, row, to); };
  if (integer_sums()) {
    RK_ASSIGN(b_i8_, kernels::pack_i8(layout.k, layout.n, integers, pool));
  } else if (dtype == DType::kF16) {
    RK_ASSIGN(b_f16_,
              kernels::pack_f16(
                  layout.k, layout.n,
                  [&](int64_t row, uint16_t* to) { read_b_row_f16(layout, b, row, to); }, pool));
  } else {
    // q - zero point is a small integer, which float16 has exactly.
    const std::vector<int32_t>& zero = quant_.b.zero_point;
    const int64_t groups = kind_.group_size == 0 ? 1 : layout.k / kind_.group_size;
    RK_ASSIGN(b_f16_,
              kernels::pack_f16(
                  layout.k, layout.n,
                  [&](int64_t row, uint16_t* to) {
                    std::vector<int8_t> line(static_cast<size_t>(layout.n));
                    integers(row, line.data());
                    const int64_t g = kind_.group_size == 0 ? 0 : row / kind_.group_size;
                    for (int64_t n = 0; n < layout.n; ++n) {
                      const auto at = static_cast<size_t>(n * groups + g);
                      const int32_t z = zero.size() == 1 ? zero[0] : zero[at];
                      to[n] = float_to_half(static_cast<float>(line[static_cast<size_t>(n)] - z));
                    }
                  },
                  pool));
  }
  b_packed_ = true;
  return ok_status();
}

Status Product::run_integer(const Target& c, ThreadPool* pool) {
  RK_ASSIGN(const IntegerFinish finish, IntegerFinish::make(kind_, plan().sizes, quant_));
  kernels::matrix_i8(a_i8_, *b_i8_, pool, [&](const kernels::MatrixTile<int32_t>& tile) {
    finish.store(tile, a_i8_.row_sums, b_i8_->column_sums, c);
  });
  return ok_status();
}

Status Product::run_float(const Target& c, ThreadPool* pool) {
  std::vector<float> scale = {1.0f};
  kernels::GroupScales groups;
  if (is_integer(kind_.type->b)) {
    if (kind_.group_size != 0) {
      groups = {kind_.group_size, quant_.b.scale.data()};
    } else {
      scale = quant_.b.scale;
    }
  }
  if (is_integer(kind_.type->a)) {
    for (float& s : scale) s *= quant_.a.scale[0];
  }
  kernels::matrix_f16(a_f32_, *b_f16_, groups, pool,
                      [&](const kernels::MatrixTile<float>& tile) { store_float(tile, scale, c); });
  return ok_status();
}

Status Product::run() {
  RK_ASSIGN(uint8_t* const out, data(Matrix::kC));
  const BorrowedPool pool(0);
  if (!b_packed_) RK_TRY(pack_b(pool.get()));
  if (!a_loaded_ || kind_.native_ac) RK_TRY(load_a(pool.get()));
  const Target c{{plan().sizes.m, plan().sizes.n, plan().c_block}, kind_.type->c, out};
  return integer_sums() ? run_integer(c, pool.get()) : run_float(c, pool.get());
}

}  // namespace rk::runtime::matmul
