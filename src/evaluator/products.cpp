// SPDX-License-Identifier: Apache-2.0
#include "evaluator/products.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/graph.h"
#include "kernels/gemm/gemm.h"
#include "kernels/norm/norm.h"
#include "ops/math/einsum.h"
#include "ops/shared/shape_util.h"

namespace rk::evaluator {
namespace {

// Elements from one index to the next in the left and the right matrix and in the result; 0 where one does not have it.
struct Loop {
  int64_t extent = 1;
  int64_t a = 0, b = 0, c = 0;
};

// Products of one form, which lie at regular steps. Loops count from the outermost.
struct Products {
  kernels::GemmF32Args form;
  std::vector<Loop> loops;

  int64_t count() const {
    int64_t out = 1;
    for (const Loop& loop : loops) out *= loop.extent;
    return out;
  }
  kernels::GemmF32Args at(int64_t index) const {
    kernels::GemmF32Args out = form;
    for (size_t i = loops.size(); i-- > 0;) {
      const int64_t step = index % loops[i].extent;
      index /= loops[i].extent;
      out.a += step * loops[i].a;
      out.b += step * loops[i].b;
      out.c += step * loops[i].c;
    }
    return out;
  }
};

// A thread takes about this many products of numbers at once.
constexpr int64_t kWorthAThread = 1 << 18;

void run(const EvalCall& call, const Products& products) {
  const int64_t tiles = kernels::gemm_f32_units(products.form);
  const int64_t work = products.form.m * products.form.n * (products.form.k + 1) / tiles;
  const int64_t grain = std::max<int64_t>(1, kWorthAThread / std::max<int64_t>(1, work));
  call.parallel_for(products.count() * tiles, grain, [&](IndexRange units) {
    for (int64_t unit = units.begin; unit < units.end;) {
      const int64_t index = unit / tiles, first = unit % tiles;
      const int64_t end = std::min(tiles, first + units.end - unit);
      kernels::gemm_f32(products.at(index), {first, end});
      unit += end - first;
    }
  });
}

// Joins neighbors that lie like one longer loop. Outermost first.
void join(std::vector<Loop>& loops) {
  std::vector<Loop> out;
  for (const Loop& loop : loops) {
    if (loop.extent == 1) continue;
    if (!out.empty()) {
      Loop& outer = out.back();
      const auto fits = [&](int64_t outer_step, int64_t step) {
        return outer_step == step * loop.extent;
      };
      if (fits(outer.a, loop.a) && fits(outer.b, loop.b) && fits(outer.c, loop.c)) {
        outer = {outer.extent * loop.extent, loop.a, loop.b, loop.c};
        continue;
      }
    }
    out.push_back(loop);
  }
  loops = std::move(out);
}

// Takes the innermost loop out of the list; without one, a loop of one round.
Loop take_inner(std::vector<Loop>& loops) {
  if (loops.empty()) return {};
  const Loop out = loops.back();
  loops.pop_back();
  return out;
}

// The indices of an equation by what they do.
struct Indices {
  std::vector<Loop> both;     // of both operands and the result: many products
  std::vector<Loop> rows;     // of the left operand and the result
  std::vector<Loop> columns;  // of the right operand and the result
  std::vector<Loop> depth;    // of the operands only: summed over
};

// Nothing where an index is summed over one operand alone.
std::optional<Indices> sort_indices(const Node& node) {
  const ops::EinsumPlan plan = ops::einsum_plan(node).value();
  const ops::Strides result = ops::row_major_strides(node.output().shape());
  Indices out;
  const auto loop_of = [&](ops::EinsumLabel label, int64_t c) {
    return Loop{plan.extents.at(label), ops::einsum_stride(plan, 0, node.input(0).shape(), label),
                ops::einsum_stride(plan, 1, node.input(1).shape(), label), c};
  };
  for (size_t i = 0; i < plan.output.size(); ++i) {
    const Loop loop = loop_of(plan.output[i], result[i]);
    (loop.a == 0 ? out.columns : loop.b == 0 ? out.rows : out.both).push_back(loop);
  }
  // In the order of the left operand, so that indices that lie like one are joined.
  for (const ops::EinsumLabel label : plan.operands[0]) {
    if (std::ranges::find(plan.output, label) == plan.output.end())
      out.depth.push_back(loop_of(label, 0));
  }
  for (const ops::EinsumLabel label : plan.operands[1]) {
    const auto known = [&](const std::vector<ops::EinsumLabel>& labels) {
      return std::ranges::find(labels, label) != labels.end();
    };
    if (!known(plan.output) && !known(plan.operands[0])) out.depth.push_back(loop_of(label, 0));
  }
  for (std::vector<Loop>* list : {&out.both, &out.rows, &out.columns, &out.depth}) join(*list);
  for (const Loop& loop : out.depth) {
    if (loop.a == 0 || loop.b == 0) return std::nullopt;
  }
  return out;
}

struct EinsumProducts {
  Products products;
  bool swapped = false;  // the first operand is on the right
};

std::optional<EinsumProducts> einsum_products(const Node& node) {
  auto indices = sort_indices(node);
  if (!indices || indices->depth.size() > 1) return std::nullopt;
  EinsumProducts out;
  const auto is_straight = [](const std::vector<Loop>& loops) {
    return loops.empty() || loops.back().c == 1;
  };
  // Rows of the result lie straight in memory. Where the innermost index belongs to the left operand, the transposed
  // product is made.
  out.swapped = !is_straight(indices->columns);
  if (out.swapped) {
    std::swap(indices->rows, indices->columns);
    for (std::vector<Loop>* list :
         {&indices->both, &indices->rows, &indices->columns, &indices->depth}) {
      for (Loop& loop : *list) std::swap(loop.a, loop.b);
    }
  }
  if (!is_straight(indices->columns)) return std::nullopt;
  const Loop columns = take_inner(indices->columns);
  const Loop rows = take_inner(indices->rows);
  const Loop depth = take_inner(indices->depth);
  kernels::GemmF32Args& form = out.products.form;
  form.m = rows.extent;
  form.n = columns.extent;
  form.k = depth.extent;
  form.a_row_stride = rows.a;
  form.a_col_stride = depth.a;
  form.b_row_stride = depth.b;
  form.b_col_stride = columns.b;
  form.c_row_stride = rows.c;
  for (const std::vector<Loop>& list : {indices->both, indices->rows, indices->columns})
    out.products.loops.insert(out.products.loops.end(), list.begin(), list.end());
  return out;
}

// Matrices in the tensor.
int64_t leading_extent(const Shape& shape) {
  return ops::extent_product(shape, 0, shape.rank() - 2);
}

// Elements to the mask's next batch, query and key; the batches are walked as loops.
struct Mask {
  const float* data = nullptr;
  std::vector<Loop> batches;  // in `a`
  int64_t query = 0, key = 0;

  const float* of(int64_t batch) const {
    const float* out = data;
    for (size_t i = batches.size(); i-- > 0;) {
      out += batch % batches[i].extent * batches[i].a;
      batch /= batches[i].extent;
    }
    return out;
  }
};

Mask mask_of(const EvalCall& call, const Shape& scores) {
  Mask out;
  const ops::Strides strides = ops::broadcast_strides(call.input(3).shape(), scores);
  const auto rank = static_cast<size_t>(scores.rank());
  out.data = call.input(3).data<float>();
  out.query = strides[rank - 2];
  out.key = strides[rank - 1];
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    out.batches.push_back({scores[static_cast<int>(axis)], strides[axis], 0, 0});
  return out;
}

// What each row is multiplied by.
void scale_rows(float* rows, int64_t count, int64_t width, const std::vector<float>& factors) {
  for (int64_t i = 0; i < count; ++i) {
    const float factor = factors[static_cast<size_t>(i)];
    for (int64_t c = 0; c < width; ++c) rows[i * width + c] *= factor;
  }
}

void multiply(const kernels::GemmF32Args& args) {
  kernels::gemm_f32(args, {0, kernels::gemm_f32_units(args)});
}

}  // namespace

bool takes_matmul(const EvalCall& call) {
  return call.input(0).shape().rank() >= 2 && call.input(1).shape().rank() >= 2;
}

Status matmul(const EvalCall& call) {
  const Shape &a = call.input(0).shape(), &b = call.input(1).shape(), &c = call.output(0).shape();
  Products products;
  kernels::GemmF32Args& form = products.form;
  form.m = a[a.rank() - 2];
  form.k = a[a.rank() - 1];
  form.n = b[b.rank() - 1];
  form.a = call.input(0).data<float>();
  form.b = call.input(1).data<float>();
  form.c = call.output(0).mutable_data<float>();
  form.a_row_stride = form.k;
  form.b_row_stride = form.n;
  form.c_row_stride = form.n;
  // One matrix on the right for all: one long product.
  if (leading_extent(b) == 1) {
    form.m = c.elements() / form.n;
    run(call, products);
    return ok_status();
  }
  // The leading axes broadcast.
  const auto steps = [&](const Shape& shape, int64_t matrix) {
    std::vector<int64_t> out(static_cast<size_t>(c.rank() - 2), 0);
    for (int axis = shape.rank() - 3, to = c.rank() - 3; axis >= 0; --axis, --to) {
      out[static_cast<size_t>(to)] = shape[axis] == 1 ? 0 : matrix;
      matrix *= shape[axis];
    }
    return out;
  };
  const std::vector<int64_t> a_steps = steps(a, form.m * form.k),
                             b_steps = steps(b, form.k * form.n),
                             c_steps = steps(c, form.m * form.n);
  for (size_t i = 0; i < a_steps.size(); ++i)
    products.loops.push_back({c[static_cast<int>(i)], a_steps[i], b_steps[i], c_steps[i]});
  join(products.loops);
  run(call, products);
  return ok_status();
}

bool takes_einsum(const EvalCall& call) {
  return call.inputs.size() == 2 && einsum_products(call.node).has_value();
}

Status einsum(const EvalCall& call) {
  EinsumProducts found = std::move(*einsum_products(call.node));
  found.products.form.a = call.input(found.swapped ? 1 : 0).data<float>();
  found.products.form.b = call.input(found.swapped ? 0 : 1).data<float>();
  found.products.form.c = call.output(0).mutable_data<float>();
  run(call, found.products);
  return ok_status();
}

bool takes_attention(const EvalCall& call) {
  const Shape& keys = call.input(1).shape();
  return keys.elements() > 0;
}

Status attention(const EvalCall& call) {
  const Shape &q = call.input(0).shape(), &v = call.input(2).shape();
  const int rank = q.rank();
  const int64_t queries = q[rank - 2], depth = q[rank - 1];
  const int64_t keys = v[rank - 2], width = v[rank - 1];
  const float scale = call.node.f32("scale");
  Shape scores = q;
  scores[rank - 1] = keys;
  Mask mask;
  if (call.has_input(3)) mask = mask_of(call, scores);
  // A block of queries meets the keys part by part, so that their scores stay in the cache: what earlier parts made is
  // scaled to the largest score so far, and all is divided by the sum of exponentials at the end.
  constexpr int64_t kMostQueries = 126, kMostKeys = 384;
  const int64_t blocks = ceil_div(queries, kMostQueries), each = ceil_div(queries, blocks);
  const int64_t part = std::min(keys, kMostKeys);
  const int64_t work = each * keys * (depth + width + 16);
  const int64_t grain = std::max<int64_t>(1, kWorthAThread / std::max<int64_t>(1, work));
  call.parallel_for(leading_extent(q) * blocks, grain, [&](IndexRange units) {
    const auto floats = [&](int64_t columns) {
      return std::vector<float>(static_cast<size_t>(each * columns));
    };
    std::vector<float> scaled = floats(depth), scores = floats(part), largest = floats(1),
                       sum = floats(1), factor = floats(1);
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const int64_t batch = unit / blocks, first = unit % blocks * each;
      const int64_t count = std::min(each, queries - first);
      const float* const from = call.input(0).data<float>() + (batch * queries + first) * depth;
      for (int64_t i = 0; i < count * depth; ++i) scaled[static_cast<size_t>(i)] = scale * from[i];
      std::ranges::fill(largest, -std::numeric_limits<float>::infinity());
      std::ranges::fill(sum, 0.0f);
      kernels::GemmF32Args score;
      score.m = count;
      score.k = depth;
      score.a = scaled.data();
      score.a_row_stride = depth;
      score.b_row_stride = 1;
      score.b_col_stride = depth;
      score.c = scores.data();
      score.bias_row_stride = mask.query;
      score.bias_col_stride = mask.key;
      kernels::GemmF32Args mix;
      mix.m = count;
      mix.n = width;
      mix.a = scores.data();
      mix.b_row_stride = width;
      mix.c = call.output(0).mutable_data<float>() + (batch * queries + first) * width;
      mix.c_row_stride = width;
      mix.bias_row_stride = width;
      for (int64_t key = 0; key < keys; key += part) {
        score.n = score.c_row_stride = mix.k = mix.a_row_stride = std::min(part, keys - key);
        score.b = call.input(1).data<float>() + (batch * keys + key) * depth;
        if (mask.data != nullptr) score.bias = mask.of(batch) + first * mask.query + key * mask.key;
        multiply(score);
        kernels::softmax_part_f32(
            {scores.data(), score.n, largest.data(), sum.data(), factor.data()}, {0, count});
        if (key > 0) {
          scale_rows(mix.c, count, width, factor);
          mix.bias = mix.c;
        }
        mix.b = call.input(2).data<float>() + (batch * keys + key) * width;
        multiply(mix);
      }
      // A row that the mask hides whole gives zeros: no key was asked for.
      for (float& s : sum) s = s != 0 ? 1 / s : 0;
      scale_rows(mix.c, count, width, sum);
    }
  });
  return ok_status();
}

}  // namespace rk::evaluator
