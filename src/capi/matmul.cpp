// SPDX-License-Identifier: Apache-2.0
// rknn_matmul_api.h over runtime/matmul: structures in, structures out.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "capi/api.h"
#include "capi/attributes.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "capi/memory.h"
#include "runtime/device/device.h"
#include "runtime/matmul/layout.h"
#include "runtime/matmul/plan.h"

namespace rk::capi {
namespace {

using runtime::matmul::Kind;
using runtime::matmul::Matrix;
using runtime::matmul::MatrixAttr;
using runtime::matmul::MatrixSizes;
using runtime::matmul::Plan;
using runtime::matmul::Product;

// No matrix and no structure lies in the first page: programs built for version 1.6 pass a number here.
constexpr uintptr_t kFirstAddress = 4096;

constexpr int kMaxShapes = 512;

// Where no board and no RKNN_TARGET says otherwise.
constexpr std::string_view kDefaultChip = "rk3588";

struct Board {
  const target::Target* chip = nullptr;
  bool strict = false;
};

Result<Board> board() {
  RK_ASSIGN(const runtime::Device device, runtime::device_from_environment());
  Board out{device.chip, device.strict};
  if (out.chip == nullptr) {
    RK_ASSIGN(out.chip, target::find_target(kDefaultChip));
  }
  return out;
}

// Reads the fields that version 1.5 lacks (its structure ends before iommu_domain_id) as late as possible: group_size
// only where groups are asked for, which that version could not.
runtime::matmul::Request request_of(const rknn_matmul_info* info) {
  runtime::matmul::Request out;
  const auto field = [&](size_t offset, auto& value) {
    std::memcpy(&value, reinterpret_cast<const uint8_t*>(info) + offset, sizeof value);
  };
  int32_t type = 0, domain = 0;
  int16_t b_layout = 0, b_quant = 0, ac_layout = 0, ac_quant = 0, group_size = 0;
  field(offsetof(rknn_matmul_info, type), type);
  field(offsetof(rknn_matmul_info, B_layout), b_layout);
  field(offsetof(rknn_matmul_info, B_quant_type), b_quant);
  field(offsetof(rknn_matmul_info, AC_layout), ac_layout);
  field(offsetof(rknn_matmul_info, AC_quant_type), ac_quant);
  field(offsetof(rknn_matmul_info, iommu_domain_id), domain);
  if (b_quant == RKNN_QUANT_TYPE_PER_GROUP_SYM || b_quant == RKNN_QUANT_TYPE_PER_GROUP_ASYM)
    field(offsetof(rknn_matmul_info, group_size), group_size);
  out.type = type;
  out.b_layout = b_layout;
  out.b_quant = b_quant;
  out.ac_layout = ac_layout;
  out.ac_quant = ac_quant;
  out.iommu_domain = domain;
  out.group_size = group_size;
  return out;
}

rknn_matmul_tensor_attr to_c(const MatrixAttr& attr) {
  rknn_matmul_tensor_attr out{};
  std::memcpy(out.name, attr.name.data(), attr.name.size());
  out.n_dims = static_cast<uint32_t>(attr.dims.size());
  std::copy(attr.dims.begin(), attr.dims.end(), out.dims);
  out.size = static_cast<uint32_t>(attr.size_bytes);
  out.type = to_rknn_type(attr.dtype);
  return out;
}

rknn_matmul_io_attr to_c(const Plan& plan) { return {to_c(plan.a), to_c(plan.b), to_c(plan.c)}; }

Status create(rknn_matmul_ctx* context, const rknn_matmul_info* info,
              const std::vector<MatrixSizes>& shapes, rknn_matmul_io_attr* io_attrs) {
  RK_ASSIGN(const Board on, board());
  RK_ASSIGN(const Kind kind, runtime::matmul::check_request(*on.chip, request_of(info), on.strict));
  std::vector<Plan> plans;
  for (const MatrixSizes& shape : shapes) {
    RK_ASSIGN(Plan plan, runtime::matmul::make_plan(kind, shape, on.strict));
    plans.push_back(std::move(plan));
  }
  std::vector<rknn_matmul_io_attr> attrs;
  for (const Plan& plan : plans) attrs.push_back(to_c(plan));
  auto made = std::shared_ptr<MatmulContext>(
      new MatmulContext{.mutex = {}, .product = Product(kind, std::move(plans), on.strict)});
  *context = add_matmul(std::move(made));
  std::copy(attrs.begin(), attrs.end(), io_attrs);
  return ok_status();
}

Result<Matrix> matrix_named(const char (&name)[RKNN_MAX_NAME_LEN]) {
  const std::string_view text(name, strnlen(name, sizeof name));
  if (text == "A") return Matrix::kA;
  if (text == "B") return Matrix::kB;
  if (text == "C") return Matrix::kC;
  return invalid_argument(str("'", text,
                              "' names no matrix: it is A, B or C, as in "
                              "rknn_matmul_io_attr"));
}

std::string dims_text(const uint32_t* dims, size_t count) {
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) out += str(i == 0 ? "" : ", ", dims[i]);
  return out + "]";
}

bool same_dims(const rknn_matmul_tensor_attr& attr, const MatrixAttr& own) {
  return attr.n_dims == own.dims.size() && std::equal(own.dims.begin(), own.dims.end(), attr.dims);
}

const MatrixAttr& matrix_of(const Plan& plan, Matrix matrix) {
  return matrix == Matrix::kA ? plan.a : matrix == Matrix::kB ? plan.b : plan.c;
}

Status bind(Product& product, const rknn_tensor_mem* mem, const rknn_matmul_tensor_attr* attr) {
  RK_ASSIGN(const Place place, find_memory(mem));
  if (attr == nullptr) return invalid_argument("attr is NULL");
  RK_ASSIGN(const Matrix matrix, matrix_named(attr->name));
  const MatrixAttr& own = matrix_of(product.plan(), matrix);
  if (attr->type != to_rknn_type(own.dtype))
    return invalid_argument(str("matrix ", own.name, " is ",
                                get_type_string(to_rknn_type(own.dtype)), ", attr says ",
                                get_type_string(attr->type)));
  if (!same_dims(*attr, own)) {
    const size_t count = std::min<size_t>(attr->n_dims, RKNN_MAX_DIMS);
    const bool other =
        std::any_of(product.plans().begin(), product.plans().end(),
                    [&](const Plan& plan) { return same_dims(*attr, matrix_of(plan, matrix)); });
    return invalid_argument(str("matrix ", own.name, " is ",
                                dims_text(own.dims.data(), own.dims.size()),
                                " in the current shape, attr says ", dims_text(attr->dims, count),
                                other ? ": call rknn_matmul_set_dynamic_shape first" : ""));
  }
  return product.bind(matrix, {place.memory, place.offset_bytes, place.size_bytes});
}

Status set_quant(Product& product, const rknn_quant_params* params) {
  if (params == nullptr) return invalid_argument("params is NULL");
  RK_ASSIGN(const Matrix matrix, matrix_named(params->name));
  if (params->scale == nullptr || params->scale_len < 1)
    return invalid_argument(str("matrix ", params->name, ": no scales"));
  if (params->zp_len < 0 || (params->zp == nullptr && params->zp_len > 0))
    return invalid_argument(
        str("matrix ", params->name, ": ", params->zp_len, " zero points at a NULL pointer"));
  return product.set_quant(
      matrix, {params->scale, static_cast<size_t>(params->scale_len)},
      {params->zp, params->zp == nullptr ? 0 : static_cast<size_t>(params->zp_len)});
}

Status set_core_mask(Product& product, uint32_t mask) {
  const target::Target& chip = *product.kind().chip;
  RK_TRY(runtime::check_core_mask(chip, mask, false));
  const bool one_core = mask == 0 || mask == 1 || mask == 2 || mask == 4;
  if (!one_core && product.strict())
    return unsupported(str("core mask ", mask, ": a product runs on one core of ", chip.name));
  product.core_mask = mask;
  return ok_status();
}

Status normal_to_native(const void* from, void* to, int64_t k, int64_t n,
                        const rknn_matmul_info* info) {
  if (from == nullptr || to == nullptr) return invalid_argument("B_input or B_output is NULL");
  if (reinterpret_cast<uintptr_t>(info) < kFirstAddress)
    return invalid_argument(str("info is ", info,
                                ", which is not an address: since version 2.0 it is the fifth "
                                "argument, after B_input, B_output, K and N"));
  RK_ASSIGN(const Board on, board());
  runtime::matmul::Request request = request_of(info);
  request.b_layout = RKNN_MM_LAYOUT_NATIVE;
  request.iommu_domain = 0;
  RK_ASSIGN(const Kind kind, runtime::matmul::check_request(*on.chip, request, on.strict));
  RK_ASSIGN(const auto layout, runtime::matmul::native_b(kind, k, n));
  runtime::matmul::to_native(layout, kind.type->b, static_cast<const uint8_t*>(from),
                             static_cast<uint8_t*>(to));
  return ok_status();
}

// Runs `work` on the product behind a handle, locked for the length of the call.
template <typename Work>
int on_product(const char* function, rknn_matmul_ctx handle, const Work& work) {
  return guarded(function, [&]() -> Status {
    RK_ASSIGN(const std::shared_ptr<MatmulContext> context, find_matmul(handle));
    const std::lock_guard lock(context->mutex);
    return work(context->product);
  });
}

}  // namespace
}  // namespace rk::capi

using rk::Status;
using rk::capi::guarded;
using rk::capi::on_product;
using rk::runtime::matmul::MatrixSizes;
using rk::runtime::matmul::Product;

int rknn_matmul_create(rknn_matmul_ctx* ctx, rknn_matmul_info* info, rknn_matmul_io_attr* io_attr) {
  return guarded("rknn_matmul_create", [&]() -> Status {
    if (ctx == nullptr || info == nullptr || io_attr == nullptr)
      return rk::invalid_argument("ctx, info or io_attr is NULL");
    return rk::capi::create(ctx, info, {{info->M, info->K, info->N}}, io_attr);
  });
}

int rknn_matmul_create_dynamic_shape(rknn_matmul_ctx* ctx, rknn_matmul_info* info, int shape_num,
                                     rknn_matmul_shape dynamic_shapes[],
                                     rknn_matmul_io_attr io_attrs[]) {
  return guarded("rknn_matmul_create_dynamic_shape", [&]() -> Status {
    if (ctx == nullptr || info == nullptr || dynamic_shapes == nullptr || io_attrs == nullptr)
      return rk::invalid_argument("ctx, info, dynamic_shapes or io_attrs is NULL");
    if (shape_num < 1 || shape_num > rk::capi::kMaxShapes)
      return rk::invalid_argument(
          rk::str("shape_num ", shape_num, " is not in 1..", rk::capi::kMaxShapes));
    std::vector<MatrixSizes> shapes;
    for (int i = 0; i < shape_num; ++i)
      shapes.push_back({dynamic_shapes[i].M, dynamic_shapes[i].K, dynamic_shapes[i].N});
    return rk::capi::create(ctx, info, shapes, io_attrs);
  });
}

int rknn_matmul_set_io_mem(rknn_matmul_ctx ctx, rknn_tensor_mem* mem,
                           rknn_matmul_tensor_attr* attr) {
  return on_product("rknn_matmul_set_io_mem", ctx,
                    [&](Product& product) { return rk::capi::bind(product, mem, attr); });
}

int rknn_matmul_set_core_mask(rknn_matmul_ctx context, rknn_core_mask core_mask) {
  return on_product("rknn_matmul_set_core_mask", context, [&](Product& product) {
    return rk::capi::set_core_mask(product, static_cast<uint32_t>(core_mask));
  });
}

int rknn_matmul_set_quant_params(rknn_matmul_ctx context, rknn_quant_params* params) {
  return on_product("rknn_matmul_set_quant_params", context,
                    [&](Product& product) { return rk::capi::set_quant(product, params); });
}

int rknn_matmul_get_quant_params(rknn_matmul_ctx ctx, rknn_quant_params* params, float* scale) {
  return on_product("rknn_matmul_get_quant_params", ctx, [&](Product& product) -> Status {
    if (params == nullptr || scale == nullptr)
      return rk::invalid_argument("params or scale is NULL");
    RK_ASSIGN(const auto matrix, rk::capi::matrix_named(params->name));
    if (matrix != rk::runtime::matmul::Matrix::kB)
      return rk::invalid_argument("only B has a normalized scale: set params->name to \"B\"");
    RK_ASSIGN(*scale, product.normalized_scale());
    return rk::ok_status();
  });
}

int rknn_matmul_set_dynamic_shape(rknn_matmul_ctx ctx, rknn_matmul_shape* shape) {
  return on_product("rknn_matmul_set_dynamic_shape", ctx, [&](Product& product) -> Status {
    if (shape == nullptr) return rk::invalid_argument("shape is NULL");
    return product.set_sizes({shape->M, shape->K, shape->N});
  });
}

int rknn_matmul_run(rknn_matmul_ctx ctx) {
  return on_product("rknn_matmul_run", ctx, [](Product& product) { return product.run(); });
}

int rknn_matmul_destroy(rknn_matmul_ctx ctx) {
  return guarded("rknn_matmul_destroy", [&] { return rk::capi::remove_matmul(ctx).status(); });
}

int rknn_B_normal_layout_to_native_layout(void* B_input, void* B_output, int K, int N,
                                          rknn_matmul_info* info) {
  return guarded("rknn_B_normal_layout_to_native_layout",
                 [&] { return rk::capi::normal_to_native(B_input, B_output, K, N, info); });
}
