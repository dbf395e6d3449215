// SPDX-License-Identifier: Apache-2.0
#include "runtime/matmul/plan.h"

#include <limits>

#include "base/checked_math.h"
#include "base/log.h"

namespace rk::runtime::matmul {
namespace {

using target::MatmulElement;
using target::MatmulRules;
using target::MatmulType;

constexpr int kNorm = 0, kNative = 1, kTransposed = 2;  // rknn_matmul_layout
constexpr int kQuantTypes = 6;

std::string listed_types(const MatmulRules& rules) {
  std::string out;
  for (const MatmulType& type : target::matmul_types()) {
    if (rules.lists(type.value)) out += str(out.empty() ? "" : ", ", type.name);
  }
  return out;
}

Status check_type(const target::Target& chip, const MatmulType* type, int value, bool strict) {
  if (type == nullptr)
    return invalid_argument(str("type ", value, " is not a value of rknn_matmul_type; ", chip.name,
                                " takes ", listed_types(chip.matmul)));
  if (chip.matmul.lists(value)) return ok_status();
  if (!strict && chip.matmul.element(*type).a_block != 0) {
    log(LogLevel::kWarning,
        str("type ", type->name, " is not listed for ", chip.name,
            ": computed all the same, a board refuses it (RKNN_STRICT=1 does too)"));
    return ok_status();
  }
  return invalid_argument(
      str(chip.name, " does not multiply ", type->name, "; it takes ", listed_types(chip.matmul)));
}

Quant quant_of(int value) { return {static_cast<QuantReach>(value / 2), value % 2 == 0}; }

// Blocks of the same size as A's for what C could be next: not published, see docs/matmul.md.
int c_block_of(const MatmulRules& rules, DType c) {
  switch (c) {
    case DType::kI8:
      return rules.i8.a_block;
    case DType::kF16:
    case DType::kBF16:
      return rules.f16.a_block;
    case DType::kI16:
      return 8;
    default:
      return 4;
  }
}

int a_block_of(const MatmulRules& rules, DType a) {
  return a == DType::kI4   ? rules.i4.a_block
         : a == DType::kI8 ? rules.i8.a_block
                           : rules.f16.a_block;
}

Status check_quant(const target::Target& chip, const Kind& kind, const Request& request,
                   bool strict) {
  const MatmulType& type = *kind.type;
  if (kind.ac_quant.reach != QuantReach::kLayer)
    return invalid_argument(
        str("AC_quant_type ", request.ac_quant, ": A and C are quantized per layer only (0 or 1)"));
  if (kind.b_quant.reach == QuantReach::kChannel && strict && type.value != 2 && type.value != 3)
    return invalid_argument(
        str("B_quant_type ", request.b_quant, " with ", type.name, ": ", chip.name,
            " takes scales per channel for INT8_MM_INT8_TO_INT8 and INT8_MM_INT8_TO_INT32 only"));
  if (kind.b_quant.reach != QuantReach::kGroup) return ok_status();
  if (!is_float(type.c) || type.b == DType::kF16)
    return invalid_argument(str("B_quant_type ", request.b_quant, " with ", type.name,
                                ": scales per group need an integer B and a C of floating point"));
  if (request.group_size <= 0)
    return invalid_argument(str("group_size ", request.group_size,
                                ": with scales per group it must say how many elements along K "
                                "share one"));
  return ok_status();
}

Status check_sizes(const Kind& kind, const MatrixSizes& sizes, bool strict) {
  const std::string_view chip = kind.chip->name;
  const MatmulRules& rules = kind.chip->matmul;
  const MatmulElement& element = rules.element(*kind.type);
  if (sizes.m < 1 || sizes.k < 1 || sizes.n < 1)
    return invalid_argument(
        str("M ", sizes.m, ", K ", sizes.k, ", N ", sizes.n, ": each must be at least 1"));
  const auto aligned = [&](const char* name, int64_t value, int align) -> Status {
    if (value % align == 0) return ok_status();
    return invalid_argument(str(name, " ", value, ": ", chip, " takes multiples of ", align,
                                " for ", kind.type->name, ". Pad the matrices with zeros to ",
                                align_up(value, int64_t{align})));
  };
  RK_TRY(aligned("K", sizes.k, element.k_align));
  RK_TRY(aligned("N", sizes.n, strict ? element.n_align_guide : element.n_align));
  if (rules.k_max != 0 && sizes.k > rules.k_max)
    return invalid_argument(str("K ", sizes.k, ": ", chip, " takes at most ", rules.k_max,
                                ". Cut A and B along K and add the products"));
  if (strict && sizes.n > element.n_max_guide)
    return invalid_argument(str("N ", sizes.n, ": ", chip, " takes at most ", element.n_max_guide,
                                " for ", kind.type->name, ". Cut B into several matrices along N"));
  if (kind.group_size != 0 && sizes.k % kind.group_size != 0)
    return invalid_argument(str("group_size ", kind.group_size, " does not divide K ", sizes.k));
  return ok_status();
}

Result<MatrixAttr> attr(std::string_view name, DType dtype, std::vector<int64_t> dims) {
  MatrixAttr out{.name = name, .dims = {}, .size_bytes = 0, .dtype = dtype};
  const auto elements = checked_product(dims);
  const auto bits =
      elements ? checked_mul(*elements, static_cast<uint64_t>(bit_width(dtype))) : std::nullopt;
  if (!bits || *bits / 8 > std::numeric_limits<uint32_t>::max())
    return invalid_argument(
        str("matrix ", name, " takes 4 GiB or more: its size does not fit the interface"));
  out.size_bytes = ceil_div(*bits, uint64_t{8});
  for (const int64_t dim : dims) out.dims.push_back(static_cast<uint32_t>(dim));
  return out;
}

BLayout b_layout(const Kind& kind, BForm form, int64_t k, int64_t n) {
  BLayout out{.form = form, .k = k, .n = n, .sub_n = 0, .sub_k = 0, .segment = 0};
  if (form != BForm::kNative) return out;
  const MatmulRules& rules = kind.chip->matmul;
  out.sub_n = rules.element(*kind.type).b_block.n;
  out.sub_k = rules.element(*kind.type).b_block.k;
  out.segment = rules.k_segment != 0 ? rules.k_segment : align_up(k, out.sub_k);
  return out;
}

std::vector<int64_t> row_dims(int64_t rows, int64_t columns, int block) {
  if (block == 0) return {rows, columns};
  return {ceil_div(columns, int64_t{block}), rows, block};
}

}  // namespace

Result<Kind> check_request(const target::Target& chip, const Request& request, bool strict) {
  if (!chip.matmul.exists())
    return unsupported(str(chip.name,
                           " has no matmul interface: use RK3562, RK3566, RK3568, "
                           "RK3576, RK3588 or RV1126B"));
  Kind kind;
  kind.chip = &chip;
  kind.type = target::find_matmul_type(request.type);
  RK_TRY(check_type(chip, kind.type, request.type, strict));
  if (request.b_layout < kNorm || request.b_layout > kTransposed)
    return invalid_argument(
        str("B_layout ", request.b_layout, " is not 0 (normal), 1 (native) or 2 (transposed)"));
  if (request.ac_layout != kNorm && request.ac_layout != kNative)
    return invalid_argument(
        str("AC_layout ", request.ac_layout, " is not 0 (normal) or 1 (native)"));
  if (request.b_layout == kTransposed && !chip.matmul.transposed_b && strict)
    return invalid_argument(str("B_layout 2: ", chip.name, " takes no transposed B"));
  for (const int quant : {request.b_quant, request.ac_quant}) {
    if (quant < 0 || quant >= kQuantTypes)
      return invalid_argument(str("quantization type ", quant, " is not in 0..5"));
  }
  kind.b_form = request.b_layout == kNative       ? BForm::kNative
                : request.b_layout == kTransposed ? BForm::kTransposed
                                                  : BForm::kNormal;
  kind.native_ac = request.ac_layout == kNative;
  kind.b_quant = quant_of(request.b_quant);
  kind.ac_quant = quant_of(request.ac_quant);
  RK_TRY(check_quant(chip, kind, request, strict));
  if (kind.b_quant.reach == QuantReach::kGroup) kind.group_size = request.group_size;
  // Programs built for version 1.5 have a shorter structure: what lies behind it is not theirs.
  const bool known = request.iommu_domain >= 0 && request.iommu_domain < kIommuDomains;
  kind.iommu_domain = known ? static_cast<int>(request.iommu_domain) : 0;
  if (!known)
    log(LogLevel::kWarning, str("iommu_domain_id ", request.iommu_domain, " is not in 0..",
                                kIommuDomains - 1, ": domain 0 is used"));
  return kind;
}

Result<Plan> make_plan(const Kind& kind, const MatrixSizes& sizes, bool strict) {
  RK_TRY(check_sizes(kind, sizes, strict));
  const MatmulRules& rules = kind.chip->matmul;
  const MatmulType& type = *kind.type;
  Plan plan;
  plan.sizes = sizes;
  plan.b_layout = b_layout(kind, kind.b_form, sizes.k, sizes.n);
  if (kind.native_ac) {
    plan.a_block = a_block_of(rules, type.a);
    plan.c_block = c_block_of(rules, type.c);
  }
  RK_ASSIGN(plan.a, attr("A", type.a, row_dims(sizes.m, sizes.k, plan.a_block)));
  RK_ASSIGN(plan.c, attr("C", type.c, row_dims(sizes.m, sizes.n, plan.c_block)));
  std::vector<int64_t> b_dims = {sizes.k, sizes.n};
  if (kind.b_form == BForm::kTransposed) b_dims = {sizes.n, sizes.k};
  if (kind.b_form == BForm::kNative) {
    const BLayout& b = plan.b_layout;
    b_dims = {ceil_div(sizes.n, b.sub_n), ceil_div(sizes.k, b.sub_k), b.sub_n, b.sub_k};
  }
  RK_ASSIGN(plan.b, attr("B", type.b, std::move(b_dims)));
  return plan;
}

Result<BLayout> native_b(const Kind& kind, int64_t k, int64_t n) {
  RK_TRY(check_sizes(kind, {1, k, n}, false));
  return b_layout(kind, BForm::kNative, k, n);
}

}  // namespace rk::runtime::matmul
