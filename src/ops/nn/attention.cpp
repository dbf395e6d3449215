// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(q k^T * scale + bias) v per head, with fewer key than query heads (GQA), a
// mask, causality, a key/value cache and a soft cap on the scores. 3-D inputs carry the heads
// inside the last axis ([B,S,H*D]), 4-D ones as axis 1; caches are always 4-D. The scores are
// capped first and masked then.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

enum Input : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidLengths };
enum Output : size_t { kResult, kPresentKey, kPresentValue, kScores };
// What the fourth output shows.
enum Stage : int64_t { kRaw, kCapped, kMasked, kProbabilities };

struct Dims {
  bool packed = false;  // heads inside the last axis
  int64_t batch = 0;
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  int64_t queries = 0;
  int64_t fresh = 0;  // keys and values that are not from the cache
  int64_t past = 0;
  int64_t head = 0;        // elements of a query and of a key
  int64_t value_head = 0;  // elements of a value

  int64_t total() const { return past + fresh; }
};

// One of query, key, value as [heads, length, size].
struct Heads {
  int64_t heads = 0;
  int64_t length = 0;
  int64_t size = 0;
};

Result<Heads> heads_of(const Node& node, size_t i, std::string_view attr) {
  const Shape& shape = node.input(i).shape();
  if (shape.rank() == 4) return Heads{shape[1], shape[2], shape[3]};
  const int64_t heads = node.i64(attr);
  if (shape.rank() != 3 || heads < 1 || shape[2] % heads != 0) {
    return refuse(
        "input ", i, " is ", rk::to_string(shape), " and attribute '", attr, "' is ", heads,
        ", expected rank 4, or rank 3 and a number of heads that divides the last ", "extent");
  }
  return Heads{heads, shape[1], shape[2] / heads};
}

Result<Dims> attention_resolve(const Node& node) {
  RK_ASSIGN(const Heads query, heads_of(node, kQuery, "q_num_heads"));
  RK_ASSIGN(const Heads key, heads_of(node, kKey, "kv_num_heads"));
  RK_ASSIGN(const Heads value, heads_of(node, kValue, "kv_num_heads"));
  const Shape& q = node.input(kQuery).shape();
  const Shape& k = node.input(kKey).shape();
  const Shape& v = node.input(kValue).shape();
  const bool agree = q.rank() == k.rank() && k.rank() == v.rank() && q[0] == k[0] && k[0] == v[0] &&
                     query.size == key.size && key.heads == value.heads &&
                     key.length == value.length && key.heads > 0 && query.heads % key.heads == 0;
  if (!agree) {
    return refuse("query ", rk::to_string(q), ", key ", rk::to_string(k), " and value ",
                  rk::to_string(v), " do not fit: ", query.heads, ", ", key.heads, " and ",
                  value.heads, " heads of ", query.size, ", ", key.size, " and ", value.size,
                  " elements; query and key need the same size, key and value the same heads and "
                  "length, and the query heads are a multiple of theirs");
  }
  Dims dims = {.packed = q.rank() == 3,
               .batch = q[0],
               .query_heads = query.heads,
               .kv_heads = key.heads,
               .queries = query.length,
               .fresh = key.length,
               .head = key.size,
               .value_head = value.size};
  if (node.has_input(kPastKey) != node.has_input(kPastValue)) {
    return refuse("past_key and past_value must be given together");
  }
  if (!node.has_input(kPastKey)) return dims;
  const Shape& past_key = node.input(kPastKey).shape();
  if (past_key.rank() == 4) dims.past = past_key[2];
  const Shape expected_key{dims.batch, dims.kv_heads, dims.past, dims.head};
  const Shape expected_value{dims.batch, dims.kv_heads, dims.past, dims.value_head};
  if (!(past_key == expected_key) || !(node.input(kPastValue).shape() == expected_value)) {
    return refuse("past_key ", rk::to_string(past_key), " and past_value ",
                  rk::to_string(node.input(kPastValue).shape()), " must be ",
                  rk::to_string(expected_key), " and ", rk::to_string(expected_value));
  }
  return dims;
}

Status check_mask(const InferCall& call, const Dims& dims) {
  if (!call.has_input(kMask)) return ok_status();
  if (call.input(kMask).dtype != DType::kBool) RK_TRY(require_same_dtype(call, kQuery, kMask));
  Shape mask = call.input(kMask).shape;
  const int last = mask.rank() - 1;
  const Shape full{dims.batch, dims.query_heads, dims.queries, dims.total()};
  if (mask[last] <= dims.total()) {
    mask[last] = dims.total();  // a shorter mask hides the rest
    const auto both = broadcast_shapes(mask, full);
    if (both.ok() && *both == full) return ok_status();
  }
  return refuse("input 3 ('attn_mask') is ", rk::to_string(call.input(kMask).shape),
                ", expected a shape that broadcasts to ", rk::to_string(full));
}

Status attention_infer(InferCall& call) {
  for (const size_t i : {kKey, kValue, kPastKey, kPastValue}) {
    if (call.has_input(i)) RK_TRY(require_same_dtype(call, kQuery, i));
  }
  RK_TRY(require_range(call.node, "qk_matmul_output_mode", kRaw, kProbabilities));
  RK_ASSIGN(const Dims dims, attention_resolve(call.node));
  RK_TRY(check_mask(call, dims));
  if (call.has_input(kValidLengths)) {
    RK_TRY(require_index(call, kValidLengths));
    RK_TRY(require_shape(call, kValidLengths, Shape{dims.batch}));
    if (dims.past != 0) return refuse("nonpad_kv_seqlen and past_key exclude each other");
  }
  const DType dtype = call.input(kQuery).dtype;
  const std::vector<int64_t> result =
      dims.packed ? std::vector{dims.batch, dims.queries, dims.query_heads * dims.value_head}
                  : std::vector{dims.batch, dims.query_heads, dims.queries, dims.value_head};
  RK_TRY(set_output(call, kResult, dtype, result));
  RK_TRY(set_output(call, kPresentKey, dtype,
                    std::array{dims.batch, dims.kv_heads, dims.total(), dims.head}));
  RK_TRY(set_output(call, kPresentValue, dtype,
                    std::array{dims.batch, dims.kv_heads, dims.total(), dims.value_head}));
  return set_output(call, kScores, dtype,
                    std::array{dims.batch, dims.query_heads, dims.queries, dims.total()});
}

// Element offset of (batch, head, position) in a packed or unpacked tensor.
int64_t offset_of(bool packed, const Heads& of, int64_t b, int64_t h, int64_t s) {
  return packed ? ((b * of.length + s) * of.heads + h) * of.size
                : ((b * of.heads + h) * of.length + s) * of.size;
}

// Cache and fresh rows behind each other: [B, kv_heads, total, size].
std::vector<float> join_cache(const EvalCall& call, const Dims& dims, size_t fresh, size_t past,
                              int64_t size) {
  std::vector<float> out(static_cast<size_t>(dims.batch * dims.kv_heads * dims.total() * size));
  if (out.empty()) return out;
  const float* from = call.input(fresh).data<float>();
  const float* cache = call.has_input(past) ? call.input(past).data<float>() : nullptr;
  float* to = out.data();
  for (int64_t b = 0; b < dims.batch; ++b) {
    for (int64_t h = 0; h < dims.kv_heads; ++h) {
      if (cache != nullptr) {
        to = std::copy_n(cache + (b * dims.kv_heads + h) * dims.past * size, dims.past * size, to);
      }
      for (int64_t s = 0; s < dims.fresh; ++s) {
        const Heads of{dims.kv_heads, dims.fresh, size};
        to = std::copy_n(from + offset_of(dims.packed, of, b, h, s), size, to);
      }
    }
  }
  return out;
}

// What is added to the scores of one row: mask, causality and the valid length of the cache.
class Bias {
 public:
  Bias(const EvalCall& call, const Dims& dims)
      : call_(call), dims_(dims), causal_(call.node.i64("is_causal") != 0) {
    if (!call.has_input(kMask)) return;
    Shape shape = call.input(kMask).shape();
    mask_length_ = shape[shape.rank() - 1];
    strides_ = broadcast_strides(shape, Shape{dims.batch, dims.query_heads, dims.queries, 1});
    // The last axis is walked element by element, also where it is 1 long.
    if (call.input(kMask).dtype() == DType::kBool) {
      allowed_ = call.input(kMask).data<uint8_t>();
    } else {
      added_ = call.input(kMask).data<float>();
    }
  }

  void row(int64_t b, int64_t h, int64_t q, std::vector<double>& out) const {
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    const bool bounded = call_.has_input(kValidLengths);
    const int64_t valid = bounded ? call_.input(kValidLengths).at_i64(b) : dims_.total();
    const int64_t offset = bounded ? valid - dims_.queries : dims_.past;
    const int64_t start = b * strides_[0] + h * strides_[1] + q * strides_[2];
    for (int64_t k = 0; k < dims_.total(); ++k) {
      double value = 0;
      if (k >= valid || (causal_ && k > q + offset)) {
        value = kHidden;
      } else if (allowed_ != nullptr) {
        value = k < mask_length_ && allowed_[start + k] != 0 ? 0 : kHidden;
      } else if (added_ != nullptr) {
        value = k < mask_length_ ? added_[start + k] : kHidden;
      }
      out[static_cast<size_t>(k)] = value;
    }
  }

 private:
  const EvalCall& call_;
  const Dims& dims_;
  bool causal_;
  int64_t mask_length_ = 0;
  Strides strides_{};
  const uint8_t* allowed_ = nullptr;
  const float* added_ = nullptr;
};

// A row that sees nothing has no probabilities at all, not equal ones.
void softmax_row(std::vector<double>& scores, bool sees_nothing) {
  if (sees_nothing) {
    std::ranges::fill(scores, 0.0);
    return;
  }
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - most);
  for (double& score : scores) score /= sum;
}

double dot(const float* a, const float* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void attend(const EvalCall& call, const Dims& dims, const std::vector<float>& keys,
            const std::vector<float>& values) {
  const double scale = call.node.has_attr("scale")
                           ? call.node.f32("scale")
                           : 1.0 / std::sqrt(static_cast<double>(dims.head));
  const double cap = call.node.f32("softcap");
  const int64_t shown = call.node.i64("qk_matmul_output_mode");
  const Bias bias(call, dims);
  const Heads query{dims.query_heads, dims.queries, dims.head};
  const Heads result{dims.query_heads, dims.queries, dims.value_head};
  const bool wants_scores = call.outputs.size() > kScores && call.output(kScores).elements() != 0;
  if (call.output(kResult).elements() == 0 && !wants_scores) return;
  call.parallel_for(dims.batch * dims.query_heads, 1, [&](IndexRange range) {
    std::vector<double> scores(static_cast<size_t>(dims.total()));
    std::vector<double> added(scores.size());
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t b = i / dims.query_heads;
      const int64_t h = i % dims.query_heads;
      const int64_t kv = b * dims.kv_heads + h / (dims.query_heads / dims.kv_heads);
      const float* key = keys.data() + kv * dims.total() * dims.head;
      const float* value = values.data() + kv * dims.total() * dims.value_head;
      for (int64_t q = 0; q < dims.queries; ++q) {
        const auto show = [&](Stage stage) {
          if (!wants_scores || shown != stage) return;
          float* to =
              call.output(kScores).mutable_data<float>() + (i * dims.queries + q) * dims.total();
          std::ranges::transform(scores, to, [](double s) { return static_cast<float>(s); });
        };
        const float* x = call.input(kQuery).data<float>() + offset_of(dims.packed, query, b, h, q);
        for (int64_t k = 0; k < dims.total(); ++k) {
          scores[static_cast<size_t>(k)] = scale * dot(x, key + k * dims.head, dims.head);
        }
        show(kRaw);
        if (cap > 0) {
          for (double& score : scores) score = cap * std::tanh(score / cap);
        }
        show(kCapped);
        bias.row(b, h, q, added);
        std::ranges::transform(scores, added, scores.begin(), std::plus<>());
        show(kMasked);
        softmax_row(scores,
                    std::ranges::all_of(added, [](double a) { return std::isinf(a) && a < 0; }));
        show(kProbabilities);
        float* y =
            call.output(kResult).mutable_data<float>() + offset_of(dims.packed, result, b, h, q);
        for (int64_t e = 0; e < dims.value_head; ++e) {
          double sum = 0;
          for (int64_t k = 0; k < dims.total(); ++k) {
            sum += scores[static_cast<size_t>(k)] * value[k * dims.value_head + e];
          }
          y[e] = static_cast<float>(sum);
        }
      }
    }
  });
}

Status attention_compute(const EvalCall& call) {
  RK_ASSIGN(const Dims dims, attention_resolve(call.node));
  const std::vector<float> keys = join_cache(call, dims, kKey, kPastKey, dims.head);
  const std::vector<float> values = join_cache(call, dims, kValue, kPastValue, dims.value_head);
  if (call.outputs.size() > kPresentKey) {
    std::ranges::copy(keys, call.output(kPresentKey).mutable_data<float>());
  }
  if (call.outputs.size() > kPresentValue) {
    std::ranges::copy(values, call.output(kPresentValue).mutable_data<float>());
  }
  attend(call, dims, keys, values);
  return ok_status();
}

Status attention_reference(const EvalCall& call) { return in_f32(call, attention_compute); }

Cost attention_cost(const Node& node) {
  const auto dims = attention_resolve(node);
  if (!dims.ok()) return {};
  const auto pairs = static_cast<uint64_t>(dims->batch * dims->query_heads * dims->queries) *
                     static_cast<uint64_t>(dims->total());
  return {.macs = pairs * static_cast<uint64_t>(dims->head + dims->value_head), .ops = 3 * pairs};
}

}  // namespace

OpDef attention() {
  return {
      .name = "Attention",
      .doc = "y = softmax(q k^T * scale + bias) v per head",
      .inputs = {{"q", floats()},
                 {"k", floats().like(0)},
                 {"v", floats().like(0)},
                 {"attn_mask", one_of(kFloatTypes | DTypeSet{DType::kBool}).rank(2, 4),
                  ArgDef::kOptional},
                 {"past_key", floats().like(0), ArgDef::kOptional},
                 {"past_value", floats().like(0), ArgDef::kOptional},
                 {"nonpad_kv_seqlen", indices(), ArgDef::kOptional}},
      .outputs = {{"y"},
                  {"present_key", ArgDef::kOptional},
                  {"present_value", ArgDef::kOptional},
                  {"qk_matmul_output", ArgDef::kOptional}},
      .attrs = {{"is_causal", int64_t{0}, "1: a query sees no key behind its own place"},
                {"q_num_heads", int64_t{0}, "query heads of 3-D inputs"},
                {"kv_num_heads", int64_t{0}, "key and value heads of 3-D inputs"},
                {"scale", 0.0f, "factor of the scores; absent: 1 / sqrt(head size)",
                 AttrDef::kOptional},
                {"softcap", 0.0f, "above 0: scores become softcap * tanh(score / softcap)"},
                {"softmax_precision", int64_t{0}, "dtype of the softmax; always the widest here"},
                {"qk_matmul_output_mode", int64_t{0},
                 "what the last output shows: 0 scores, 1 capped, 2 masked, 3 probabilities"}},
      .infer = attention_infer,
      .reference = attention_reference,
      .cost = attention_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
