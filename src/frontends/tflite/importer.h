// SPDX-License-Identifier: Apache-2.0
// TFLite -> Graph: one walk over the operators that the wanted outputs need. Each operator has one
// row in operators.cpp and one function; what those functions share is OpImport.
//
// Quantized tensors are real numbers in the graph: a tensor with a scale is rounded by
// QuantizeLinear and DequantizeLinear where it is computed, a quantized constant stays in integers
// before a DequantizeLinear. uint8 becomes int8, data and zero point both less 128.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontends/channels_last/layers.h"
#include "frontends/graph_import.h"
#include "frontends/tflite/model.h"

namespace rk::frontends::tflite {

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
  Result<Tensor> constant_data(const TfTensor& tensor);
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

// One operator on its way into the graph.
class OpImport : public LayerImport {
 public:
  OpImport(Importer& importer, const TfOperator& op) : importer_(importer), op_(op) {}

  GraphBuilder& builder() override { return importer_.import_.builder(); }
  size_t input_count() const override { return op_.inputs.size(); }
  size_t output_count() const override { return op_.outputs.size(); }
  bool has(size_t i) const override { return i < op_.inputs.size() && op_.inputs[i] >= 0; }
  std::string input_name(size_t i) const override { return input(i).name; }
  std::string output_name(size_t i) const override { return output(i).name; }
  Result<Held*> held(size_t i) override;
  bool rounded_alike(size_t from, size_t i) const override;
  Status bind_rounded(size_t i, Value* value, Order order, Rounding rounding) override;
  Status bind_held(size_t i, Held held) override;

  const TfTensor& input(size_t i) const { return importer_.tensor(op_.inputs[i]); }
  const TfTensor& output(size_t i) const { return importer_.tensor(op_.outputs[i]); }
  // A constant filter or matrix with its axes moved; integers stay integers before the Transpose.
  Result<Value*> weights(size_t i, const std::vector<int64_t>& perm);

  template <typename T>
  Result<T> option(int slot, T fallback) const {
    if (!op_.options) return fallback;
    return op_.options->scalar<T>(slot, fallback);
  }
  Result<bool> flag(int slot) const {
    RK_ASSIGN(const auto value, option<uint8_t>(slot, 0));
    return value != 0;
  }
  Result<std::vector<int64_t>> option_ints(int slot) const;
  Result<Fused> fused(int slot) const;

  void note(std::string text) { importer_.import_.note(std::move(text)); }

 private:
  Importer& importer_;
  const TfOperator& op_;
};

using OpFunction = Status (*)(OpImport& op);
// Null for operators that are not imported.
OpFunction find_operator(Code code);

// Those that the file stores in a way of its own; operators.cpp has the rows,
// channels_last/layers.h the others.
Status conv_2d(OpImport& op);
Status depthwise_conv_2d(OpImport& op);
Status transpose_conv(OpImport& op);
Status average_pool(OpImport& op);
Status max_pool(OpImport& op);
Status l2_pool(OpImport& op);

Status fully_connected(OpImport& op);
Status sequence_lstm(OpImport& op);
Status single_lstm(OpImport& op);
Status embedding_lookup(OpImport& op);

}  // namespace rk::frontends::tflite
