// SPDX-License-Identifier: Apache-2.0
// What a caller of rknn_matmul_api.h asks for, checked against the chip, and what the three matrices look like.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "runtime/matmul/layout.h"
#include "target/target.h"

namespace rk::runtime::matmul {

enum class QuantReach : uint8_t { kLayer, kChannel, kGroup };

struct Quant {
  QuantReach reach = QuantReach::kLayer;
  bool symmetric = true;
};

// rknn_matmul_info, as far as its numbers mean something. M, K and N are in MatrixSizes.
struct Request {
  int type = 0;
  int b_layout = 0, ac_layout = 0;  // values of rknn_matmul_layout
  int b_quant = 0, ac_quant = 0;    // values of rknn_matmul_quant_type
  int64_t iommu_domain = 0;
  int64_t group_size = 0;
};

struct MatrixSizes {
  int64_t m = 0, k = 0, n = 0;
  bool operator==(const MatrixSizes&) const = default;
};

// A, B or C as the caller has to fill or read it.
struct MatrixAttr {
  std::string_view name;
  std::vector<uint32_t> dims;
  uint64_t size_bytes = 0;
  DType dtype = DType::kUndefined;
};

// What does not depend on the sizes.
struct Kind {
  const target::Target* chip = nullptr;
  const target::MatmulType* type = nullptr;
  BForm b_form = BForm::kNormal;
  bool native_ac = false;
  Quant b_quant, ac_quant;
  int iommu_domain = 0;
  int64_t group_size = 0;  // 0: no groups
};

// kInvalidArgument, with the rule, for what the chip does not take. Outside strict mode combinations of types that the
// header declares but the chip does not list are taken too, as are quantization reaches beyond the listed ones.
Result<Kind> check_request(const target::Target& chip, const Request& request, bool strict);

// One size of a product.
struct Plan {
  MatrixSizes sizes;
  BLayout b_layout;
  int a_block = 0, c_block = 0;  // elements of a native block; 0: normal
  MatrixAttr a, b, c;
};
// kInvalidArgument where a size breaks the chip's rule; the message names it.
Result<Plan> make_plan(const Kind& kind, const MatrixSizes& sizes, bool strict);

// Native B of this kind; for rknn_B_normal_layout_to_native_layout.
Result<BLayout> native_b(const Kind& kind, int64_t k, int64_t n);

inline constexpr int kIommuDomains = 16;

}  // namespace rk::runtime::matmul
