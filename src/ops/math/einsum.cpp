// SPDX-License-Identifier: Apache-2.0
// Einsum: sums of products named by index letters ("bij,bjk->bik"). Ellipses broadcast; without
// "->" the output has the letters that occur once, in alphabetical order. The reference walks every
// combination of indices.
#include "ops/math/einsum.h"

#include <algorithm>
#include <string>

#include "ops/shared/matmul_core.h"

namespace rk::ops {
namespace {

using Label = EinsumLabel;
using Plan = EinsumPlan;
constexpr Label kEllipsisBase = 256;

// One side of the equation; "..." becomes as many labels as `ellipsis_rank`.
Result<std::vector<Label>> parse_term(std::string_view term, int ellipsis_rank) {
  std::vector<Label> out;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    const char ch = term[i];
    if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')) {
      out.push_back(ch);
    } else if (term.substr(i, 3) == "..." && !seen) {
      seen = true;
      i += 2;
      for (int axis = ellipsis_rank - 1; axis >= 0; --axis) out.push_back(kEllipsisBase + axis);
    } else {
      return refuse("attribute 'equation' has '", ch, "' where letters or one '...' are expected");
    }
  }
  return out;
}

std::vector<Label> implicit_output(const Plan& plan) {
  std::map<Label, int> uses;
  for (const auto& operand : plan.operands) {
    for (const Label label : operand) ++uses[label];
  }
  std::vector<Label> out;
  for (auto it = uses.rbegin(); it != uses.rend(); ++it) {
    if (it->first >= kEllipsisBase) out.push_back(it->first);
  }
  for (const auto& [label, count] : uses) {
    if (label < kEllipsisBase && count == 1) out.push_back(label);
  }
  return out;
}

Status bind_operand(std::string_view term, const Shape& shape, size_t number, Plan& plan) {
  const auto letters =
      static_cast<int>(std::ranges::count_if(term, [](char c) { return c != '.'; }));
  RK_ASSIGN(const std::vector<Label> labels, parse_term(term, std::max(0, shape.rank() - letters)));
  if (labels.size() != static_cast<size_t>(shape.rank())) {
    return refuse("attribute 'equation' has ", labels.size(), " indices for input ", number,
                  ", which is ", to_string(shape));
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto [it, is_new] = plan.extents.emplace(labels[static_cast<size_t>(axis)], shape[axis]);
    if (is_new || it->second == shape[axis] || shape[axis] == 1) continue;
    if (it->second != 1) {
      return refuse("input ", number, " has extent ", shape[axis], " on axis ", axis, ", expected ",
                    it->second, " as for the other uses of its index");
    }
    it->second = shape[axis];
  }
  plan.operands.push_back(labels);
  return ok_status();
}

}  // namespace

Result<EinsumPlan> einsum_plan(const Node& node) {
  std::string equation = node.text("equation");
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  std::string_view left = std::string_view(equation).substr(0, arrow);
  Plan plan;
  for (size_t i = 0; i < node.input_count(); ++i) {
    const size_t comma = left.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == node.input_count())) {
      return refuse("attribute 'equation' is '", equation, "', expected one term for each of the ",
                    node.input_count(), " inputs");
    }
    RK_TRY(bind_operand(left.substr(0, comma), node.input(i).shape(), i, plan));
    left.remove_prefix(comma == std::string_view::npos ? left.size() : comma + 1);
  }
  if (arrow == std::string::npos) {
    plan.output = implicit_output(plan);
    return plan;
  }
  int ellipsis_rank = 0;
  for (const auto& [label, extent] : plan.extents)
    ellipsis_rank = std::max(ellipsis_rank, label - kEllipsisBase + 1);
  RK_ASSIGN(plan.output, parse_term(std::string_view(equation).substr(arrow + 2), ellipsis_rank));
  for (size_t i = 0; i < plan.output.size(); ++i) {
    const bool twice = std::ranges::count(plan.output, plan.output[i]) > 1;
    if (twice || !plan.extents.contains(plan.output[i])) {
      return refuse("attribute 'equation' is '", equation,
                    "': each output index must occur once and in an input");
    }
  }
  return plan;
}

int64_t einsum_stride(const EinsumPlan& plan, size_t operand, const Shape& shape,
                      EinsumLabel label) {
  const Strides strides = row_major_strides(shape);
  int64_t sum = 0;
  for (size_t axis = 0; axis < plan.operands[operand].size(); ++axis) {
    const bool broadcast = shape[static_cast<int>(axis)] == 1;
    if (plan.operands[operand][axis] == label && !broadcast) sum += strides[axis];
  }
  return sum;
}

namespace {

Status einsum_infer(InferCall& call) {
  if (call.input_count() == 0) return refuse("no inputs found, at least one expected");
  for (size_t i = 1; i < call.input_count(); ++i) RK_TRY(require_same_dtype(call, 0, i));
  RK_ASSIGN(const Plan plan, einsum_plan(call.node));
  std::vector<int64_t> dims;
  for (const Label label : plan.output) dims.push_back(plan.extents.at(label));
  return set_output(call, 0, call.input(0).dtype, dims);
}

// The loops: output indices outermost, then those summed over.
struct Loop {
  int64_t extent = 1;
  std::vector<int64_t> strides;  // per operand; a repeated letter adds up, which walks the diagonal
};

std::vector<Loop> make_loops(const EvalCall& call, const Plan& plan) {
  std::vector<Label> order = plan.output;
  for (const auto& [label, extent] : plan.extents) {
    if (std::ranges::find(order, label) == order.end()) order.push_back(label);
  }
  std::vector<Loop> loops;
  for (const Label label : order) {
    Loop loop = {plan.extents.at(label), {}};
    for (size_t i = 0; i < plan.operands.size(); ++i)
      loop.strides.push_back(einsum_stride(plan, i, call.input(i).shape(), label));
    loops.push_back(std::move(loop));
  }
  return loops;
}

template <typename T>
class Walk {
 public:
  Walk(const EvalCall& call, const Plan& plan)
      : loops_(make_loops(call, plan)),
        outputs_(plan.output.size()),
        offsets_(plan.operands.size()) {
    for (size_t i = 0; i < plan.operands.size(); ++i) data_.push_back(call.input(i).data<T>());
    to_ = call.output(0).mutable_data<T>();
  }

  void run(size_t depth) {
    if (depth == outputs_) {
      *to_++ = static_cast<T>(sum(depth));
      return;
    }
    for_each(depth, [&] { run(depth + 1); });
  }

 private:
  SumOf<T> sum(size_t depth) {
    if (depth == loops_.size()) {
      SumOf<T> product = 1;
      for (size_t i = 0; i < data_.size(); ++i)
        product = wrap_mul(product, static_cast<SumOf<T>>(data_[i][offsets_[i]]));
      return product;
    }
    SumOf<T> total = 0;
    for_each(depth, [&] { total = wrap_add(total, sum(depth + 1)); });
    return total;
  }

  template <typename Body>
  void for_each(size_t depth, Body body) {
    const Loop& loop = loops_[depth];
    for (int64_t i = 0; i < loop.extent; ++i) {
      body();
      for (size_t n = 0; n < offsets_.size(); ++n) offsets_[n] += loop.strides[n];
    }
    for (size_t n = 0; n < offsets_.size(); ++n) offsets_[n] -= loop.extent * loop.strides[n];
  }

  std::vector<Loop> loops_;
  size_t outputs_;
  std::vector<int64_t> offsets_;
  std::vector<const T*> data_;
  T* to_ = nullptr;
};

Status einsum_compute(const EvalCall& call) {
  RK_ASSIGN(const Plan plan, einsum_plan(call.node));
  if (call.output(0).elements() == 0) return ok_status();
  return with_number_type(call.output(0).dtype(), [&](auto tag) {
    Walk<decltype(tag)>(call, plan).run(0);
    return ok_status();
  });
}

Status einsum_reference(const EvalCall& call) { return halves_as_f32(call, einsum_compute); }

Cost einsum_cost(const Node& node) {
  const Plan plan = einsum_plan(node).value();
  double macs = 1;
  for (const auto& [label, extent] : plan.extents) macs *= static_cast<double>(extent);
  return {.macs = static_cast<uint64_t>(std::min(macs, 1e18))};
}

}  // namespace

OpDef einsum() {
  return {
      .name = "Einsum",
      .doc = "y = sum of products over named indices",
      .inputs = {{"inputs", numbers().like(0), ArgDef::kVariadic}},
      .outputs = {{"y"}},
      .attrs = {{"equation", "", "terms of the inputs, '->', term of the output",
                 AttrDef::kRequired}},
      .infer = einsum_infer,
      .reference = einsum_reference,
      .cost = einsum_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
