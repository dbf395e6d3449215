// SPDX-License-Identifier: Apache-2.0
// Matrix multiplications, embeddings and recurrent layers.
#include <algorithm>

#include "frontends/tflite/importer.h"

namespace rk::frontends::tflite {
namespace {

std::vector<int64_t> dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

// Columns from the order H, W, C of a flattened picture to C, H, W. Integers stay integers.
Result<Value*> reordered_columns(OpImport& op, const Shape& picture) {
  const TfTensor& from = op.input(1);
  RK_ASSIGN(Value* const plain, op.weights(1, {0, 1}));
  if (from.scale.size() > 1 && from.axis != 0) return nullptr;
  Value* source = plain;
  const Node* const real = plain->producer();  // the DequantizeLinear of integer weights
  if (real != nullptr) source = &real->input(0);
  if (!source->is_constant()) return nullptr;
  GraphBuilder& builder = op.builder();
  const int64_t rows = source->shape()[0];
  RK_ASSIGN(Value * moved,
            reshaped(builder, source, {rows, picture[1], picture[2], picture[3]}, "/picture"));
  RK_ASSIGN(moved, transposed(builder, moved, {0, 3, 1, 2}, "/moved"));
  RK_ASSIGN(moved, reshaped(builder, moved, dims_of(source->shape()), "/columns"));
  if (real == nullptr) return moved;
  std::vector<Value*> inputs = real->inputs();
  inputs[0] = moved;
  return op.emit("DequantizeLinear", "/weights", std::move(inputs), real->attrs());
}

}  // namespace

// Inputs: [..., K], weights [N, K], a bias. Everything before K is one batch.
Status fully_connected(OpImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(const auto format, op.option<int8_t>(1, 0));
  if (format != 0) {
    return unsupported("weights in a shuffled order are not taken; convert the model again");
  }
  RK_ASSIGN(const auto keeps_dims, op.option<uint8_t>(2, 0));
  RK_ASSIGN(Held* const held, op.held(0));
  const Shape shape = held->shape();
  if (op.input(1).dims.size() != 2) return invalid_model("weights must be of rank 2");
  const int64_t depth = op.input(1).dims[1], results = op.input(1).dims[0];
  if (depth < 1 || shape.elements() % depth != 0) {
    return invalid_model(str("weights over ", depth, " elements do not divide ", to_string(shape)));
  }
  const int64_t rows = shape.elements() / depth;
  Value* matrix = nullptr;
  Value* weights = nullptr;
  if (held->flat != nullptr && held->last == nullptr && held->flat->shape()[1] == depth) {
    RK_ASSIGN(weights, reordered_columns(op, held->picture));
    if (weights != nullptr) matrix = held->flat;
  }
  if (matrix == nullptr) {
    RK_ASSIGN(weights, op.weights(1, {0, 1}));
    RK_ASSIGN(matrix, op.last(0));
    RK_ASSIGN(matrix, reshaped(op.builder(), matrix, {rows, depth}, "/rows"));
  }
  std::vector<Value*> inputs = {matrix, weights};
  if (op.has(2)) {
    RK_ASSIGN(Value* const bias, op.weights(2, {0}));
    inputs.push_back(bias);
  }
  RK_ASSIGN(Value * value, op.emit("Gemm", "/gemm", std::move(inputs), {{"transB", int64_t{1}}}));
  RK_ASSIGN(const Fused activation, op.fused(0));
  RK_ASSIGN(value, op.activated(value, activation));
  if (keeps_dims != 0 && shape.rank() != 2 && shape[shape.rank() - 1] == depth) {
    std::vector<int64_t> dims = dims_of(shape);
    dims.back() = results;
    RK_ASSIGN(value, reshaped(op.builder(), value, dims, "/shape"));
  }
  return op.bind(0, value, Order::kFile, Rounding::kTwice);
}

// Inputs: indices, table.
Status embedding_lookup(OpImport& op) {
  RK_TRY(op.need_inputs(2));
  RK_ASSIGN(Value* const indices, op.last(0));
  RK_ASSIGN(Value* const table, op.last(1));
  RK_ASSIGN(Value* const value,
            op.emit("Gather", "/gather", {table, indices}, {{"axis", int64_t{0}}}));
  return op.bind(0, value, Order::kFile);
}

namespace {

// A constant matrix or vector of an LSTM as real numbers; empty when it is absent.
Result<std::vector<float>> real_numbers(OpImport& op, size_t i, size_t expected) {
  if (!op.has(i)) return std::vector<float>();
  const TfTensor& from = op.input(i);
  RK_ASSIGN(Value * value, op.weights(i, [&] {
    std::vector<int64_t> same;
    for (size_t axis = 0; axis < from.dims.size(); ++axis)
      same.push_back(static_cast<int64_t>(axis));
    return same;
  }()));
  float scale = 1;
  int64_t zero = 0;
  if (const Node* const real = value->producer()) {
    if (from.scale.size() != 1)
      return unsupported("weights with a scale per channel are not taken");
    value = &real->input(0);
    scale = from.scale[0];
    zero = from.dtype == DType::kU8 ? from.zero_point[0] - 128 : from.zero_point[0];
  }
  if (!value->is_constant()) {
    return unsupported(str("'", from.name, "' is computed at run time; it must be a constant"));
  }
  std::vector<float> out = value->constant().to_f32();
  if (out.size() != expected) {
    return invalid_model(
        str("'", from.name, "' has ", out.size(), " elements, expected ", expected));
  }
  if (from.is_quantized()) {
    for (float& x : out) x = (x - static_cast<float>(zero)) * scale;
  }
  return out;
}

// Gates are stored in the order input, forget, cell, output; ONNX wants input, output, forget, cell.
constexpr size_t kGateOrder[] = {0, 3, 1, 2};

// Four matrices [cells, depth] as one. A coupled input gate is 1 - forget = sigmoid(-z).
Result<std::vector<float>> stacked(OpImport& op, size_t first_input, size_t size, bool coupled) {
  std::vector<float> out;
  for (const size_t gate : kGateOrder) {
    const bool mirrors = gate == 0 && coupled;
    RK_ASSIGN(std::vector<float> part, real_numbers(op, first_input + (mirrors ? 1 : gate), size));
    if (part.empty()) return invalid_model(str("input ", first_input + gate, " is not there"));
    if (mirrors) {
      for (float& x : part) x = -x;
    }
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

// `time_first`: [time, batch, depth], else [batch, time, depth].
Status lstm(OpImport& op, Value* input, bool time_first, bool drops_time) {
  for (const size_t i : {16u, 17u, 20u, 21u, 22u, 23u}) {
    if (op.has(i)) {
      return unsupported(i < 20 ? "with a projection is not taken"
                                : "with layer normalization is not taken");
    }
  }
  RK_ASSIGN(const auto activation, op.option<int8_t>(0, 0));
  RK_ASSIGN(const float cell_clip, op.option<float>(1, 0));
  RK_ASSIGN(const float output_clip, op.option<float>(2, 0));
  if (activation != 4 || cell_clip != 0 || output_clip != 0) {
    return unsupported(str("with activation number ", static_cast<int>(activation), ", cell clip ",
                           cell_clip, " and projection clip ", output_clip,
                           " is not taken; tanh (4) without clipping is"));
  }
  if (input->shape().rank() != 3 || !op.has(2) || op.input(2).dims.size() != 2) {
    return invalid_model(str("input is ", to_string(input->shape()), "; rank 3 is expected"));
  }
  const int64_t cells = op.input(2).dims[0], depth = input->shape()[2];
  if (cells < 1 || cells > 1 << 20) return invalid_model(str(cells, " cells"));
  const bool coupled = !op.has(1);
  if (!time_first) {
    RK_ASSIGN(input, transposed(op.builder(), input, {1, 0, 2}, "/time_first"));
  }
  const auto n = static_cast<size_t>(cells);
  RK_ASSIGN(const auto w, stacked(op, 1, n * static_cast<size_t>(depth), coupled));
  RK_ASSIGN(const auto r, stacked(op, 5, n * n, coupled));
  RK_ASSIGN(std::vector<float> b, stacked(op, 12, n, coupled));
  b.resize(8 * n, 0.0f);  // the second half is the recurrent bias
  GraphBuilder& builder = op.builder();
  const std::string name = op.output(0).name;
  std::vector<Value*> inputs = {
      input, builder.constant(name + "/w", Tensor::f32({1, 4 * cells, depth}, w)),
      builder.constant(name + "/r", Tensor::f32({1, 4 * cells, cells}, r)),
      builder.constant(name + "/b", Tensor::f32({1, 8 * cells}, b))};
  if (op.has(9) || op.has(10) || op.has(11)) {
    // Peepholes: input, forget, output -> input, output, forget.
    std::vector<float> p;
    for (const size_t i : {9u, 11u, 10u}) {
      RK_ASSIGN(std::vector<float> part, real_numbers(op, i == 9 && coupled ? 10 : i, n));
      if (part.empty()) part.assign(n, 0.0f);
      for (float& x : part) x = i == 9 && coupled ? -x : x;
      p.insert(p.end(), part.begin(), part.end());
    }
    inputs.resize(7, nullptr);
    inputs.push_back(builder.constant(name + "/p", Tensor::f32({1, 3 * cells}, p)));
  }
  RK_ASSIGN(const auto results,
            op.emit_many("LSTM", std::move(inputs), 1, {{"hidden_size", cells}}));
  const int64_t time = input->shape()[0], batch = input->shape()[1];
  RK_ASSIGN(Value * value, reshaped(builder, results[0], {time, batch, cells}, "/one_direction"));
  if (!time_first) {
    RK_ASSIGN(value, transposed(builder, value, {1, 0, 2}, "/batch_first"));
  }
  if (drops_time) {
    RK_ASSIGN(value, reshaped(builder, value, {batch, cells}, "/one_step"));
  }
  op.note(str("LSTM '", name, "' begins every run with a state of zeros"));
  return op.bind(0, value, Order::kFile);
}

}  // namespace

Status sequence_lstm(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(Value* const input, op.last(0));
  RK_ASSIGN(const auto time_major, op.option<uint8_t>(3, 0));
  return lstm(op, input, time_major != 0, false);
}

// One step of a sequence.
Status single_lstm(OpImport& op) {
  RK_TRY(op.need_inputs(1));
  RK_ASSIGN(const auto kernel, op.option<int8_t>(3, 0));
  if (kernel != 0) return unsupported("of the basic kind is not taken; the full kind is");
  RK_ASSIGN(Value * input, op.last(0));
  if (input->shape().rank() != 2) {
    return invalid_model(str("input is ", to_string(input->shape()), "; rank 2 is expected"));
  }
  RK_ASSIGN(input,
            reshaped(op.builder(), input, {1, input->shape()[0], input->shape()[1]}, "/step"));
  return lstm(op, input, true, true);
}

}  // namespace rk::frontends::tflite
