// SPDX-License-Identifier: Apache-2.0
// LinearAttention: attention without softmax, as a matrix of state per head that each step reads
// and writes. update_rule says how: the state may decay (gated), and what it already holds for a
// key may be taken off before writing (delta). Sequences are [B,T,H*D], states [B,H,Dk,Dv].
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

enum Input : size_t { kQuery, kKey, kValue, kPastState, kDecay, kBeta };

struct Dims {
  int64_t batch = 0;
  int64_t steps = 0;
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  int64_t key_size = 0;
  int64_t value_size = 0;
  bool decay_per_key = false;  // otherwise one decay per head
  bool beta_per_head = false;  // otherwise one for all heads
};

bool is_gated(const Node& node) { return node.text("update_rule").starts_with("gated"); }
bool is_delta(const Node& node) { return node.text("update_rule").ends_with("delta"); }

Result<Dims> linear_attention_resolve(const Node& node) {
  const Shape& q = node.input(kQuery).shape();
  const Shape& v = node.input(kValue).shape();
  Dims dims{.batch = q[0],
            .steps = q[1],
            .query_heads = node.i64("q_num_heads"),
            .kv_heads = node.i64("kv_num_heads")};
  if (dims.query_heads < 1 || dims.kv_heads < 1 || dims.query_heads % dims.kv_heads != 0 ||
      q[2] % dims.query_heads != 0 || v[2] % dims.kv_heads != 0) {
    return refuse("attributes 'q_num_heads' ", dims.query_heads, " and 'kv_num_heads' ",
                  dims.kv_heads, " do not divide the query ", rk::to_string(q), " and the value ",
                  rk::to_string(v), ", or one another");
  }
  dims.key_size = q[2] / dims.query_heads;
  dims.value_size = v[2] / dims.kv_heads;
  if (node.has_input(kDecay)) {
    const Shape& decay = node.input(kDecay).shape();
    dims.decay_per_key = decay.rank() == 3 && decay[2] != dims.kv_heads;
  }
  if (node.has_input(kBeta)) {
    const Shape& beta = node.input(kBeta).shape();
    dims.beta_per_head = beta.rank() == 3 && beta[2] != 1;
  }
  return dims;
}

Status linear_attention_infer(InferCall& call) {
  RK_TRY(require_one_of(call.node, "update_rule", {"linear", "gated", "delta", "gated_delta"}));
  for (const size_t i : {kQuery, kKey, kValue}) {
    RK_TRY(require_same_dtype(call, kQuery, i));
    RK_TRY(require_rank(call, i, 3, 3));
  }
  RK_ASSIGN(const Dims dims, linear_attention_resolve(call.node));
  RK_TRY(require_shape(call, kKey, Shape{dims.batch, dims.steps, dims.kv_heads * dims.key_size}));
  RK_TRY(
      require_shape(call, kValue, Shape{dims.batch, dims.steps, dims.kv_heads * dims.value_size}));
  const Shape state{dims.batch, dims.kv_heads, dims.key_size, dims.value_size};
  if (call.has_input(kPastState)) RK_TRY(require_shape(call, kPastState, state));
  if (call.has_input(kDecay) != is_gated(call.node) ||
      call.has_input(kBeta) != is_delta(call.node)) {
    return refuse("update_rule '", call.node.text("update_rule"), "' takes ",
                  is_gated(call.node) ? "a" : "no", " decay and ", is_delta(call.node) ? "a" : "no",
                  " beta; found ", call.has_input(kDecay) ? "a" : "no", " decay and ",
                  call.has_input(kBeta) ? "a" : "no", " beta");
  }
  if (call.has_input(kDecay)) {
    const int64_t last = dims.decay_per_key ? dims.kv_heads * dims.key_size : dims.kv_heads;
    RK_TRY(require_shape(call, kDecay, Shape{dims.batch, dims.steps, last}));
  }
  if (call.has_input(kBeta)) {
    RK_TRY(require_shape(call, kBeta,
                         Shape{dims.batch, dims.steps, dims.beta_per_head ? dims.kv_heads : 1}));
  }
  const DType dtype = call.input(kQuery).dtype;
  RK_TRY(set_output(call, 0, dtype,
                    std::array{dims.batch, dims.steps, dims.query_heads * dims.value_size}));
  return set_output(call, 1, dtype, state.dims());
}

// One step of one key/value head: the state [key_size, value_size] takes up a key and its value.
class Writer {
 public:
  Writer(const EvalCall& call, const Dims& dims)
      : dims_(dims),
        keys_(call.input(kKey).data<float>()),
        values_(call.input(kValue).data<float>()),
        decay_(call.has_input(kDecay) ? call.input(kDecay).data<float>() : nullptr),
        beta_(call.has_input(kBeta) ? call.input(kBeta).data<float>() : nullptr) {}

  void step(int64_t place, int64_t head, std::vector<double>& state) const {
    const int64_t row = place * dims_.kv_heads + head;
    const float* key = keys_ + row * dims_.key_size;
    const float* value = values_ + row * dims_.value_size;
    for (int64_t k = 0; k < dims_.key_size && decay_ != nullptr; ++k) {
      const double kept = std::exp(static_cast<double>(
          dims_.decay_per_key ? decay_[row * dims_.key_size + k] : decay_[row]));
      for (int64_t v = 0; v < dims_.value_size; ++v) at(state, k, v) *= kept;
    }
    for (int64_t v = 0; v < dims_.value_size; ++v) {
      double written = value[v];
      if (beta_ != nullptr) {
        for (int64_t k = 0; k < dims_.key_size; ++k) written -= at(state, k, v) * key[k];
        written *= dims_.beta_per_head ? beta_[row] : beta_[place];
      }
      for (int64_t k = 0; k < dims_.key_size; ++k) at(state, k, v) += key[k] * written;
    }
  }

  double& at(std::vector<double>& state, int64_t k, int64_t v) const {
    return state[static_cast<size_t>(k * dims_.value_size + v)];
  }

 private:
  const Dims& dims_;
  const float* keys_;
  const float* values_;
  const float* decay_;
  const float* beta_;
};

Status linear_attention_compute(const EvalCall& call) {
  RK_ASSIGN(const Dims dims, linear_attention_resolve(call.node));
  const float given = call.node.f32("scale");
  const double scale = given != 0 ? given : 1.0 / std::sqrt(static_cast<double>(dims.key_size));
  const int64_t group = dims.query_heads / dims.kv_heads;
  const int64_t state_size = dims.key_size * dims.value_size;
  if (call.output(0).elements() == 0 && state_size == 0) return ok_status();
  const Writer writer(call, dims);
  call.parallel_for(dims.batch * dims.kv_heads, 1, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      std::vector<double> state(static_cast<size_t>(state_size));
      if (call.has_input(kPastState)) {
        std::copy_n(call.input(kPastState).data<float>() + i * state_size, state_size,
                    state.begin());
      }
      const int64_t head = i % dims.kv_heads;
      for (int64_t t = 0; t < dims.steps; ++t) {
        const int64_t place = i / dims.kv_heads * dims.steps + t;
        writer.step(place, head, state);
        for (int64_t h = head * group; h < (head + 1) * group; ++h) {
          const int64_t row = place * dims.query_heads + h;
          const float* query = call.input(kQuery).data<float>() + row * dims.key_size;
          float* y = call.output(0).mutable_data<float>() + row * dims.value_size;
          for (int64_t v = 0; v < dims.value_size; ++v) {
            double sum = 0;
            for (int64_t k = 0; k < dims.key_size; ++k) sum += query[k] * writer.at(state, k, v);
            y[v] = static_cast<float>(scale * sum);
          }
        }
      }
      if (call.outputs.size() > 1) {
        std::ranges::transform(state, call.output(1).mutable_data<float>() + i * state_size,
                               [](double s) { return static_cast<float>(s); });
      }
    }
  });
  return ok_status();
}

Status linear_attention_reference(const EvalCall& call) {
  return in_f32(call, linear_attention_compute);
}

Cost linear_attention_cost(const Node& node) {
  const auto dims = linear_attention_resolve(node);
  if (!dims.ok()) return {};
  const auto cells = static_cast<uint64_t>(dims->batch * dims->steps * dims->key_size) *
                     static_cast<uint64_t>(dims->value_size);
  return {.macs = cells * static_cast<uint64_t>(2 * dims->kv_heads + dims->query_heads)};
}

}  // namespace

OpDef linear_attention() {
  return {
      .name = "LinearAttention",
      .doc = "y = queries read from a state that keys and values are written to, step by step",
      .inputs = {{"q", floats().rank(3)},
                 {"k", floats().like(0).rank(3)},
                 {"v", floats().like(0).rank(3)},
                 {"past_state", floats().like(0).rank(4), ArgDef::kOptional},
                 {"decay", floats().like(0).rank(3), ArgDef::kOptional},
                 {"beta", floats().like(0).rank(3), ArgDef::kOptional}},
      .outputs = {{"y"}, {"present_state", ArgDef::kOptional}},
      .attrs = {{"q_num_heads", int64_t{0}, "query heads", AttrDef::kRequired},
                {"kv_num_heads", int64_t{0}, "key and value heads", AttrDef::kRequired},
                {"update_rule", "gated_delta", "linear, gated, delta or gated_delta"},
                {"scale", 0.0f, "factor of the result; 0: 1 / sqrt(key size)"},
                {"chunk_size", int64_t{64}, "steps an implementation may take at once; unused"}},
      .infer = linear_attention_infer,
      .reference = linear_attention_reference,
      .cost = linear_attention_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
