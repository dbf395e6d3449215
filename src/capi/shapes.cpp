// SPDX-License-Identifier: Apache-2.0
// Choosing among the shapes of a dynamic model.
//
// Note: shape k of one input goes with shape k of all others. Only listed combinations exist, however
// sensible another one would be.
#include <algorithm>
#include <optional>
#include <span>

#include "capi/attributes.h"
#include "capi/context.h"
#include "capi/guard.h"

namespace rk::capi {
namespace {

constexpr size_t kMostListed = 8;

const Shape& input_shape(const program::Variant& variant, size_t input) {
  return variant.tensors[static_cast<size_t>(variant.inputs[input])].shape;
}

// The caller's extents in the model's own order; nothing when they are no shape.
std::optional<Shape> wanted_shape(const rknn_tensor_attr& attr) {
  if (attr.n_dims > RKNN_MAX_DIMS) return std::nullopt;
  std::vector<int64_t> dims(attr.dims, attr.dims + attr.n_dims);
  if (dims.size() == 4 && attr.fmt != RKNN_TENSOR_NCHW) {
    dims = {dims[0], dims[3], dims[1], dims[2]};
  }
  auto shape = Shape::make(dims);
  return shape.ok() ? std::optional(shape.value()) : std::nullopt;
}

std::string listed(const program::Program& program) {
  std::string out;
  const size_t count = program.variants.size();
  for (size_t k = 0; k < std::min(count, kMostListed); ++k) {
    const program::Variant& variant = program.variants[k];
    out += out.empty() ? "" : "; ";
    for (size_t i = 0; i < variant.inputs.size(); ++i)
      out += str(i == 0 ? "" : " with ", to_string(input_shape(variant, i)));
  }
  return count > kMostListed ? str(out, "; and ", count - kMostListed, " more") : out;
}

Status static_model() {
  return unsupported(
      "the model has static shapes: convert it with dynamic_input to choose among several");
}

Status choose(Context& context, size_t variant) {
  runtime::Session& session = context.session();
  if (variant == session.variant_index()) return ok_status();
  RK_TRY(session.choose_variant(variant));
  context.previous.frame = 0;
  context.outputs.forget_idle();
  return context.custom_ops.renew(session);
}

Status choose_shapes(Context& context, std::span<const rknn_tensor_attr> attrs) {
  const program::Program& program = context.model().program();
  if (!context.model().dynamic() && context.strict()) return static_model();
  const size_t count = context.description().input_count();
  if (attrs.size() != count) {
    return invalid_argument(str(attrs.size(), " attributes given, the model has ", count,
                                " inputs: all shapes are set in one call"));
  }
  std::vector<std::optional<Shape>> wanted(count);
  for (size_t i = 0; i < count; ++i) {
    // Clients leave every index 0; position tells as well.
    const bool usable = attrs[i].index < count && !wanted[attrs[i].index];
    const size_t at = usable ? attrs[i].index : i;
    if (context.strict() && attrs[i].n_dims == 4 && attrs[i].fmt != RKNN_TENSOR_NHWC)
      return invalid_argument(str("input ", at, ": a shape of four extents is given as NHWC"));
    wanted[at] = wanted_shape(attrs[i]);
    if (!wanted[at]) {
      return invalid_argument(
          str("input ", at, ": n_dims ", attrs[i].n_dims, " or dims are no shape"));
    }
  }
  for (size_t k = 0; k < program.variants.size(); ++k) {
    bool equal = true;
    for (size_t i = 0; i < count && equal; ++i)
      equal = wanted[i] == input_shape(program.variants[k], i);
    if (equal) return choose(context, k);
  }
  if (!context.model().dynamic()) return static_model();
  std::string found;
  for (const auto& shape : wanted) found += str(found.empty() ? "" : " with ", to_string(*shape));
  return invalid_argument(str("shapes ", found,
                              " (in the model's order) are not among those the "
                              "model was built for: ",
                              listed(program)));
}

// The call of 1.5: one input at a time. Other inputs follow.
Status choose_shape(Context& context, const rknn_tensor_attr& attr) {
  if (context.strict())
    return unsupported("this call is retired since 1.5.2: use rknn_set_input_shapes");
  const program::Program& program = context.model().program();
  const std::optional<Shape> wanted = wanted_shape(attr);
  if (attr.index >= context.description().input_count() || !wanted)
    return invalid_argument(str("input index ", attr.index, ", n_dims ", attr.n_dims));
  for (size_t k = 0; k < program.variants.size(); ++k) {
    if (input_shape(program.variants[k], attr.index) == *wanted) return choose(context, k);
  }
  if (!context.model().dynamic()) return static_model();
  return invalid_argument(
      str("input ", attr.index, " has no shape ", to_string(*wanted),
          " (in the model's order); the model was built for: ", listed(program)));
}

}  // namespace
}  // namespace rk::capi

int rknn_set_input_shapes(rknn_context ctx, uint32_t n_inputs, rknn_tensor_attr attr[]) {
  return rk::capi::guarded("rknn_set_input_shapes", [&]() -> rk::Status {
    RK_ASSIGN(const auto locked, rk::capi::find_context(ctx));
    RK_TRY(rk::capi::check_call_exists(*locked));
    if (attr == nullptr) return rk::invalid_argument("attr is NULL");
    return rk::capi::choose_shapes(*locked, {attr, n_inputs});
  });
}

int rknn_set_input_shape(rknn_context ctx, rknn_tensor_attr* attr) {
  return rk::capi::guarded("rknn_set_input_shape", [&]() -> rk::Status {
    RK_ASSIGN(const auto locked, rk::capi::find_context(ctx));
    if (attr == nullptr) return rk::invalid_argument("attr is NULL");
    return rk::capi::choose_shape(*locked, *attr);
  });
}
