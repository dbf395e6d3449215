// SPDX-License-Identifier: Apache-2.0
// What conversions of ai.onnx.ml share: attributes with defaults, labels of classes, scores after their transformation.
#pragma once

#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends::ml {

std::string label(const NodeDraft& draft);

template <typename T>
Result<T> take_or(NodeDraft& draft, std::string_view attr, T fallback) {
  RK_ASSIGN(std::optional<T> found, draft.take<T>(attr));
  return found ? std::move(*found) : std::move(fallback);
}
// Numbers of a list attribute, or of the tensor "<attr>_as_tensor", or of a tensor under the name itself.
Result<std::vector<float>> take_numbers(NodeDraft& draft, const std::string& attr);

// Input 0 in float32.
Result<Value*> real_input(NodeDraft& draft, GraphBuilder& builder);
// The same as a matrix: a vector is one row.
Result<Value*> matrix_input(NodeDraft& draft, GraphBuilder& builder);
Result<Value*> emit(NodeDraft& draft, GraphBuilder& builder, std::string_view op,
                    std::string_view suffix, std::vector<Value*> inputs, AttrMap attrs = {});
Value* vector(NodeDraft& draft, GraphBuilder& builder, std::string_view suffix,
              const std::vector<float>& values);

// Names of classes: numbers as they are, texts as their places.
struct Labels {
  int64_t count = 0;
  std::vector<int64_t> numbers;
};
Result<Labels> take_labels(NodeDraft& draft);

// The draft becomes the scores after `post_transform`.
Status give_transformed(NodeDraft& draft, GraphBuilder& builder, Value* scores);
// The draft becomes the label of the largest of `votes`; its second result the transformed scores.
Status give_classes(NodeDraft& draft, GraphBuilder& builder, Value* votes, Value* scores,
                    const Labels& labels);
// One score for two classes: the second wins above 0, or above 0.5 where scores are `shares` of 1.
Status give_two_classes(NodeDraft& draft, GraphBuilder& builder, Value* score, const Labels& labels,
                        bool shares);

}  // namespace rk::frontends::ml

namespace rk::frontends {

// convert_ml_linear.cpp
Status scaler_to_arithmetic(NodeDraft& draft, GraphBuilder& builder);
Status normalizer_to_division(NodeDraft& draft, GraphBuilder& builder);
Status linear_regressor_to_gemm(NodeDraft& draft, GraphBuilder& builder);
Status linear_classifier_to_gemm(NodeDraft& draft, GraphBuilder& builder);
Status svm_regressor_to_arithmetic(NodeDraft& draft, GraphBuilder& builder);
Status svm_classifier_to_arithmetic(NodeDraft& draft, GraphBuilder& builder);

// convert_ml_trees.cpp
Status tree_regressor_to_trees(NodeDraft& draft, GraphBuilder& builder);
Status tree_classifier_to_trees(NodeDraft& draft, GraphBuilder& builder);
Status tree_ensemble_to_trees(NodeDraft& draft, GraphBuilder& builder);
Status drop_zip_map(NodeDraft& draft, GraphBuilder& builder);
Status label_encoder_to_where(NodeDraft& draft, GraphBuilder& builder);
Status imputer_to_where(NodeDraft& draft, GraphBuilder& builder);
Status one_hot_encoder_to_equal(NodeDraft& draft, GraphBuilder& builder);
Status feature_vectorizer_to_concat(NodeDraft& draft, GraphBuilder& builder);

}  // namespace rk::frontends
