// SPDX-License-Identifier: Apache-2.0
#include "frontends/graph_builder.h"

#include <algorithm>

#include "base/log.h"
#include "base/model_budget.h"
#include "ops/shared/evaluate.h"

namespace rk::frontends {
namespace {

// Integer weights with their scales are what a quantized model is about; folding them to float would lose both.
bool carries_quantization(std::string_view op) {
  return op == "QuantizeLinear" || op == "DequantizeLinear";
}

}  // namespace

DType computing_dtype(DType dtype) { return is_float(dtype) ? DType::kF32 : dtype; }

void NodeDraft::set_input(size_t i, Value* value) {
  if (i >= inputs.size()) inputs.resize(i + 1, nullptr);
  inputs[i] = value;
}

bool GraphBuilder::foldable(const OpDef& def, const NodeDraft& draft) const {
  if (carries_quantization(draft.op)) return false;
  if (def.shape_only) return true;
  return std::ranges::all_of(draft.inputs,
                             [](const Value* v) { return v == nullptr || v->is_constant(); });
}

Result<Tensor> GraphBuilder::described(const TensorType& type) {
  RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(type));
  if (size_bytes > budget::kImportedNodeBytes ||
      size_bytes > budget::kDescribedBytes - described_bytes_) {
    return out_of_memory(
        str("makes a constant ", to_string(type), " of ", size_bytes,
            " bytes; constants that the file describes without holding them may have ",
            budget::kImportedNodeBytes, " each and ", budget::kDescribedBytes, " in all"));
  }
  described_bytes_ += size_bytes;
  RK_ASSIGN(Tensor out, Tensor::try_make(type));
  std::fill_n(out.mutable_data<uint8_t>(), size_bytes, uint8_t{0});
  return out;
}

Result<std::vector<Value*>> GraphBuilder::fold(const NodeDraft& draft) {
  // In a graph of its own, so that nothing has to be taken out of the real one again.
  Graph scratch(registry());
  NodeSpec spec{draft.op, draft.name, {}, draft.outputs, draft.attrs};
  std::unordered_map<const Value*, Value*> copies;
  for (const Value* input : draft.inputs) {
    if (input == nullptr) {
      spec.inputs.push_back(nullptr);
      continue;
    }
    Value*& copy = copies[input];
    if (copy == nullptr && input->is_constant()) {
      copy = scratch.add_constant("in", input->constant());
    } else if (copy == nullptr) {
      RK_ASSIGN(copy, scratch.add_input(scratch.unique_name("in"), input->type()));
    }
    spec.inputs.push_back(copy);
  }
  for (std::string& output : spec.outputs) output = scratch.unique_name(output + "/folded");
  RK_ASSIGN(const Node* node, scratch.add_node(std::move(spec)));

  uint64_t size_bytes = 0;
  for (const Value* output : node->outputs()) {
    RK_ASSIGN(const uint64_t own, checked_byte_size(output->type()));
    size_bytes += own;
  }
  folded_bytes_ += size_bytes;
  if (size_bytes > budget::kImportedNodeBytes || folded_bytes_ > budget::kImportedBytes) {
    return out_of_memory(str(node->label(), ": its result is a constant of ", size_bytes,
                             " bytes; constants computed from others may have ",
                             budget::kImportedNodeBytes, " each and ", budget::kImportedBytes,
                             " in all"));
  }
  if (node->def().cost != nullptr && node->def().cost(*node).macs > budget::kImportedMacs) {
    return unsupported(str(node->label(), ": computes a constant with ",
                           node->def().cost(*node).macs, " multiplications, more than ",
                           budget::kImportedMacs, " are not done at import"));
  }
  RK_ASSIGN(std::vector<Tensor> tensors, ops::fold(*node));
  log(LogLevel::kDebug, str(node->label(), " is folded to a constant"));
  std::vector<Value*> out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = draft.outputs[i];
    out.push_back(constant(name.empty() ? draft.name : name, std::move(tensors[i])));
  }
  return out;
}

Value* GraphBuilder::narrowed(Value* value) {
  if (value == nullptr || !value->is_constant()) return value;
  const DType dtype = computing_dtype(value->dtype());
  if (dtype == value->dtype()) return value;
  Value*& out = narrowed_[value];
  if (out == nullptr) out = constant(value->name() + "/f32", value->constant().cast(dtype));
  return out;
}

Result<std::vector<Value*>> GraphBuilder::emit(NodeDraft draft) {
  const OpDef* def = registry().find(draft.op);
  while (!draft.outputs.empty() && draft.outputs.back().empty()) draft.outputs.pop_back();
  while (!draft.inputs.empty() && draft.inputs.back() == nullptr) draft.inputs.pop_back();
  if (def != nullptr && foldable(*def, draft)) return fold(draft);

  for (Value*& input : draft.inputs) input = narrowed(input);
  for (const std::string_view attr : {"to", "dtype", "output_dtype"}) {
    const auto it = draft.attrs.find(attr);
    if (it == draft.attrs.end()) continue;
    int64_t* number = std::get_if<int64_t>(&it->second);
    const auto dtype = number == nullptr ? std::nullopt : dtype_from_onnx(*number);
    if (dtype) *number = static_cast<int64_t>(computing_dtype(*dtype));
  }
  for (std::string& output : draft.outputs) {
    if (!output.empty()) output = graph_.unique_name(output);
  }
  RK_ASSIGN(const Node* node,
            graph_.add_node({std::move(draft.op), std::move(draft.name), std::move(draft.inputs),
                             std::move(draft.outputs), std::move(draft.attrs)}));
  return node->outputs();
}

Result<Value*> GraphBuilder::emit(const NodeDraft& around, std::string_view op,
                                  std::string_view suffix, std::vector<Value*> inputs,
                                  AttrMap attrs) {
  NodeDraft draft;
  draft.op = op;
  draft.name = around.name + std::string(suffix);
  draft.inputs = std::move(inputs);
  draft.outputs = {draft.name};
  draft.attrs = std::move(attrs);
  RK_ASSIGN(const std::vector<Value*> results, emit(std::move(draft)));
  return results[0];
}

Value* GraphBuilder::ints(const NodeDraft& around, std::string_view suffix,
                          std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return constant(around.name + std::string(suffix), Tensor::i64({count}, values));
}

Value* GraphBuilder::scalar(const NodeDraft& around, std::string_view suffix, float value) {
  return constant(around.name + std::string(suffix), Tensor::scalar(value));
}

}  // namespace rk::frontends
