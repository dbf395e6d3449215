// SPDX-License-Identifier: Apache-2.0
// Which kernel runs a step. Everything that can be decided or packed before the first run is done here.
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "kernels/extent.h"
#include "runtime/host/plan.h"

namespace rk::runtime::host {

// One step with what its preparation needs.
struct StepContext {
  const program::Program& program;
  const program::Variant& variant;
  const program::Step& step;
  std::span<const HostTensor> tensors;  // layouts are decided, offsets are not
  const OpRegistry& operators;          // the standard ones and custom ones
  PackedConstants& constants;

  bool has_input(size_t i) const {
    return i < step.inputs.size() && step.inputs[i] != program::kNone;
  }
  const program::ProgramTensor& input(size_t i) const {
    return variant.tensors[static_cast<size_t>(step.inputs[i])];
  }
  const program::ProgramTensor& output(size_t i = 0) const {
    return variant.tensors[static_cast<size_t>(step.outputs[i])];
  }
  const HostTensor& host(int32_t tensor) const { return tensors[static_cast<size_t>(tensor)]; }
  ByteSpan constant_bytes(size_t i) const {
    return program.weights[static_cast<size_t>(input(i).weight)].bytes;
  }
};

// True when the step's kernel has rank-4 int8 and f16 operands in blocked layout only.
bool wants_blocked(const program::Step& step);
// A convolution whose kernel takes its input interleaved (kernels/conv/conv.h).
bool reads_interleaved(const StepContext& context);
// Operands that are packed into the step itself: weights and bias of a convolution.
bool is_packed_operand(const program::Step& step, size_t input);

// Says at log level 4 how the step runs and why quicker ways do not take it.
Result<StepFunction> select_kernel(const StepContext& context);

// A way to run a step does not take it. The reason is a literal: it completes "not <way>: ".
struct Refusal {
  std::string_view why;
};
using Attempt = std::variant<StepFunction, Refusal>;

// RKNN_LOG_LEVEL=4 tells for each step how it runs. `refusals` are the ways that came before.
bool explains();
void explain(const StepContext& context, std::string_view way, std::string_view refusals);

// By family; each gets a context whose parameters are of the named kind.
Result<StepFunction> prepare_conv(const StepContext& context, const program::ConvParams& params);
Result<StepFunction> prepare_pool(const StepContext& context, const program::PoolParams& params);
Result<StepFunction> prepare_resize(const StepContext& context,
                                    const program::ResizeParams& params);
// Each pixel of the input `factor` times, its bytes changed by the table of 256 entries (x + 128).
Result<StepFunction> prepare_repeat(const StepContext& context, kernels::Extent2 factor,
                                    std::span<const int8_t> table);
Result<StepFunction> prepare_sum(const StepContext& context, const program::SumParams& params);
Result<StepFunction> prepare_concat(const StepContext& context,
                                    const program::ConcatParams& params);
Result<StepFunction> prepare_table(const StepContext& context, const program::TableParams& params);
Result<StepFunction> prepare_op(const StepContext& context, const program::OpParams& params);

// An operator that works element by element between tensors of one small type, whatever their layout.
bool runs_by_table(const program::Variant& variant, const program::Step& step);
// The output has the elements of the input in the same plain order.
bool is_view(const program::Variant& variant, const program::Step& step);
Attempt prepare_by_table(const StepContext& context, const program::OpParams& params);

// Tensors of a step that computes in whatever layout they share. Where one of the partners is blocked, all of them are,
// and the followers, which have no say.
struct LayoutGroup {
  std::vector<int32_t> partners;
  std::vector<int32_t> followers;
};
LayoutGroup layout_group(const program::Variant& variant, const program::Step& step);
// An operator on its operands as they are stored.
Attempt prepare_as_stored(const StepContext& context, const program::OpParams& params);
// Equal dtype and quantization: a copied element keeps its meaning.
bool same_element(const program::ProgramTensor& a, const program::ProgramTensor& b);
// An operator whose outputs hold elements of its first input, all of one type, as loops over memory.
Attempt prepare_move(const StepContext& context, const program::OpParams& params);
// A matrix product with a constant matrix that a convolution kernel runs without conversions.
Result<Attempt> prepare_product(const StepContext& context, const program::OpParams& params);
// A 3-D convolution of fp16 tensors.
Result<Attempt> prepare_volume(const StepContext& context, const program::OpParams& params);
// LSTM or GRU of fp16 tensors with constant weights.
Result<Attempt> prepare_recurrence(const StepContext& context, const program::OpParams& params);
// A Pad between tensors of one type and layout; `node` is the step's operator.
Attempt prepare_pad(const StepContext& context, const Node& node);

// An attribute of the step or, where it does not say, of the operator's schema. T{} where neither has one of that kind.
template <typename T>
T attribute(const StepContext& context, const program::OpParams& p, std::string_view name) {
  const auto given = p.attrs.find(name);
  const OpDef* const def = context.operators.find(p.op);
  const AttrDef* const schema = def != nullptr ? def->find_attr(name) : nullptr;
  const Attr* const value = given != p.attrs.end() ? &given->second
                            : schema != nullptr    ? &schema->value
                                                   : nullptr;
  const T* const found = value != nullptr ? std::get_if<T>(value) : nullptr;
  return found != nullptr ? *found : T{};
}

// The dtype an operator sees: stored numbers that stand for reals become f32, everything else stays.
DType operator_dtype(const program::ProgramTensor& tensor);

// An activation in fp16, row-major in its logical shape.
bool is_plain_half(const StepContext& context, int32_t tensor);
// A constant in fp16 or float32, not quantized.
bool is_float_constant(const program::ProgramTensor& tensor);

// A constant operand as it is stored. The file's bytes may lie at any address; kernels read whole elements.
Result<Tensor> stored_constant(const StepContext& context, size_t input);
// A constant operand as the operator sees it: in its own dtype, or as f32 where it stands for reals.
Result<Tensor> read_constant(const StepContext& context, size_t input);

}  // namespace rk::runtime::host
