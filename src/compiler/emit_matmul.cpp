// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul with a constant matrix become a 1x1 convolution between two reshapes, as the
// vendor's compiler does it. Each row of the left matrix is one picture of one pixel.
#include "compiler/conv_step.h"
#include "compiler/emit.h"

namespace rk::compiler {
namespace {

// y [rows, columns] = x [rows, depth] * matrix + bias
struct Product {
  int64_t rows = 1, depth = 1, columns = 1;
  bool matrix_is_columns_first = false;  // stored [columns, depth]
  float alpha = 1, beta = 1;
};

std::optional<Product> product_of(const Node& node) {
  const Shape &a = node.input(0).shape(), &b = node.input(1).shape();
  if (b.rank() != 2 || a.rank() < 2 || !node.input(1).is_constant()) return std::nullopt;
  if (node.input(0).is_constant() || !is_float(node.input(0).dtype())) return std::nullopt;
  Product p;
  if (node.op() == "Gemm") {
    if (node.i64("transA") != 0) return std::nullopt;
    p.matrix_is_columns_first = node.i64("transB") != 0;
    p.alpha = node.f32("alpha");
    p.beta = node.f32("beta");
  }
  p.depth = a[a.rank() - 1];
  p.columns = b[p.matrix_is_columns_first ? 0 : 1];
  if (a.elements() == 0 || p.columns == 0) return std::nullopt;
  p.rows = a.elements() / p.depth;
  return p;
}

// The addend of a Gemm as one value per column; empty optional when it varies over rows.
std::optional<std::vector<float>> bias_of(const Node& node, const Product& p) {
  if (!node.has_input(2)) return std::vector<float>();
  const Value& c = node.input(2);
  const auto columns = static_cast<size_t>(p.columns);
  if (!c.is_constant()) return std::nullopt;
  const Shape& shape = c.shape();
  const bool one = shape.elements() == 1;
  const bool row =
      shape.elements() == p.columns && shape.rank() >= 1 && shape[shape.rank() - 1] == p.columns;
  if (!one && !row) return std::nullopt;
  const std::vector<float> values = c.constant().to_f32();
  std::vector<float> bias(columns);
  for (size_t i = 0; i < columns; ++i) bias[i] = p.beta * values[one ? 0 : i];
  return bias;
}

std::vector<float> weights_of(const Node& node, const Product& p) {
  const std::vector<float> matrix = node.input(1).constant().to_f32();
  std::vector<float> out(matrix.size());
  const auto depth = static_cast<size_t>(p.depth), columns = static_cast<size_t>(p.columns);
  for (size_t n = 0; n < columns; ++n) {
    for (size_t k = 0; k < depth; ++k) {
      const size_t from = p.matrix_is_columns_first ? n * depth + k : k * columns + n;
      out[n * depth + k] = p.alpha * matrix[from];
    }
  }
  return out;
}

void add_reshape(const Node& node, int32_t from, int32_t to, const Shape& shape,
                 std::string_view which, Builder& builder) {
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  const auto* bytes = reinterpret_cast<const uint8_t*>(dims.data());
  const int32_t target = builder.add_constant({.name = str(node.output().name(), which, "_shape"),
                                               .dtype = DType::kI64,
                                               .shape = Shape{shape.rank()},
                                               .bytes = {bytes, bytes + dims.size() * 8},
                                               .kind = program::TensorKind::kCpuConstant});
  builder.add_step({.type = "Reshape",
                    .name = str("Reshape:", node.name(), which),
                    .inputs = {from, target},
                    .outputs = {to},
                    .params = program::OpParams{.op = "Reshape"}});
}

}  // namespace

Result<bool> emit_matmul(const Node& node, const ConvTail* tail, Builder& builder) {
  const auto product = product_of(node);
  if (!product) return false;
  auto bias = bias_of(node, *product);
  if (!bias) return false;
  const Value &x = node.input(0), &w = node.input(1);
  const Value& y = tail != nullptr ? *tail->output : node.output();

  const bool integer = builder.may_use_integers(node) && is_i8(x) && is_i8(y) && w.quantized();
  // Many rows in float: the operator's own kernel is faster than as many one-pixel pictures.
  const bool narrow = builder.options().float_weight_bits < 16;
  if (!integer && !narrow && product->rows > 1) return false;
  std::optional<ChannelScales> scales;
  if (integer) {
    scales = channel_scales(w, product->matrix_is_columns_first ? 0 : 1, product->columns);
    if (!scales || !(product->alpha > 0)) return false;
  }

  ConvSpec spec;
  spec.name = str("Conv:", node.name(), "#2");
  spec.weight_name = w.name();
  spec.keep_weight_scales = w.quantized() && w.quant.min.empty();
  spec.bias_name = node.has_input(2) ? node.input(2).name() : w.name() + "_bias";
  spec.weight_shape = {product->columns, product->depth, 1, 1};
  spec.weights = weights_of(node, *product);
  spec.bias = std::move(*bias);
  spec.in_channels = product->depth;
  spec.out_channels = product->columns;
  spec.macs = macs_of(node);

  const DType form = integer ? DType::kI8 : DType::kF16;
  const Shape in_shape{product->rows, product->depth, 1, 1};
  const Shape out_shape{product->rows, product->columns, 1, 1};
  if (integer) {
    spec.in = affine_of(x);
    spec.out = affine_of(y);
    for (float& scale : scales->scale) scale *= product->alpha;
    spec.weight_scale = std::move(scales->scale);
    spec.weight_zero_point = std::move(scales->zero_point);
    if (tail != nullptr) add_tail(*tail, spec);
  }
  const int32_t from = integer ? builder.home(x) : builder.as_f16(x);
  const int32_t written = builder.output(y, form);
  spec.data = from;
  if (!(x.shape() == in_shape)) {
    spec.data = builder.add_internal(str(y.name(), "-rs_in"), form, in_shape, spec.in);
    add_reshape(node, from, spec.data, in_shape, "-rs_in", builder);
  }
  const bool reshaped = !(y.shape() == out_shape);
  spec.output =
      reshaped ? builder.add_internal(str(y.name(), "-rs"), form, out_shape, spec.out) : written;
  const int32_t result = spec.output;
  RK_TRY(emit_conv_step(std::move(spec), builder));
  if (reshaped) add_reshape(node, result, written, y.shape(), "-rs", builder);
  builder.finish_output(y, written);
  return true;
}

}  // namespace rk::compiler
