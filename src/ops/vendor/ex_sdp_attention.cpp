// SPDX-License-Identifier: Apache-2.0
// exSDPAttention: y = softmax(scale * q k' + mask) v over the last axis of the scores. The vendor's
// name for the fused attention of a transformer. q is [..., N, D], k [..., M, D] (not transposed),
// v [..., M, E]; the mask is added and broadcasts to [..., N, M].
#include <algorithm>
#include <cmath>

#include "ops/shared/elementwise.h"
#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

struct Extents {
  int64_t batch = 1, queries = 0, keys = 0, depth = 0, width = 0;
  Shape scores;
};

Extents extents_of(const Shape& q, const Shape& v) {
  const int rank = q.rank();
  Extents out{.batch = extent_product(q, 0, rank - 2),
              .queries = q[rank - 2],
              .keys = v[rank - 2],
              .depth = q[rank - 1],
              .width = v[rank - 1],
              .scores = q};
  out.scores[rank - 1] = out.keys;
  return out;
}

Status ex_sdp_attention_infer(InferCall& call) {
  const Shape q = call.input(0).shape;
  const int rank = q.rank();
  for (size_t i = 1; i < 3; ++i) {
    RK_TRY(require_same_dtype(call, 0, i));
    RK_TRY(require_rank(call, i, rank, rank));
  }
  const Shape v = call.input(2).shape;
  Shape keys = q, values = q;
  keys[rank - 2] = values[rank - 2] = v[rank - 2];
  values[rank - 1] = v[rank - 1];
  RK_TRY(require_shape(call, 1, keys));
  RK_TRY(require_shape(call, 2, values));
  if (call.has_input(3)) {
    RK_TRY(require_same_dtype(call, 0, 3));
    const Shape scores = extents_of(q, v).scores;
    RK_ASSIGN(const Shape both, broadcast_shapes(scores, call.input(3).shape));
    if (!(both == scores)) {
      return refuse("input 3 ('mask') is ", rk::to_string(call.input(3).shape),
                    ", expected a shape that broadcasts to ", rk::to_string(scores));
    }
  }
  Shape out = q;
  out[rank - 1] = v[rank - 1];
  return set_output(call, 0, call.input(0).dtype, out);
}

// The mask spread to one row of keys per query; empty without a mask.
std::vector<float> spread_mask(const EvalCall& call, const Extents& e) {
  if (!call.has_input(3)) return {};
  std::vector<float> out(static_cast<size_t>(e.scores.elements()));
  float* to = out.data();
  const float* mask = call.input(3).data<float>();
  const std::array<Strides, 1> strides = {broadcast_strides(call.input(3).shape(), e.scores)};
  for_each_row<1>(e.scores, strides, [&](const auto& offsets, const auto& steps, int64_t count) {
    for (int64_t i = 0; i < count; ++i) *to++ = mask[offsets[0] + i * steps[0]];
  });
  return out;
}

// In place: exp(x - max) / sum.
void softmax(std::vector<float>& row) {
  const float peak = *std::ranges::max_element(row);
  // A row that the mask hides whole gives zeros: no key was asked for.
  if (std::isinf(peak) && peak < 0) {
    std::ranges::fill(row, 0.0f);
    return;
  }
  double sum = 0;
  for (float& value : row) sum += value = std::exp(value - peak);
  for (float& value : row) value = static_cast<float>(value / sum);
}

Status ex_sdp_attention_compute(const EvalCall& call) {
  const Extents e = extents_of(call.input(0).shape(), call.input(2).shape());
  if (call.output(0).elements() == 0) return ok_status();
  if (e.keys == 0) {
    std::fill_n(call.output(0).mutable_data<float>(), call.output(0).elements(), 0.0f);
    return ok_status();
  }
  const float scale = call.node.f32("scale");
  const std::vector<float> mask = spread_mask(call, e);
  std::vector<float> keys(static_cast<size_t>(e.depth * e.keys));  // transposed: rows of keys
  for (int64_t b = 0; b < e.batch; ++b) {
    const float* q = call.input(0).data<float>() + b * e.queries * e.depth;
    const float* k = call.input(1).data<float>() + b * e.keys * e.depth;
    const float* v = call.input(2).data<float>() + b * e.keys * e.width;
    float* y = call.output(0).mutable_data<float>() + b * e.queries * e.width;
    for (int64_t m = 0; m < e.keys; ++m) {
      for (int64_t d = 0; d < e.depth; ++d)
        keys[static_cast<size_t>(d * e.keys + m)] = k[m * e.depth + d];
    }
    call.parallel_for(e.queries, 16, [&](IndexRange range) {
      std::vector<float> row(static_cast<size_t>(e.keys));
      for (int64_t n = range.begin; n < range.end; ++n) {
        std::ranges::fill(row, 0.0f);
        for (int64_t d = 0; d < e.depth; ++d) {
          const float factor = scale * q[n * e.depth + d];
          const float* key = keys.data() + d * e.keys;
          for (int64_t m = 0; m < e.keys; ++m) row[static_cast<size_t>(m)] += factor * key[m];
        }
        if (!mask.empty()) {
          const float* added = mask.data() + (b * e.queries + n) * e.keys;
          for (int64_t m = 0; m < e.keys; ++m) row[static_cast<size_t>(m)] += added[m];
        }
        softmax(row);
        float* out = y + n * e.width;
        std::fill_n(out, e.width, 0.0f);
        for (int64_t m = 0; m < e.keys; ++m) {
          const float weight = row[static_cast<size_t>(m)];
          for (int64_t i = 0; i < e.width; ++i) out[i] += weight * v[m * e.width + i];
        }
      }
    });
  }
  return ok_status();
}

Status ex_sdp_attention_reference(const EvalCall& call) {
  return in_f32(call, ex_sdp_attention_compute);
}

Cost ex_sdp_attention_cost(const Node& node) {
  const Extents e = extents_of(node.input(0).shape(), node.input(2).shape());
  const auto scores = static_cast<uint64_t>(e.batch * e.queries * e.keys);
  return {.macs = scores * static_cast<uint64_t>(e.depth + e.width), .ops = 4 * scores};
}

}  // namespace

OpDef ex_sdp_attention() {
  return {
      .name = "exSDPAttention",
      .doc = "y = softmax(scale * q k' + mask) v",
      .inputs = {{"q", floats().rank(2, kMaxRank)},
                 {"k", floats().like(0)},
                 {"v", floats().like(0)},
                 {"mask", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"scale", 1.0f, "factor of the scores, before the mask is added"}},
      .infer = ex_sdp_attention_infer,
      .reference = ex_sdp_attention_reference,
      .cost = ex_sdp_attention_cost,
      .quant = QuantRule::kOwnScale,
  };
}

}  // namespace rk::ops
