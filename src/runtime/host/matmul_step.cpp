// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul of fp16 rows with a constant matrix run on the convolution kernel: where the widths are whole blocks of
// 16, a plain row-major matrix is the blocked form of as many pictures of one pixel, so nothing is converted.
//
// Note: other widths have no such form. They run by the operator's definition, in float32.
#include <limits>

#include "runtime/host/conv_f16_run.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
namespace {

using program::ProgramTensor;

// y [rows, columns] = x [rows, depth] * matrix + bias
struct Product {
  int64_t rows = 0, depth = 0, columns = 0;
  bool columns_first = false;  // the matrix is [columns][depth]
};

bool is_row(const Shape& shape, int64_t columns) {
  return shape.rank() >= 1 && shape.elements() == columns && shape[shape.rank() - 1] == columns;
}

std::variant<Product, Refusal> product_of(const StepContext& context, const program::OpParams& p) {
  const bool gemm = p.op == "Gemm";
  if ((!gemm && p.op != "MatMul") || !context.has_input(0) || !context.has_input(1))
    return Refusal{"not Gemm or MatMul"};
  if (!is_plain_half(context, context.step.inputs[0]) ||
      !is_plain_half(context, context.step.outputs[0])) {
    return Refusal{"input or output is not fp16 in plain order"};
  }
  if (!is_float_constant(context.input(1))) return Refusal{"the matrix is not a float constant"};
  const auto is_one = [&](std::string_view name) {
    return attribute<float>(context, p, name) == 1.0f;
  };
  if (gemm &&
      (attribute<int64_t>(context, p, "transA") != 0 || !is_one("alpha") || !is_one("beta")))
    return Refusal{"transA, alpha or beta has another value than its default"};
  const Shape &a = context.input(0).shape, &b = context.input(1).shape;
  if (a.rank() < 2 || b.rank() != 2 || a.elements() == 0 || b.elements() == 0)
    return Refusal{"not a batch of rows with one matrix"};
  Product out;
  out.columns_first = gemm && attribute<int64_t>(context, p, "transB") != 0;
  out.depth = a[a.rank() - 1];
  out.rows = a.elements() / out.depth;
  out.columns = b[out.columns_first ? 0 : 1];
  Shape result = a;
  result[a.rank() - 1] = out.columns;
  // Shapes that do not fit each other are reported by the operator's own check.
  const bool consistent =
      b[out.columns_first ? 1 : 0] == out.depth && context.output().shape == result;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (!consistent || out.depth % kernels::kHostBlock != 0 ||
      out.columns % kernels::kHostBlock != 0 || out.rows > kMost || out.depth > kMost ||
      out.columns > kMost) {
    return Refusal{"depth or columns are not a multiple of 16"};
  }
  if (context.has_input(2) && !(gemm && is_float_constant(context.input(2)) &&
                                is_row(context.input(2).shape, out.columns))) {
    return Refusal{"the bias is not a constant row"};
  }
  return out;
}

Result<kernels::PackedConvF16> pack(const StepContext& context, const Product& product) {
  kernels::ConvF16Params params;
  params.filter.in_channels = static_cast<int32_t>(product.depth);
  params.filter.out_channels = static_cast<int32_t>(product.columns);
  params.order = product.columns_first ? kernels::WeightOrder::kOihw : kernels::WeightOrder::kIohw;
  RK_ASSIGN(const Tensor matrix, stored_constant(context, 1));
  if (matrix.dtype() == DType::kF16) {
    params.weights_f16 = matrix.data<uint16_t>();
  } else {
    params.weights_f32 = matrix.data<float>();
  }
  Tensor bias;
  if (context.has_input(2)) {
    RK_ASSIGN(const Tensor stored, stored_constant(context, 2));
    bias = stored.cast(DType::kF32);
    params.bias = bias.data<float>();
  }
  params.output_pixels = product.rows;
  return kernels::pack_conv_f16(params);
}

}  // namespace

bool is_plain_half(const StepContext& context, int32_t tensor) {
  const ProgramTensor& t = context.variant.tensors[static_cast<size_t>(tensor)];
  return t.dtype == DType::kF16 && !t.quantized() && !t.is_constant() &&
         !context.host(tensor).blocked && !context.host(tensor).interleaved;
}

bool is_float_constant(const ProgramTensor& t) {
  return t.is_constant() && !t.quantized() && (t.dtype == DType::kF16 || t.dtype == DType::kF32);
}

Result<Tensor> stored_constant(const StepContext& context, size_t input) {
  const TensorType type{context.input(input).dtype, context.input(input).shape};
  RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(type));
  const ByteSpan bytes = context.constant_bytes(input);
  if (bytes.size() < size_bytes) {
    return invalid_model(str("constant '", context.input(input).name, "' has ", bytes.size(),
                             " bytes, expected ", size_bytes));
  }
  return Tensor::from_bytes(type, bytes.first(size_bytes));
}

Result<Attempt> prepare_product(const StepContext& context, const program::OpParams& p) {
  const auto found = product_of(context, p);
  if (const auto* const refusal = std::get_if<Refusal>(&found)) return Attempt(*refusal);
  const auto* const product = std::get_if<Product>(&found);
  PackedConstants::ConvKey key;
  key.dtype = DType::kF16;
  key.weight = context.input(1).weight;
  if (context.has_input(2)) key.bias = context.input(2).weight;
  key.in_channels = product->depth;
  key.out_channels = product->columns;
  key.params.transposed = !product->columns_first;
  RK_ASSIGN(const auto packed, context.constants.conv<kernels::PackedConvF16>(
                                   key, [&] { return pack(context, *product); }));
  const kernels::ConvExtents extents = {
      .batch = static_cast<int32_t>(product->rows), .in = {1, 1}, .out = {1, 1}};
  RK_ASSIGN(StepFunction function,
            run_conv_f16(context, packed, extents,
                         {.input = context.step.inputs[0], .output = context.step.outputs[0]}));
  return Attempt(std::move(function));
}

}  // namespace rk::runtime::host
