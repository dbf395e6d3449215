// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/matrix_i8.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/dispatch.h"
#include "kernels/gemm/matrix_units.h"

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

// One row of panels: `step` rows of B, of which those beyond k are zero.
void pack_step(const PackedI8& b, int64_t k, const std::vector<int8_t>& lines, uint8_t* data) {
  const int64_t step = b.kernel->step;
  const int64_t panel_bytes = align_up(b.k, step) * kPanelColumns;
  for (int64_t column = 0; column < b.n; ++column) {
    uint8_t* const to = data + column / kPanelColumns * panel_bytes + k * kPanelColumns +
                        column % kPanelColumns * step;
    for (int64_t i = 0; i < step; ++i) {
      to[i] = static_cast<uint8_t>(lines[static_cast<size_t>(i * b.n + column)] + b.kernel->bias);
    }
  }
}

// The padding of B counts as 0 + bias, and A's is 0, so neither changes a sum.
void widen_row(const int8_t* from, int64_t k, int32_t element_bytes, uint8_t* to) {
  if (element_bytes == 1) {
    std::memcpy(to, from, static_cast<size_t>(k));
    return;
  }
  for (int64_t i = 0; i < k; ++i) {
    const auto wide = static_cast<int16_t>(from[i]);
    std::memcpy(to + i * 2, &wide, sizeof wide);
  }
}

void multiply_unit(const RowsI8& a, const PackedI8& b, const MatrixUnit& unit,
                   const StoreTile<int32_t>& store) {
  alignas(64) int32_t sums[kMatrixPanels][kMatrixRows][kPanelColumns];
  const MatrixI8Kernel& kernel = *b.kernel;
  const int64_t padded = align_up(b.k, int64_t{kernel.step});
  for (int64_t p = 0; p < unit.panels; ++p) {
    for (int64_t r = 0; r < unit.rows; ++r) {
      const auto start = static_cast<int32_t>(
          0u - static_cast<uint32_t>(kernel.bias) *
                   static_cast<uint32_t>(a.row_sums[static_cast<size_t>(unit.row + r)]));
      for (int32_t& sum : sums[p][r]) sum = start;
    }
  }
  const int64_t chunk = unit.rows > kFewRows ? kMatrixDepth : padded;
  for (int64_t k = 0; k < padded; k += chunk) {
    const int64_t depth = std::min(chunk, padded - k);
    const uint8_t* const rows = a.data.data() + unit.row * a.row_bytes + k * kernel.element_bytes;
    const auto panel_at = [&](int64_t p) {
      return b.data.data() + ((unit.panel + p) * padded + k) * kPanelColumns;
    };
    int64_t p = 0;
    if (unit.rows == 1 && kernel.multiply_row != nullptr) {
      for (; p + kRowPanels <= unit.panels; p += kRowPanels)
        kernel.multiply_row(rows, panel_at(p), padded * kPanelColumns, depth, sums[p][0],
                            kMatrixRows * kPanelColumns);
    }
    for (; p < unit.panels; ++p)
      kernel.multiply(rows, a.row_bytes, unit.rows, panel_at(p), depth, sums[p][0]);
  }
  for (int64_t p = 0; p < unit.panels; ++p) store(unit.tile(p, b.n, sums[p][0]));
}

}  // namespace

std::vector<const MatrixI8Kernel*> matrix_i8_kernels() {
  return allowed_tables<MatrixI8Kernel>("matrix_i8");
}

const MatrixI8Kernel& matrix_i8_kernel() {
  static const MatrixI8Kernel* const best = matrix_i8_kernels().front();
  return *best;
}

Result<PackedI8> pack_i8(int64_t k, int64_t n, const ReadRowI8& read_row, ThreadPool* pool,
                         const MatrixI8Kernel& kernel) {
  PackedI8 out;
  note_chosen(static_cast<const void*>(&kernel));
  out.kernel = &kernel;
  out.k = k;
  out.n = n;
  const int64_t step = kernel.step;
  const int64_t padded = align_up(k, step), columns = align_up(n, kPanelColumns);
  RK_ASSIGN(out.data, Buffer::try_make(static_cast<uint64_t>(padded * columns), kMaxMatrixBytes));
  out.column_sums.assign(static_cast<size_t>(n), 0);
  uint8_t* const data = out.data.data();
  // Few ranges, because each sums the columns of its own rows.
  std::mutex mutex;
  run(pool, padded / step, std::max<int64_t>(1, padded / step / 16), [&](IndexRange steps) {
    std::vector<int8_t> lines(static_cast<size_t>(step * n));
    std::vector<uint32_t> sums(static_cast<size_t>(n));
    for (int64_t s = steps.begin; s < steps.end; ++s) {
      for (int64_t i = 0; i < step; ++i) {
        int8_t* const line = lines.data() + i * n;
        if (s * step + i < k) {
          read_row(s * step + i, line);
        } else {
          std::memset(line, 0, static_cast<size_t>(n));
        }
        for (int64_t c = 0; c < n; ++c)
          sums[static_cast<size_t>(c)] += static_cast<uint32_t>(int32_t{line[c]});
      }
      pack_step(out, s * step, lines, data);
    }
    const std::lock_guard lock(mutex);
    for (size_t c = 0; c < sums.size(); ++c) {
      out.column_sums[c] =
          static_cast<int32_t>(static_cast<uint32_t>(out.column_sums[c]) + sums[c]);
    }
  });
  return out;
}

Status load_rows_i8(int64_t m, int64_t k, const ReadRowI8& read_row, ThreadPool* pool, RowsI8& rows,
                    const MatrixI8Kernel& kernel) {
  // Rows start at cache lines: a whole power of two of bytes would make them fall on the same ones.
  rows.row_bytes = align_up(k * kernel.element_bytes, int64_t{64}) + 64;
  rows.m = m;
  rows.k = k;
  const auto size_bytes = static_cast<uint64_t>(m * rows.row_bytes);
  if (rows.data.size() < size_bytes) {
    RK_ASSIGN(rows.data, Buffer::try_make(size_bytes, 4 * kMaxMatrixBytes));
  }
  rows.row_sums.assign(static_cast<size_t>(m), 0);
  const int64_t padded_bytes = align_up(k, int64_t{kernel.step}) * kernel.element_bytes;
  run(pool, m, 8, [&](IndexRange range) {
    std::vector<int8_t> line(static_cast<size_t>(k));
    for (int64_t r = range.begin; r < range.end; ++r) {
      read_row(r, line.data());
      uint8_t* const to = rows.data.data() + r * rows.row_bytes;
      widen_row(line.data(), k, kernel.element_bytes, to);
      const int64_t end = k * kernel.element_bytes;
      std::memset(to + end, 0, static_cast<size_t>(padded_bytes - end));
      uint32_t sum = 0;
      for (const int8_t v : line) sum += static_cast<uint32_t>(int32_t{v});
      rows.row_sums[static_cast<size_t>(r)] = static_cast<int32_t>(sum);
    }
  });
  return ok_status();
}

void matrix_i8(const RowsI8& a, const PackedI8& b, ThreadPool* pool,
               const StoreTile<int32_t>& store) {
  const MatrixUnits units(a.m, b.n);
  run(pool, units.count(), 1, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) multiply_unit(a, b, units.at(i), store);
  });
}

}  // namespace rk::kernels
