// SPDX-License-Identifier: Apache-2.0
// Steps that run an operator by its IR definition. A graph of one node is built at load, so schema, attributes and
// shapes are checked once; a run only converts operands, evaluates and converts back.
//
// Note: sharing a scale is not enough to run on raw elements. Pad and Relu make values of their own
// (0.0 is not the byte 0), so only operators that copy every element from an input do.
#include <algorithm>

#include "evaluator/evaluate.h"
#include "ir/custom_op.h"
#include "ir/graph.h"
#include "runtime/host/aliases.h"
#include "runtime/host/select.h"

namespace rk::runtime::host {
namespace {

using program::ProgramTensor;

Elements elements_of(const StepContext& context, const program::OpParams& p) {
  const OpDef* const def = context.operators.find(p.op);
  return def != nullptr ? def->elements : Elements::kComputed;
}

// An operator bound to its tensors.
struct BoundOperator {
  std::unique_ptr<Graph> graph;
  const Node* node = nullptr;
  bool raw = false;  // elements as stored, without dequantization
  struct Operand {
    int32_t tensor = program::kNone;
    ProgramTensor type;  // name, dtype, shape and quantization are used
    PictureExtents extents;
    TensorType seen;  // by the operator
    const Tensor* constant = nullptr;
  };
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
};

// The operator's tensor. Where it has the stored dtype it also has the stored quantization: elements are copied.
ElementView plain_view(const BoundOperator::Operand& operand, uint8_t* data) {
  ElementView view{operand.seen.dtype, 0, 0, nchw_strides(operand.extents), data};
  if (operand.seen.dtype == operand.type.dtype) {
    view.scale = operand.type.scale;
    view.zero_point = operand.type.zero_point;
  }
  return view;
}

// The file is hostile: the operator gets what its schema allows, whichever way it is computed below.
Status check_operands(const StepContext& context, const program::OpParams& p, const OpDef& def) {
  std::vector<TensorType> types(context.step.inputs.size());
  std::vector<const TensorType*> inputs(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (!context.has_input(i)) continue;
    types[i] = {operator_dtype(context.input(i)), context.input(i).shape};
    inputs[i] = &types[i];
  }
  return check_schema(def, inputs, context.step.outputs.size(), p.attrs);
}

Result<Tensor> make_constant(const StepContext& context, size_t input, DType seen) {
  const ProgramTensor& type = context.input(input);
  RK_ASSIGN(const uint64_t size_bytes, checked_byte_size({type.dtype, type.shape}));
  const ByteSpan bytes = context.constant_bytes(input);
  if (bytes.size() < size_bytes) {
    return invalid_model(
        str("constant '", type.name, "' has ", bytes.size(), " bytes, expected ", size_bytes));
  }
  if (seen == type.dtype)
    return Tensor::from_bytes({type.dtype, type.shape}, bytes.first(size_bytes));
  RK_ASSIGN(Tensor out, Tensor::try_make({seen, type.shape}));
  const PictureExtents extents = picture_extents(type.shape);
  const ElementView from{type.dtype, type.scale, type.zero_point, nchw_strides(extents),
                         const_cast<uint8_t*>(bytes.data())};
  convert(extents, from, {seen, 0, 0, nchw_strides(extents), out.mutable_data<uint8_t>()}, {},
          nullptr);
  return out;
}

Result<Tensor> constant_as(const StepContext& context, size_t input, DType seen) {
  const ProgramTensor& type = context.input(input);
  return context.constants.tensor(
      {type.weight, type.dtype, {seen, type.shape}, type.scale, type.zero_point},
      [&] { return make_constant(context, input, seen); });
}

// Builds the one-node graph for operands seen in their stored dtype (raw) or as numbers.
Result<BoundOperator> bind(const StepContext& context, const program::OpParams& p, bool raw) {
  BoundOperator bound;
  bound.raw = raw;
  bound.graph = std::make_unique<Graph>(context.operators);
  NodeSpec spec{
      .op = p.op, .name = context.step.name, .inputs = {}, .outputs = {}, .attrs = p.attrs};
  for (size_t i = 0; i < context.step.inputs.size(); ++i) {
    BoundOperator::Operand operand;
    if (!context.has_input(i)) {
      spec.inputs.push_back(nullptr);
      bound.inputs.push_back(operand);
      continue;
    }
    operand.tensor = context.step.inputs[i];
    operand.type = context.input(i);
    operand.extents = picture_extents(operand.type.shape);
    operand.seen = {raw ? operand.type.dtype : operator_dtype(operand.type), operand.type.shape};
    const std::string name = str("in", i);
    if (operand.type.is_constant()) {
      RK_ASSIGN(Tensor constant, constant_as(context, i, operand.seen.dtype));
      Value* const value = bound.graph->add_constant(name, std::move(constant));
      operand.constant = &value->constant();
      spec.inputs.push_back(value);
    } else {
      RK_ASSIGN(Value* const value, bound.graph->add_input(name, operand.seen));
      spec.inputs.push_back(value);
    }
    bound.inputs.push_back(std::move(operand));
  }
  for (size_t i = 0; i < context.step.outputs.size(); ++i) spec.outputs.push_back(str("out", i));
  RK_ASSIGN(bound.node, bound.graph->add_node(std::move(spec)));
  for (size_t i = 0; i < context.step.outputs.size(); ++i) {
    BoundOperator::Operand operand;
    operand.tensor = context.step.outputs[i];
    operand.type = context.output(i);
    operand.extents = picture_extents(operand.type.shape);
    if (i >= bound.node->output_count() || bound.node->output(i).shape() != operand.type.shape) {
      return invalid_model(str("output '", operand.type.name, "' is ",
                               to_string(operand.type.shape), ", ", p.op, " makes ",
                               i < bound.node->output_count()
                                   ? to_string(bound.node->output(i).shape())
                                   : "no such output"));
    }
    operand.seen = bound.node->output(i).type();
    bound.outputs.push_back(std::move(operand));
  }
  return bound;
}

// All outputs hold elements of the first input, in another order.
bool moves_input_0(const StepContext& context, const program::OpParams& p) {
  const OpDef* const def = context.operators.find(p.op);
  if (def == nullptr || !is_move(def->elements) || def->elements == Elements::kView) return false;
  return def->inputs.empty() || def->inputs[0].kind != ArgDef::kVariadic;
}

// Moves whose results are stored in another way than their input, both being real numbers.
bool moves_and_converts(const StepContext& context, const program::OpParams& p) {
  if (!moves_input_0(context, p)) return false;
  const auto is_activation = [](const ProgramTensor& t) {
    return t.dtype == DType::kF16 ? !t.quantized() : t.dtype == DType::kI8 && t.quantized();
  };
  if (!context.has_input(0) || !is_activation(context.input(0))) return false;
  bool alike = true, bytes = context.input(0).dtype == DType::kI8;
  for (size_t i = 0; i < context.step.outputs.size(); ++i) {
    if (!is_activation(context.output(i))) return false;
    alike &= same_element(context.output(i), context.output());
    bytes &= context.output(i).dtype == DType::kI8;
  }
  return alike || bytes;
}

bool moves_elements(const StepContext& context, const program::OpParams& p) {
  if (!is_move(elements_of(context, p)) || !context.has_input(0)) return false;
  for (size_t i = 0; i < context.step.outputs.size(); ++i) {
    if (!same_element(context.input(0), context.output(i))) return false;
  }
  if (elements_of(context, p) == Elements::kView || moves_input_0(context, p)) return true;
  for (size_t i = 1; i < context.step.inputs.size(); ++i) {
    if (!context.has_input(i) || !same_element(context.input(0), context.input(i))) return false;
  }
  return true;
}

// Takes scratch tensors for one evaluation and gives them back at the end of it.
class Evaluation {
 public:
  Evaluation(const BoundOperator& bound, const StepCall& call) : bound_(bound), call_(call) {}
  ~Evaluation() {
    for (Tensor& tensor : inputs_) {
      if (!tensor.empty()) call_.scratch->give(std::move(tensor));
    }
    for (Tensor& tensor : outputs_) call_.scratch->give(std::move(tensor));
  }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  Status run() {
    inputs_.resize(bound_.inputs.size());
    std::vector<const Tensor*> arguments(bound_.inputs.size());
    for (size_t i = 0; i < bound_.inputs.size(); ++i) {
      const BoundOperator::Operand& operand = bound_.inputs[i];
      if (operand.constant != nullptr) arguments[i] = operand.constant;
      if (operand.constant != nullptr || operand.tensor == program::kNone) continue;
      RK_ASSIGN(inputs_[i], call_.scratch->take(operand.seen));
      convert(operand.extents, stored(operand),
              plain_view(operand, inputs_[i].mutable_data<uint8_t>()), {}, call_.pool);
      arguments[i] = &inputs_[i];
    }
    for (const BoundOperator::Operand& operand : bound_.outputs) {
      RK_ASSIGN(Tensor output, call_.scratch->take(operand.seen));
      outputs_.push_back(std::move(output));
    }
    RK_TRY(evaluator::evaluate_node({*bound_.node, arguments, outputs_, call_.pool}));
    for (size_t i = 0; i < bound_.outputs.size(); ++i) {
      const BoundOperator::Operand& operand = bound_.outputs[i];
      convert(operand.extents, plain_view(operand, outputs_[i].mutable_data<uint8_t>()),
              stored(operand), {}, call_.pool);
    }
    return ok_status();
  }

 private:
  ElementView stored(const BoundOperator::Operand& operand) const {
    return host_view(operand.type, call_.tensors[static_cast<size_t>(operand.tensor)],
                     call_.data<uint8_t>(operand.tensor));
  }
  const BoundOperator& bound_;
  const StepCall& call_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

StepFunction view_function(const std::shared_ptr<const BoundOperator>& bound) {
  return [bound](const StepCall& call) {
    const BoundOperator::Operand &in = bound->inputs[0], &out = bound->outputs[0];
    const HostTensor& from = call.tensors[static_cast<size_t>(in.tensor)];
    const HostTensor& to = call.tensors[static_cast<size_t>(out.tensor)];
    const ElementView source = host_view(in.type, from, call.data<uint8_t>(in.tensor));
    const ElementView target = host_view(out.type, to, call.data<uint8_t>(out.tensor));
    // One side at least is plain, or the extents agree, so one set of extents describes both.
    if (!to.blocked) {
      ElementView plain = target;
      plain.strides = nchw_strides(in.extents);
      convert(in.extents, source, plain, {}, call.pool);
    } else if (!from.blocked) {
      ElementView plain = source;
      plain.strides = nchw_strides(out.extents);
      convert(out.extents, plain, target, {}, call.pool);
    } else {
      convert(in.extents, source, target, {}, call.pool);
    }
    return ok_status();
  };
}

// Input and output are one (aliases.h).
bool is_aliased(const StepContext& context) {
  if (!is_view(context.variant, context.step)) return false;
  const Root in = root_of(context.tensors, static_cast<size_t>(context.step.inputs[0]));
  const Root out = root_of(context.tensors, static_cast<size_t>(context.step.outputs[0]));
  return in.tensor == out.tensor && in.offset_bytes == out.offset_bytes;
}

bool can_be_view(const StepContext& context, const program::OpParams& p) {
  if (elements_of(context, p) != Elements::kView || context.step.outputs.size() != 1 ||
      context.input(0).is_constant()) {
    return false;
  }
  const bool both_blocked =
      context.host(context.step.inputs[0]).blocked && context.host(context.step.outputs[0]).blocked;
  return !both_blocked || context.input(0).shape == context.output().shape;
}

StepFunction evaluation(BoundOperator bound) {
  return [bound = std::make_shared<const BoundOperator>(std::move(bound))](const StepCall& call) {
    return Evaluation(*bound, call).run();
  };
}

// One tensor as another. The operator is bound all the same: a file may say what it refuses.
Attempt prepare_view(const StepContext& context, const program::OpParams& p) {
  if (elements_of(context, p) != Elements::kView) return Refusal{"elements change their order"};
  if (!moves_elements(context, p)) return Refusal{"input and output differ in type or scale"};
  auto bound = bind(context, p, true);
  if (!bound.ok()) return Refusal{"the operator does not take elements as they are stored"};
  if (is_aliased(context)) return [](const StepCall&) { return ok_status(); };
  if (!can_be_view(context, p)) return Refusal{"both are blocked and differ in shape"};
  return view_function(std::make_shared<const BoundOperator>(std::move(bound).value()));
}

Attempt prepare_loops(const StepContext& context, const program::OpParams& p) {
  if (!moves_input_0(context, p)) return Refusal{"not a move of elements of the first input"};
  if (!moves_elements(context, p) && !moves_and_converts(context, p))
    return Refusal{"input and output differ in type or scale"};
  return prepare_move(context, p);
}

Result<Attempt> prepare_rows(const StepContext& context, const program::OpParams& p) {
  if (p.op != "Pad") return Attempt(Refusal{"not a padding"});
  RK_ASSIGN(const BoundOperator bound, bind(context, p, false));
  return prepare_pad(context, *bound.node);
}

Attempt prepare_raw(const StepContext& context, const program::OpParams& p) {
  if (!moves_elements(context, p))
    return Refusal{"not a move of elements, or operands differ in type or scale"};
  // A further operand of another dtype may refuse the raw form: then in float, which gives the same elements.
  auto bound = bind(context, p, true);
  if (!bound.ok()) return Refusal{"the operator does not take elements as they are stored"};
  return evaluation(std::move(bound).value());
}

Result<Attempt> prepare_by_definition(const StepContext& context, const program::OpParams& p) {
  RK_ASSIGN(BoundOperator bound, bind(context, p, false));
  return Attempt(evaluation(std::move(bound)));
}

template <Attempt (*prepare)(const StepContext&, const program::OpParams&)>
Result<Attempt> never_fails(const StepContext& context, const program::OpParams& p) {
  return prepare(context, p);
}

// The ways to run an operator, the quickest first. The first that takes the step runs it.
struct Way {
  std::string_view name;
  Result<Attempt> (*prepare)(const StepContext&, const program::OpParams&);
};
constexpr Way kWays[] = {
    {"by table", never_fails<prepare_by_table>},
    {"on stored elements", never_fails<prepare_as_stored>},
    {"as matrix product", prepare_product},
    {"as volume", prepare_volume},
    {"step by step", prepare_recurrence},
    {"as view", never_fails<prepare_view>},
    {"by loops", never_fails<prepare_loops>},
    {"by rows", prepare_rows},
    {"by definition, without conversion", never_fails<prepare_raw>},
    {"by definition, in float32", prepare_by_definition},
};

// A custom operator: the model can be loaded and asked about, but nothing here computes it.
StepFunction missing_operator(const StepContext& context, const program::OpParams& p) {
  const std::string message =
      str("node '", context.step.name, "' needs the custom operator '", user_name(p.op),
          "', which is not registered: call rknn_register_custom_ops after rknn_init");
  return [message](const StepCall&) { return unsupported(message); };
}

// The operator that a custom one stands in for, where the library has one: what runs until the application registers its
// own, and when its init callback asks for it (RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE).
std::optional<StepFunction> prepare_built_in(const StepContext& context,
                                             const program::OpParams& p) {
  if (!is_custom(p.op) || context.operators.find(user_name(p.op)) == nullptr) return std::nullopt;
  program::OpParams standard = p;
  standard.op = std::string(user_name(p.op));
  auto made = prepare_op(context, standard);
  if (!made.ok()) return std::nullopt;
  return std::move(made).value();
}

}  // namespace

DType operator_dtype(const ProgramTensor& tensor) {
  const bool real =
      tensor.quantized() || tensor.dtype == DType::kF16 || tensor.dtype == DType::kBF16;
  return real ? DType::kF32 : tensor.dtype;
}

bool same_element(const ProgramTensor& a, const ProgramTensor& b) {
  return a.dtype == b.dtype && a.scale == b.scale && (a.scale == 0 || a.zero_point == b.zero_point);
}

bool is_view(const program::Variant& variant, const program::Step& step) {
  const auto* const p = std::get_if<program::OpParams>(&step.params);
  const OpDef* const def = p == nullptr ? nullptr : ops::registry().find(p->op);
  if (def == nullptr || def->elements != Elements::kView || step.outputs.size() != 1) return false;
  if (step.inputs.empty() || step.inputs[0] == program::kNone) return false;
  const ProgramTensor& in = variant.tensors[static_cast<size_t>(step.inputs[0])];
  const ProgramTensor& out = variant.tensors[static_cast<size_t>(step.outputs[0])];
  return !in.is_constant() && same_element(in, out) && in.shape.elements() == out.shape.elements();
}

Result<Tensor> read_constant(const StepContext& context, size_t input) {
  return constant_as(context, input, operator_dtype(context.input(input)));
}

Result<StepFunction> prepare_op(const StepContext& context, const program::OpParams& p) {
  const OpDef* const def = context.operators.find(p.op);
  if (def == nullptr) {
    if (auto built_in = prepare_built_in(context, p)) return std::move(*built_in);
    return missing_operator(context, p);
  }
  RK_TRY(check_operands(context, p, *def));
  std::string refusals;
  for (const Way& way : kWays) {
    RK_ASSIGN(Attempt attempt, way.prepare(context, p));
    if (auto* const function = std::get_if<StepFunction>(&attempt)) {
      explain(context, way.name, refusals);
      return std::move(*function);
    }
    if (explains()) refusals += str("; not ", way.name, ": ", std::get<Refusal>(attempt).why);
  }
  return unsupported("no way to run the operator");  // the last way takes every step or fails
}

}  // namespace rk::runtime::host
