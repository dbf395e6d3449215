// SPDX-License-Identifier: Apache-2.0
// Cases of TfIdfVectorizer.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> tf_idf_vectorizer_cases() {
  static constexpr OpCase kCases[] = {
      // The pool: (5), (7), (5 7).
      {"single elements and pairs, at a distance of up to two", R"(
          input %x: i64[5] = [5, 7, 5, 1, 7]
          %y = TfIdfVectorizer(%x) {min_gram_length=1, max_gram_length=2, max_skip_count=1,
              mode="TF", ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], pool_int64s=[5, 7, 5, 7]}
          expect %y: f32[3] = [2, 2, 2])"},
      {"rows apart; weights instead of counts, and times counts", R"(
          input %x: i32[2,2] = [5, 5, 7, 1]
          %a = TfIdfVectorizer(%x) {min_gram_length=1, max_gram_length=1, max_skip_count=0,
              mode="IDF", ngram_counts=[0], ngram_indexes=[2, 0], pool_int64s=[5, 7],
              weights=[0.5, 3.0]}
          %b = TfIdfVectorizer(%x) {min_gram_length=1, max_gram_length=1, max_skip_count=0,
              mode="TFIDF", ngram_counts=[0], ngram_indexes=[2, 0], pool_int64s=[5, 7],
              weights=[0.5, 3.0]}
          expect %a: f32[2,3] = [0, 0, 0.5, 3, 0, 0]
          expect %b: f32[2,3] = [0, 0, 1, 3, 0, 0])"},
      {"pairs longer than the row are not found", R"(
          input %x: i64[1] = [5]
          %y = TfIdfVectorizer(%x) {min_gram_length=2, max_gram_length=2, max_skip_count=9,
              mode="TF", ngram_counts=[0, 0], ngram_indexes=[0], pool_int64s=[5, 5]}
          expect %y: f32[1] = [0])"},
      {"a pool that ends inside a pair is refused", R"(
          input %x: i64[1] = [5]
          %y = TfIdfVectorizer(%x) {min_gram_length=1, max_gram_length=2, max_skip_count=0,
              mode="TF", ngram_counts=[0, 0], ngram_indexes=[0], pool_int64s=[5]}
          error are no whole 2-grams)"},
      {"an n-gram without a column is refused", R"(
          input %x: i64[1] = [5]
          %y = TfIdfVectorizer(%x) {min_gram_length=1, max_gram_length=1, max_skip_count=0,
              mode="TF", ngram_counts=[0], ngram_indexes=[0], pool_int64s=[5, 6]}
          error attribute 'ngram_indexes' is [0])"},
      {"floats are refused", R"(
          input %x: f32[1] = [5]
          %y = TfIdfVectorizer(%x) {min_gram_length=1, max_gram_length=1, max_skip_count=0,
              mode="TF", ngram_counts=[0], ngram_indexes=[0], pool_int64s=[5]}
          error input 0 ('x') is f32[1], expected dtype i32 or i64)"},
  };
  return kCases;
}

}  // namespace rk::ops
