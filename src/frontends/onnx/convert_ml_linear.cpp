// SPDX-License-Identifier: Apache-2.0
// Scalers, linear models and support vector machines of ai.onnx.ml, as the ordinary arithmetic they are. Labels that are
// texts become their numbers: a tensor holds no texts.
#include <cmath>

#include "base/log.h"
#include "frontends/onnx/ml_parts.h"

namespace rk::frontends {

using ml::emit;
using ml::take_or;

Status scaler_to_arithmetic(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value * value, ml::real_input(draft, builder));
  RK_ASSIGN(const auto offset, take_or(draft, "offset", std::vector<float>()));
  RK_ASSIGN(const auto scale, take_or(draft, "scale", std::vector<float>()));
  const int rank = value->shape().rank();
  const int64_t columns = rank == 0 ? 1 : value->shape()[rank - 1];
  for (const auto* list : {&offset, &scale}) {
    if (list->empty() || list->size() == 1 || std::ssize(*list) == columns) continue;
    return invalid_model(
        str(ml::label(draft), ": ", list->size(), " offsets or scales for ", columns, " columns"));
  }
  if (!offset.empty()) {
    RK_ASSIGN(value, emit(draft, builder, "Sub", "/shifted",
                          {value, ml::vector(draft, builder, "/offset", offset)}));
  }
  draft.op = scale.empty() ? "Identity" : "Mul";
  draft.inputs = {value};
  if (!scale.empty()) draft.inputs.push_back(ml::vector(draft, builder, "/scale", scale));
  return ok_status();
}

// Rows divided by their norm; a row whose norm is 0 stays.
Status normalizer_to_division(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const value, ml::real_input(draft, builder));
  RK_ASSIGN(const std::string norm, take_or(draft, "norm", std::string("MAX")));
  const std::string_view op = norm == "L1"    ? "ReduceL1"
                              : norm == "L2"  ? "ReduceL2"
                              : norm == "MAX" ? "ReduceMax"
                                              : "";
  if (op.empty())
    return invalid_model(str(ml::label(draft), ": norm '", norm, "', expected MAX, L1 or L2"));
  RK_ASSIGN(Value* const size,
            emit(draft, builder, op, "/norm", {value, builder.ints(draft, "/axes", {-1})}));
  RK_ASSIGN(Value* const none,
            emit(draft, builder, "Equal", "/none", {size, builder.scalar(draft, "/zero", 0)}));
  RK_ASSIGN(Value* const divisor, emit(draft, builder, "Where", "/divisor",
                                       {none, builder.scalar(draft, "/one", 1), size}));
  draft.op = "Div";
  draft.inputs = {value, divisor};
  return ok_status();
}

namespace {

// x * weights' + intercepts, weights [rows, columns of x].
Result<Value*> linear_scores(NodeDraft& draft, GraphBuilder& builder, Value* x,
                             const std::vector<float>& weights, std::vector<float> intercepts) {
  const int64_t columns = x->shape()[1];
  if (columns < 1 || weights.empty() || std::ssize(weights) % columns != 0) {
    return invalid_model(
        str(ml::label(draft), ": ", weights.size(), " coefficients for ", columns, " columns"));
  }
  const int64_t rows = std::ssize(weights) / columns;
  if (intercepts.size() == 1) intercepts.resize(static_cast<size_t>(rows), intercepts[0]);
  if (!intercepts.empty() && std::ssize(intercepts) != rows) {
    return invalid_model(
        str(ml::label(draft), ": ", intercepts.size(), " intercepts for ", rows, " results"));
  }
  std::vector<Value*> inputs = {
      x, builder.constant(draft.name + "/coefficients", Tensor::f32({rows, columns}, weights))};
  if (!intercepts.empty()) inputs.push_back(ml::vector(draft, builder, "/intercepts", intercepts));
  return emit(draft, builder, "Gemm", "/scores", std::move(inputs), {{"transB", int64_t{1}}});
}

}  // namespace

Status linear_regressor_to_gemm(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::matrix_input(draft, builder));
  RK_ASSIGN(const auto weights, take_or(draft, "coefficients", std::vector<float>()));
  RK_ASSIGN(const auto intercepts, take_or(draft, "intercepts", std::vector<float>()));
  RK_ASSIGN(const int64_t targets, take_or(draft, "targets", int64_t{1}));
  RK_ASSIGN(Value* const scores, linear_scores(draft, builder, x, weights, intercepts));
  if (scores->shape()[1] != targets) {
    return invalid_model(str(ml::label(draft), ": coefficients of ", scores->shape()[1],
                             " targets, expected ", targets));
  }
  return ml::give_transformed(draft, builder, scores);
}

// One row of coefficients stands for two classes, the second of which it speaks for.
Status linear_classifier_to_gemm(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::matrix_input(draft, builder));
  RK_ASSIGN(const auto weights, take_or(draft, "coefficients", std::vector<float>()));
  RK_ASSIGN(const auto intercepts, take_or(draft, "intercepts", std::vector<float>()));
  RK_ASSIGN(const int64_t multi_class, take_or(draft, "multi_class", int64_t{0}));
  (void)multi_class;  // one against the rest, or all at once: the arithmetic is the same
  RK_ASSIGN(const ml::Labels labels, ml::take_labels(draft));
  RK_ASSIGN(Value* const scores, linear_scores(draft, builder, x, weights, intercepts));
  if (scores->shape()[1] == 1 && labels.count == 2)
    return ml::give_two_classes(draft, builder, scores, labels, false);
  return ml::give_classes(draft, builder, scores, scores, labels);
}

namespace {

struct Machine {
  std::string kernel;
  std::vector<float> params;  // gamma, coef0, degree
  std::vector<float> coefficients, support_vectors, rho;
};

Result<Machine> take_machine(NodeDraft& draft) {
  Machine out;
  RK_ASSIGN(out.kernel, take_or(draft, "kernel_type", std::string("LINEAR")));
  RK_ASSIGN(out.params, take_or(draft, "kernel_params", std::vector<float>()));
  RK_ASSIGN(out.coefficients, take_or(draft, "coefficients", std::vector<float>()));
  RK_ASSIGN(out.support_vectors, take_or(draft, "support_vectors", std::vector<float>()));
  RK_ASSIGN(out.rho, take_or(draft, "rho", std::vector<float>()));
  out.params.resize(3, 0);
  return out;
}

// The kernel of every row of x with every support vector: [rows, vectors].
Result<Value*> kernels(NodeDraft& draft, GraphBuilder& builder, Value* x, const Machine& machine,
                       int64_t vectors) {
  const int64_t columns = x->shape()[1];
  if (vectors < 1 || columns < 1 || std::ssize(machine.support_vectors) != vectors * columns) {
    return invalid_model(str(ml::label(draft), ": ", machine.support_vectors.size(),
                             " numbers for ", vectors, " support vectors of ", columns,
                             " columns"));
  }
  const float gamma = machine.params[0], coef0 = machine.params[1], degree = machine.params[2];
  Value* const v = builder.constant(draft.name + "/vectors",
                                    Tensor::f32({vectors, columns}, machine.support_vectors));
  RK_ASSIGN(Value* const dot,
            emit(draft, builder, "Gemm", "/dot", {x, v}, {{"transB", int64_t{1}}}));
  if (machine.kernel == "LINEAR") return dot;
  if (machine.kernel == "RBF") {
    // exp(-gamma * (|x|^2 - 2 x v + |v|^2))
    std::vector<float> squares(static_cast<size_t>(vectors), 0);
    for (size_t i = 0; i < machine.support_vectors.size(); ++i) {
      squares[i / static_cast<size_t>(columns)] +=
          machine.support_vectors[i] * machine.support_vectors[i];
    }
    RK_ASSIGN(Value* const own, emit(draft, builder, "ReduceSumSquare", "/squares",
                                     {x, builder.ints(draft, "/axes", {1})}));
    RK_ASSIGN(Value* const twice,
              emit(draft, builder, "Mul", "/twice", {dot, builder.scalar(draft, "/two", 2)}));
    RK_ASSIGN(Value* const apart, emit(draft, builder, "Sub", "/apart", {own, twice}));
    RK_ASSIGN(Value* const distance,
              emit(draft, builder, "Add", "/distance",
                   {apart, ml::vector(draft, builder, "/vector_squares", squares)}));
    RK_ASSIGN(Value* const scaled, emit(draft, builder, "Mul", "/scaled",
                                        {distance, builder.scalar(draft, "/gamma", -gamma)}));
    return emit(draft, builder, "Exp", "/kernel", {scaled});
  }
  if (machine.kernel != "POLY" && machine.kernel != "SIGMOID") {
    return invalid_model(str(ml::label(draft), ": kernel_type '", machine.kernel, "'"));
  }
  RK_ASSIGN(Value* const scaled,
            emit(draft, builder, "Mul", "/scaled", {dot, builder.scalar(draft, "/gamma", gamma)}));
  RK_ASSIGN(Value* const sum,
            emit(draft, builder, "Add", "/sum", {scaled, builder.scalar(draft, "/coef0", coef0)}));
  if (machine.kernel == "SIGMOID") return emit(draft, builder, "Tanh", "/kernel", {sum});
  return emit(draft, builder, "Pow", "/kernel", {sum, builder.scalar(draft, "/degree", degree)});
}

}  // namespace

Status svm_regressor_to_arithmetic(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::matrix_input(draft, builder));
  RK_ASSIGN(Machine machine, take_machine(draft));
  RK_ASSIGN(const int64_t vectors, take_or(draft, "n_supports", int64_t{0}));
  RK_ASSIGN(const int64_t one_class, take_or(draft, "one_class", int64_t{0}));
  if (machine.rho.size() > 1) machine.rho.resize(1);
  Value* scores = nullptr;
  if (vectors == 0) {
    RK_ASSIGN(scores, linear_scores(draft, builder, x, machine.coefficients, machine.rho));
  } else {
    RK_ASSIGN(Value* const kernel, kernels(draft, builder, x, machine, vectors));
    RK_ASSIGN(scores, linear_scores(draft, builder, kernel, machine.coefficients, machine.rho));
  }
  if (scores->shape()[1] != 1)
    return invalid_model(str(ml::label(draft), ": gives ", scores->shape()[1], " results"));
  if (one_class != 0) {
    RK_ASSIGN(Value* const inside, emit(draft, builder, "Greater", "/inside",
                                        {scores, builder.scalar(draft, "/zero", 0)}));
    RK_ASSIGN(scores,
              emit(draft, builder, "Where", "/side",
                   {inside, builder.scalar(draft, "/in", 1), builder.scalar(draft, "/out", -1)}));
  }
  return ml::give_transformed(draft, builder, scores);
}

// Support vectors: every pair of classes has a decision, and the class with the most of them wins.
Status svm_classifier_to_arithmetic(NodeDraft& draft, GraphBuilder& builder) {
  RK_ASSIGN(Value* const x, ml::matrix_input(draft, builder));
  RK_ASSIGN(Machine machine, take_machine(draft));
  RK_ASSIGN(const auto per_class, take_or(draft, "vectors_per_class", std::vector<int64_t>()));
  RK_ASSIGN(const auto prob_a, take_or(draft, "prob_a", std::vector<float>()));
  RK_ASSIGN(const auto prob_b, take_or(draft, "prob_b", std::vector<float>()));
  RK_ASSIGN(const ml::Labels labels, ml::take_labels(draft));
  if (per_class.empty()) {
    if (machine.rho.size() > 1) machine.rho.resize(1);
    RK_ASSIGN(Value* const scores,
              linear_scores(draft, builder, x, machine.coefficients, machine.rho));
    if (scores->shape()[1] == 1 && labels.count == 2)
      return ml::give_two_classes(draft, builder, scores, labels, false);
    return ml::give_classes(draft, builder, scores, scores, labels);
  }
  const auto classes = static_cast<int64_t>(per_class.size());
  int64_t vectors = 0;
  for (const int64_t count : per_class) {
    if (count < 0 || count > 1 << 24)
      return invalid_model(str(ml::label(draft), ": vectors_per_class holds ", count));
    vectors += count;
  }
  const int64_t pairs = classes * (classes - 1) / 2;
  if (classes < 2 || classes > 1024 || labels.count != classes ||
      std::ssize(machine.rho) != pairs ||
      std::ssize(machine.coefficients) != (classes - 1) * vectors) {
    return invalid_model(str(ml::label(draft), ": ", machine.coefficients.size(),
                             " coefficients and ", machine.rho.size(), " rho for ", classes,
                             " classes with ", vectors, " support vectors"));
  }
  RK_ASSIGN(Value* const kernel, kernels(draft, builder, x, machine, vectors));
  std::vector<float> weights(static_cast<size_t>(pairs * vectors), 0),
      first(static_cast<size_t>(classes * pairs), 0);
  std::vector<float> second = first;
  int64_t pair = 0, start_i = 0;
  for (int64_t i = 0; i < classes; start_i += per_class[static_cast<size_t>(i++)]) {
    int64_t start_j = start_i + per_class[static_cast<size_t>(i)];
    for (int64_t j = i + 1; j < classes; start_j += per_class[static_cast<size_t>(j++)], ++pair) {
      const auto copy = [&](int64_t start, int64_t count, int64_t row) {
        for (int64_t k = start; k < start + count; ++k) {
          weights[static_cast<size_t>(pair * vectors + k)] =
              machine.coefficients[static_cast<size_t>(row * vectors + k)];
        }
      };
      copy(start_i, per_class[static_cast<size_t>(i)], j - 1);
      copy(start_j, per_class[static_cast<size_t>(j)], i);
      first[static_cast<size_t>(i * pairs + pair)] = 1;
      second[static_cast<size_t>(j * pairs + pair)] = 1;
    }
  }
  RK_ASSIGN(Value* const decisions, linear_scores(draft, builder, kernel, weights, machine.rho));
  if (!prob_a.empty()) {
    if (classes != 2 || prob_a.size() != 1 || prob_b.size() != 1) {
      return unsupported(
          "gives probabilities of more than two classes, which couple pairs by iteration; export "
          "it "
          "without probabilities");
    }
    // Platt: the first class has probability 1 / (1 + exp(a * decision + b)).
    RK_ASSIGN(Value* const scaled, emit(draft, builder, "Mul", "/platt",
                                        {decisions, builder.scalar(draft, "/a", -prob_a[0])}));
    RK_ASSIGN(Value* const shifted, emit(draft, builder, "Sub", "/shifted",
                                         {scaled, builder.scalar(draft, "/b", prob_b[0])}));
    RK_ASSIGN(Value* const one, emit(draft, builder, "Sigmoid", "/first", {shifted}));
    RK_ASSIGN(Value* const other,
              emit(draft, builder, "Sub", "/second", {builder.scalar(draft, "/unit", 1), one}));
    RK_ASSIGN(Value* const both,
              emit(draft, builder, "Concat", "/both", {one, other}, {{"axis", int64_t{1}}}));
    return ml::give_classes(draft, builder, both, both, labels);
  }
  RK_ASSIGN(Value* const holds, emit(draft, builder, "Greater", "/holds",
                                     {decisions, builder.scalar(draft, "/zero", 0)}));
  RK_ASSIGN(Value* const yes, emit(draft, builder, "Cast", "/yes", {holds}, {{"to", int64_t{1}}}));
  RK_ASSIGN(Value* const no,
            emit(draft, builder, "Sub", "/no", {builder.scalar(draft, "/one", 1), yes}));
  RK_ASSIGN(Value* const for_first, linear_scores(draft, builder, yes, first, {}));
  RK_ASSIGN(Value* const for_second, linear_scores(draft, builder, no, second, {}));
  RK_ASSIGN(Value* const votes, emit(draft, builder, "Add", "/votes", {for_first, for_second}));
  return ml::give_classes(draft, builder, votes, decisions, labels);
}

}  // namespace rk::frontends
