// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/matrix_f16.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/dispatch.h"
#include "kernels/gemm/matrix_units.h"
#include "kernels/half_lanes.h"

namespace rk::kernels {

namespace {

void run(ThreadPool* pool, int64_t count, int64_t grain,
         const std::function<void(IndexRange)>& work) {
  if (pool == nullptr) {
    work({0, count});
  } else {
    pool->parallel_for(count, grain, work);
  }
}

struct UnitSums {
  alignas(64) float part[kMatrixPanels][kMatrixRows][kPanelColumns];
  alignas(64) float total[kMatrixPanels][kMatrixRows][kPanelColumns];  // with groups only
};

// part += A * B over k in [from, to).
void add_range(const RowsF32& a, const PackedF16& b, const MatrixUnit& unit, IndexRange range,
               UnitSums& sums) {
  const int64_t chunk = unit.rows > kFewRows ? kMatrixDepthF16 : b.k;
  const auto* const panels = reinterpret_cast<const uint16_t*>(b.data.data());
  const auto* const rows = reinterpret_cast<const float*>(a.data.data()) + unit.row * a.row_step;
  for (int64_t k = range.begin; k < range.end; k += chunk) {
    b.kernel->multiply({rows + k, a.row_step, unit.rows,
                        panels + (unit.panel * b.k + k) * kPanelColumns, b.k * kPanelColumns,
                        unit.panels, std::min(chunk, range.end - k), sums.part[0][0],
                        kMatrixRows * kPanelColumns});
  }
}

void add_group(const MatrixUnit& unit, int64_t n, const float* scale, int64_t groups,
               UnitSums& sums) {
  for (int64_t p = 0; p < unit.panels; ++p) {
    float factor[kPanelColumns] = {};
    for (int64_t c = 0; c < kPanelColumns; ++c) {
      const int64_t column = (unit.panel + p) * kPanelColumns + c;
      if (column < n) factor[c] = scale[column * groups];
    }
    for (int64_t r = 0; r < unit.rows; ++r) {
      for (int64_t c = 0; c < kPanelColumns; ++c)
        sums.total[p][r][c] += sums.part[p][r][c] * factor[c];
    }
  }
}

void multiply_unit(const RowsF32& a, const PackedF16& b, const GroupScales& groups,
                   const MatrixUnit& unit, const StoreTile<float>& store) {
  UnitSums sums;
  const auto clear = [&](auto& array) {
    for (int64_t p = 0; p < unit.panels; ++p)
      std::memset(array[p], 0, static_cast<size_t>(unit.rows) * sizeof array[p][0]);
  };
  if (groups.group_size == 0) {
    clear(sums.part);
    add_range(a, b, unit, {0, b.k}, sums);
    for (int64_t p = 0; p < unit.panels; ++p) store(unit.tile(p, b.n, sums.part[p][0]));
    return;
  }
  clear(sums.total);
  const int64_t count = b.k / groups.group_size;
  for (int64_t g = 0; g < count; ++g) {
    clear(sums.part);
    add_range(a, b, unit, {g * groups.group_size, (g + 1) * groups.group_size}, sums);
    add_group(unit, b.n, groups.scale + g, count, sums);
  }
  for (int64_t p = 0; p < unit.panels; ++p) store(unit.tile(p, b.n, sums.total[p][0]));
}

}  // namespace

std::vector<const MatrixF16Kernel*> matrix_f16_kernels() {
  return allowed_tables<MatrixF16Kernel>("matrix_f16");
}

const MatrixF16Kernel& matrix_f16_kernel() {
  static const MatrixF16Kernel* const best = matrix_f16_kernels().front();
  return *best;
}

Result<PackedF16> pack_f16(int64_t k, int64_t n, const ReadRowF16& read_row, ThreadPool* pool,
                           const MatrixF16Kernel& kernel) {
  PackedF16 out;
  note_chosen(static_cast<const void*>(&kernel));
  out.kernel = &kernel;
  out.k = k;
  out.n = n;
  const int64_t columns = align_up(n, kPanelColumns);
  RK_ASSIGN(out.data,
            Buffer::try_make(static_cast<uint64_t>(k * columns * 2), 4 * kMaxMatrixBytes));
  auto* const data = reinterpret_cast<uint16_t*>(out.data.data());
  run(pool, k, 8, [&](IndexRange rows) {
    std::vector<uint16_t> line(static_cast<size_t>(columns));
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      read_row(r, line.data());
      for (int64_t c = 0; c < columns; c += kPanelColumns)
        std::memcpy(data + c * k + r * kPanelColumns, line.data() + c,
                    kPanelColumns * sizeof(uint16_t));
    }
  });
  return out;
}

Status load_rows_f16(int64_t m, int64_t k, const ReadRowF16& read_row, ThreadPool* pool,
                     RowsF32& rows) {
  rows.m = m;
  rows.k = k;
  rows.row_step = align_up(k, int64_t{16}) + 16;
  const auto size_bytes = static_cast<uint64_t>(m * rows.row_step * 4);
  if (rows.data.size() < size_bytes) {
    RK_ASSIGN(rows.data, Buffer::try_make(size_bytes, 4 * kMaxMatrixBytes));
  }
  run(pool, m, 8, [&](IndexRange range) {
    std::vector<uint16_t> line(static_cast<size_t>(align_up(k, int64_t{16})));
    for (int64_t r = range.begin; r < range.end; ++r) {
      read_row(r, line.data());
      float* const to = reinterpret_cast<float*>(rows.data.data()) + r * rows.row_step;
      for (int64_t i = 0; i < k; i += 16) widen_lanes<16>(line.data() + i, to + i);
    }
  });
  return ok_status();
}

void matrix_f16(const RowsF32& a, const PackedF16& b, const GroupScales& groups, ThreadPool* pool,
                const StoreTile<float>& store) {
  const MatrixUnits units(a.m, b.n);
  run(pool, units.count(), 1, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i)
      multiply_unit(a, b, groups, units.at(i), store);
  });
}

}  // namespace rk::kernels
