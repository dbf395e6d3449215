// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: how often each n-gram of a pool occurs in a row of integers, optionally
// weighted. The elements of an n-gram may lie apart, all at the same distance of up to
// max_skip_count elements between them; single elements have no distance and count once.
#include <algorithm>
#include <map>

#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

constexpr int64_t kMaxIndex = int64_t{1} << 24;

using Ngram = std::vector<int64_t>;

// The pool's n-grams with their output column and weight.
struct Entry {
  int64_t column = 0;
  float weight = 1;
};

struct Pool {
  std::map<Ngram, Entry> entries;
  int64_t columns = 0;
  size_t longest = 0;
};

Result<Pool> read_pool(const Node& node) {
  const std::vector<int64_t>& items = node.ints("pool_int64s");
  const std::vector<int64_t>& starts = node.ints("ngram_counts");
  const std::vector<int64_t>& columns = node.ints("ngram_indexes");
  const std::vector<float>& weights = node.floats("weights");
  if (!weights.empty() && weights.size() != columns.size()) {
    return refuse("attribute 'weights' has ", weights.size(), " values, expected ", columns.size(),
                  " as in 'ngram_indexes'");
  }
  Pool pool;
  size_t number = 0;
  for (size_t n = 0; n < starts.size(); ++n) {
    const auto length = static_cast<int64_t>(n + 1);
    const auto total = static_cast<int64_t>(items.size());
    const int64_t end = n + 1 < starts.size() ? starts[n + 1] : total;
    if (starts[n] < 0 || end < starts[n] || end > total || (end - starts[n]) % length != 0) {
      return refuse("attribute 'ngram_counts' is ", to_string(starts), ": from ", starts[n], " to ",
                    end, " are no whole ", length, "-grams of the ", total,
                    " elements of 'pool_int64s'");
    }
    for (int64_t at = starts[n]; at < end; at += length, ++number) {
      if (number >= columns.size() || columns[number] < 0 || columns[number] > kMaxIndex) {
        return refuse("attribute 'ngram_indexes' is ", to_string(columns),
                      ", expected one column from 0 to ", kMaxIndex, " per n-gram of the pool");
      }
      const Entry entry{columns[number], weights.empty() ? 1.0f : weights[number]};
      pool.entries.emplace(Ngram(items.begin() + at, items.begin() + at + length), entry);
      pool.columns = std::max(pool.columns, entry.column + 1);
      pool.longest = n + 1;
    }
  }
  return pool;
}

Status tf_idf_vectorizer_infer(InferCall& call) {
  RK_TRY(require_one_of(call.node, "mode", {"TF", "IDF", "TFIDF"}));
  RK_TRY(require_range(call.node, "min_gram_length", 1, kMaxIndex));
  RK_TRY(require_range(call.node, "max_gram_length", call.node.i64("min_gram_length"), kMaxIndex));
  RK_TRY(require_range(call.node, "max_skip_count", 0, kMaxIndex));
  RK_ASSIGN(const Pool pool, read_pool(call.node));
  const Shape& in = call.input(0).shape;
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end() - 1);
  dims.push_back(pool.columns);
  return set_output(call, 0, DType::kF32, dims);
}

// Calls found(n-gram) for those of `row` with elements `distance` apart.
template <typename Found>
void for_each_ngram(std::span<const int64_t> row, size_t length, size_t distance, Found found) {
  Ngram ngram(length);
  for (size_t first = 0; first + (length - 1) * distance < row.size(); ++first) {
    for (size_t i = 0; i < length; ++i) ngram[i] = row[first + i * distance];
    found(ngram);
  }
}

Status tf_idf_vectorizer_reference(const EvalCall& call) {
  RK_ASSIGN(const Pool pool, read_pool(call.node));
  const std::string& mode = call.node.text("mode");
  const std::vector<int64_t> x = call.input(0).to_i64();
  const Shape& in = call.input(0).shape();
  const auto width = static_cast<size_t>(in[in.rank() - 1]);
  const auto shortest = static_cast<size_t>(call.node.i64("min_gram_length"));
  // Longer ones than the row, or than the pool has, are not found.
  const size_t longest =
      std::min({static_cast<size_t>(call.node.i64("max_gram_length")), width, pool.longest});
  const auto skips = std::min(static_cast<size_t>(call.node.i64("max_skip_count")), width);
  float* y = call.output(0).mutable_data<float>();
  std::fill_n(y, call.output(0).elements(), 0.0f);
  for (size_t row = 0; row * width < x.size(); ++row, y += pool.columns) {
    const std::span<const int64_t> items(x.data() + row * width, width);
    for (size_t length = shortest; length <= longest; ++length) {
      for (size_t distance = 1; distance <= (length == 1 ? 1 : skips + 1); ++distance) {
        for_each_ngram(items, length, distance, [&](const Ngram& ngram) {
          const auto it = pool.entries.find(ngram);
          if (it == pool.entries.end()) return;
          const Entry& entry = it->second;
          float& count = y[entry.column];
          if (mode == "TF") count += 1;
          if (mode == "IDF") count = entry.weight;
          if (mode == "TFIDF") count += entry.weight;
        });
      }
    }
  }
  return ok_status();
}

Cost tf_idf_vectorizer_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements()) *
                 static_cast<uint64_t>(1 + node.i64("max_skip_count")) *
                 node.ints("ngram_counts").size()};
}

}  // namespace

OpDef tf_idf_vectorizer() {
  return {
      .name = "TfIdfVectorizer",
      .doc = "y = how often each n-gram of a pool occurs in the rows of x",
      .inputs = {{"x", indices().rank(1, 2)}},
      .outputs = {{"y"}},
      .attrs = {{"max_gram_length", int64_t{1}, "longest n-grams counted", AttrDef::kRequired},
                {"max_skip_count", int64_t{0}, "most elements between those of an n-gram",
                 AttrDef::kRequired},
                {"min_gram_length", int64_t{1}, "shortest n-grams counted", AttrDef::kRequired},
                {"mode", "TF", "TF: counts, IDF: weights of those found, TFIDF: both multiplied",
                 AttrDef::kRequired},
                {"ngram_counts", std::vector<int64_t>{},
                 "where in the pool the 1-grams, 2-grams, ... start", AttrDef::kRequired},
                {"ngram_indexes", std::vector<int64_t>{}, "output column of each n-gram",
                 AttrDef::kRequired},
                {"pool_int64s", std::vector<int64_t>{}, "the n-grams, shortest first",
                 AttrDef::kRequired},
                {"weights", std::vector<float>{}, "one per n-gram; empty: 1"}},
      .infer = tf_idf_vectorizer_infer,
      .reference = tf_idf_vectorizer_reference,
      .cost = tf_idf_vectorizer_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
