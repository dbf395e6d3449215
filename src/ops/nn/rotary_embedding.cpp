// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of elements of each head are turned by an angle that depends on the
// position. A pair is (i, i + half), or (2i, 2i + 1) when interleaved; elements behind
// rotary_embedding_dim stay. With position_ids the caches are [positions, half], without
// [batch, length, half].
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

struct Dims {
  bool packed = false;  // heads inside the last axis, [B,S,H*D], instead of [B,H,S,D]
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t length = 0;
  int64_t size = 0;  // of a head
  int64_t half = 0;  // number of pairs
};

Result<Dims> rotary_embedding_resolve(const Node& node) {
  const Shape& x = node.input(0).shape();
  Dims dims{.packed = x.rank() == 3, .batch = x[0]};
  if (dims.packed) {
    dims.heads = node.i64("num_heads");
    if (dims.heads < 1 || x[2] % dims.heads != 0) {
      return refuse("attribute 'num_heads' is ", dims.heads, ", expected a divisor of ", x[2]);
    }
    dims.length = x[1];
    dims.size = x[2] / dims.heads;
  } else {
    dims.heads = x[1];
    dims.length = x[2];
    dims.size = x[3];
  }
  int64_t turned = node.i64("rotary_embedding_dim");
  if (turned == 0) turned = dims.size;
  if (turned < 0 || turned > dims.size || turned % 2 != 0) {
    return refuse("attribute 'rotary_embedding_dim' gives ", turned,
                  " turned elements, expected an even number up to the head size ", dims.size);
  }
  dims.half = turned / 2;
  return dims;
}

Status rotary_embedding_infer(InferCall& call) {
  RK_ASSIGN(const Dims dims, rotary_embedding_resolve(call.node));
  Shape cache{dims.batch, dims.length, dims.half};
  if (call.has_input(3)) {
    RK_TRY(require_index(call, 3));
    RK_TRY(require_shape(call, 3, Shape{dims.batch, dims.length}));
    RK_TRY(require_rank(call, 1, 2, 2));
    cache = Shape{call.input(1).shape[0], dims.half};
  }
  RK_TRY(require_shape(call, 1, cache));
  RK_TRY(require_shape(call, 2, cache));
  return infer_same_as_input(call);
}

// Row of the caches for a place of the sequence.
Result<int64_t> cache_row(const EvalCall& call, int64_t place) {
  if (!call.has_input(3)) return place;
  const int64_t position = call.input(3).at_i64(place);
  const int64_t rows = call.input(1).shape()[0];
  if (position < 0 || position >= rows) {
    return invalid_argument(
        str("input 3 ('position_ids') holds ", position, ", expected 0 to ", rows - 1));
  }
  return position;
}

Status rotary_embedding_compute(const EvalCall& call) {
  RK_ASSIGN(const Dims dims, rotary_embedding_resolve(call.node));
  if (call.output(0).elements() == 0) return ok_status();
  const bool interleaved = call.node.i64("interleaved") != 0;
  const int64_t pair_step = interleaved ? 2 : 1;
  const int64_t partner = interleaved ? 1 : dims.half;
  for (int64_t place = 0; place < dims.batch * dims.length; ++place) {
    RK_ASSIGN(const int64_t row, cache_row(call, place));
    const float* cosine = call.input(1).data<float>() + row * dims.half;
    const float* sine = call.input(2).data<float>() + row * dims.half;
    const int64_t b = place / dims.length;
    const int64_t s = place % dims.length;
    for (int64_t h = 0; h < dims.heads; ++h) {
      const int64_t head =
          dims.packed ? place * dims.heads + h : (b * dims.heads + h) * dims.length + s;
      const float* x = call.input(0).data<float>() + head * dims.size;
      float* y = call.output(0).mutable_data<float>() + head * dims.size;
      for (int64_t i = 0; i < dims.half; ++i) {
        const int64_t a = i * pair_step;
        y[a] = cosine[i] * x[a] - sine[i] * x[a + partner];
        y[a + partner] = sine[i] * x[a] + cosine[i] * x[a + partner];
      }
      for (int64_t i = 2 * dims.half; i < dims.size; ++i) y[i] = x[i];
    }
  }
  return ok_status();
}

Status rotary_embedding_reference(const EvalCall& call) {
  return in_f32(call, rotary_embedding_compute);
}

Cost rotary_embedding_cost(const Node& node) {
  return {.ops = 3 * static_cast<uint64_t>(node.output().shape().elements())};
}

}  // namespace

OpDef rotary_embedding() {
  return {
      .name = "RotaryEmbedding",
      .doc = "y = pairs of x's elements turned by an angle per position",
      .inputs = {{"x", floats().rank(3, 4)},
                 {"cos_cache", floats().like(0).rank(2, 3)},
                 {"sin_cache", floats().like(0).rank(2, 3)},
                 {"position_ids", indices(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"interleaved", int64_t{0}, "1: pairs are neighbors; 0: a half apart"},
                {"num_heads", int64_t{0}, "heads of a 3-D input"},
                {"rotary_embedding_dim", int64_t{0}, "elements that are turned; 0: all"}},
      .infer = rotary_embedding_infer,
      .reference = rotary_embedding_reference,
      .cost = rotary_embedding_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
