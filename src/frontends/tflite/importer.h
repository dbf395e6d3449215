// SPDX-License-Identifier: Apache-2.0
// TFLite -> Graph: one walk over the operators that the wanted outputs need. Each operator has one row in operators.cpp
// and one function; what those functions share is OpImport.
//
// Quantized tensors are real numbers in the graph: a tensor with a scale is rounded by QuantizeLinear and
// DequantizeLinear where it is computed, a quantized constant stays in integers before a DequantizeLinear. uint8 becomes
// int8, data and zero point both less 128.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontends/channel_order.h"
#include "frontends/graph_import.h"
#include "frontends/tflite/model.h"

namespace rk::frontends::tflite {

// How TFLite's kernel gets from its sums to steps: by one division, or in fixed point first (evaluator/integer_layers.h).
enum class Rounding { kOnce, kTwice };

class Importer {
 public:
  // `model` outlives the importer.
  Importer(const TfModel& model, const ImportOptions& options, const OpRegistry& registry)
      : model_(model), import_(options, registry) {}

  Result<Imported> run();

 private:
  friend class OpImport;

  Status choose_inputs();
  Status choose_outputs();
  Status cut_detections();
  Status add_input(int32_t tensor, size_t index);
  Result<std::vector<const TfOperator*>> needed_operators() const;
  Status import_operator(const TfOperator& op);
  Status add_outputs();
  void bind_unavailable(const TfOperator& op, const std::string& why);
  // The tensor's value; kUnsupported says why there is none.
  Result<Held*> held(int32_t tensor);
  Result<Held> constant(const TfTensor& tensor);
  // The integers (or floats) of a constant as the graph has them.
  Result<Tensor> constant_data(const TfTensor& tensor) const;
  // Integers -> real numbers; `axis` is that of a scale per channel.
  Result<Value*> dequantized(const TfTensor& tensor, Value* integers, int64_t axis);
  // Rounded to the tensor's scale.
  Result<Value*> rounded(const TfTensor& tensor, Value* value, Rounding rounding = Rounding::kOnce);
  const TfTensor& tensor(int32_t index) const { return model_.tensors[static_cast<size_t>(index)]; }
  std::string label(const TfOperator& op) const;

  const TfModel& model_;
  GraphImport import_;
  std::map<int32_t, Held> held_;
  std::map<int32_t, std::string> unavailable_;  // tensor -> why
  std::vector<int32_t> inputs_, outputs_;
};

enum class Order { kFile, kFirst };

// One operator on its way into the graph. Inputs and outputs are counted as in the file.
class OpImport {
 public:
  OpImport(Importer& importer, const TfOperator& op) : importer_(importer), op_(op) {}

  const TfOperator& op() const { return op_; }
  GraphBuilder& builder() { return importer_.import_.builder(); }
  size_t input_count() const { return op_.inputs.size(); }
  size_t output_count() const { return op_.outputs.size(); }
  bool has(size_t i) const { return i < op_.inputs.size() && op_.inputs[i] >= 0; }
  const TfTensor& input(size_t i) const { return importer_.tensor(op_.inputs[i]); }
  const TfTensor& output(size_t i) const { return importer_.tensor(op_.outputs[i]); }

  Result<Held*> held(size_t i);
  Result<Value*> last(size_t i);   // in the file's order
  Result<Value*> first(size_t i);  // channels first; kInvalidModel unless of rank 4 or 5
  // All of them in one order, broadcasting as in the file; the order they have.
  Result<Order> together(const std::vector<size_t>& which, std::vector<Value*>& values);
  // A constant filter or matrix with its axes moved; integers stay integers before the Transpose.
  Result<Value*> weights(size_t i, const std::vector<int64_t>& perm);
  // Integers that must be known: shapes, axes, pads.
  Result<std::vector<int64_t>> ints(size_t i, std::string_view what);
  Result<int64_t> integer(size_t i, std::string_view what);
  // An axis of a tensor of this rank, from 0.
  Result<int64_t> axis(int64_t axis, int64_t rank) const;

  template <typename T>
  Result<T> option(int slot, T fallback) const {
    if (!op_.options) return fallback;
    return op_.options->scalar<T>(slot, fallback);
  }
  Result<std::vector<int64_t>> option_ints(int slot) const;

  // A node named after the first output.
  Result<Value*> emit(std::string_view op, std::string_view suffix, std::vector<Value*> inputs,
                      AttrMap attrs = {});
  Result<std::vector<Value*>> emit_many(std::string_view op, std::vector<Value*> inputs,
                                        size_t outputs, AttrMap attrs = {});
  Value* ints_value(std::string_view suffix, const std::vector<int64_t>& values);
  Value* scalar(std::string_view suffix, float value);
  // A fused activation function, by its number in the schema.
  Result<Value*> activated(Value* value, int8_t activation);

  // The output's value: rounded to its scale. `moved`: elements of input 0, so those that are rounded alike stay as
  // they are.
  Status bind(size_t i, Value* value, Order order, Rounding rounding = Rounding::kOnce);
  Status bind_moved(size_t i, Value* value, Order order, size_t from = 0);
  Status bind_held(size_t i, Held held);  // as it is
  void note(std::string text) { importer_.import_.note(std::move(text)); }
  Status need_inputs(size_t least) const;

 private:
  bool rounded_alike(const TfTensor& a, const TfTensor& b) const;
  NodeDraft draft() const;
  Importer& importer_;
  const TfOperator& op_;
};

using OpFunction = Status (*)(OpImport& op);
// Null for operators that are not imported.
OpFunction find_operator(Code code);

// By family; operators.cpp has the rows.
Status conv_2d(OpImport& op);
Status depthwise_conv_2d(OpImport& op);
Status transpose_conv(OpImport& op);
Status average_pool(OpImport& op);
Status max_pool(OpImport& op);
Status l2_pool(OpImport& op);
Status resize_bilinear(OpImport& op);
Status resize_nearest(OpImport& op);
Status space_to_depth(OpImport& op);
Status depth_to_space(OpImport& op);
Status local_response_normalization(OpImport& op);
Status space_to_batch(OpImport& op);
Status batch_to_space(OpImport& op);

Status fully_connected(OpImport& op);
Status batch_matmul(OpImport& op);
Status sequence_lstm(OpImport& op);
Status single_lstm(OpImport& op);
Status embedding_lookup(OpImport& op);

// Elementwise, by name of the graph's operator.
Status unary(OpImport& op, std::string_view name, AttrMap attrs = {});
Status binary(OpImport& op, std::string_view name, bool has_activation);
Status clipped(OpImport& op, float low, float high);
Status softmax(OpImport& op);
Status log_softmax(OpImport& op);
Status l2_normalization(OpImport& op);
Status prelu(OpImport& op);
Status leaky_relu(OpImport& op);
Status gelu(OpImport& op);
Status rsqrt(OpImport& op);
Status square(OpImport& op);
Status squared_difference(OpImport& op);
Status not_equal(OpImport& op);
Status floor_div(OpImport& op);
Status floor_mod(OpImport& op);
Status add_n(OpImport& op);
Status select(OpImport& op);
Status cast(OpImport& op);
Status quantize(OpImport& op);
Status dequantize(OpImport& op);
Status fake_quant(OpImport& op);
Status reduce(OpImport& op, std::string_view name);
Status reduce_bool(OpImport& op, std::string_view name);
Status arg_select(OpImport& op, std::string_view name);
Status cumsum(OpImport& op);

Status reshape(OpImport& op);
Status squeeze(OpImport& op);
Status expand_dims(OpImport& op);
Status transpose(OpImport& op);
Status pad(OpImport& op);
Status mirror_pad(OpImport& op);
Status concatenation(OpImport& op);
Status split(OpImport& op);
Status split_v(OpImport& op);
Status pack(OpImport& op);
Status unpack(OpImport& op);
Status slice(OpImport& op);
Status strided_slice(OpImport& op);
Status gather(OpImport& op);
Status gather_nd(OpImport& op);
Status scatter_nd(OpImport& op);
Status tile(OpImport& op);
Status broadcast_to(OpImport& op);
Status one_hot(OpImport& op);
Status top_k(OpImport& op);
Status reverse(OpImport& op);
Status reverse_sequence(OpImport& op);
Status shape_of(OpImport& op);
Status rank_of(OpImport& op);
Status fill(OpImport& op);
Status zeros_like(OpImport& op);
Status range(OpImport& op);

}  // namespace rk::frontends::tflite
