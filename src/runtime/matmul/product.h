// SPDX-License-Identifier: Apache-2.0
// A product C = A * B: what an rknn_matmul_ctx stands for. Not thread-safe: its owner locks it.
//
// Note: binding A or B takes over the contents, as the board's library does when it rearranges them. Two exceptions a
// board has too: a native A needs no rearrangement and is read by every run; and the packed B stays when only M changes.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "kernels/gemm/matrix_f16.h"
#include "kernels/gemm/matrix_i8.h"
#include "runtime/device/memory.h"
#include "runtime/matmul/finish.h"
#include "runtime/matmul/plan.h"

namespace rk::runtime::matmul {

enum class Matrix { kA, kB, kC };

struct Binding {
  std::shared_ptr<DeviceMemory> memory;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // from the offset on
};

class Product {
 public:
  // `plans` has at least one; the first is current.
  Product(const Kind& kind, std::vector<Plan> plans, bool strict);

  const Kind& kind() const { return kind_; }
  const Plan& plan() const { return plans_[current_]; }
  const std::vector<Plan>& plans() const { return plans_; }
  bool strict() const { return strict_; }

  // kInvalidArgument for sizes that the product was not made with.
  Status set_sizes(const MatrixSizes& sizes);

  // Copied. `zero_points` may be empty where B is symmetric.
  Status set_quant(Matrix matrix, std::span<const float> scales,
                   std::span<const int32_t> zero_points);
  // What rknn_matmul_get_quant_params gives: kUnsupported unless B is int8, per channel and C int32.
  Result<float> normalized_scale() const;

  // kInvalidArgument when the memory is too small for the current sizes.
  Status bind(Matrix matrix, Binding binding);
  Status run();

  uint32_t core_mask = 0;

 private:
  const MatrixAttr& attr(Matrix matrix) const;
  Binding& binding(Matrix matrix) { return bindings_[static_cast<size_t>(matrix)]; }
  // Where a bound matrix lies; an error when it is not bound, gone, or too small for the sizes.
  Result<uint8_t*> data(Matrix matrix);
  bool integer_sums() const;
  Status load_a(ThreadPool* pool);
  Status pack_b(ThreadPool* pool);
  Status run_integer(const Target& c, ThreadPool* pool);
  Status run_float(const Target& c, ThreadPool* pool);

  Kind kind_;
  std::vector<Plan> plans_;
  bool strict_ = false;
  size_t current_ = 0;
  ProductQuant quant_;
  Binding bindings_[3];
  bool a_loaded_ = false, b_packed_ = false;
  kernels::RowsI8 a_i8_;
  kernels::RowsF32 a_f32_;
  std::optional<kernels::PackedI8> b_i8_;
  std::optional<kernels::PackedF16> b_f16_;
};

}  // namespace rk::runtime::matmul
