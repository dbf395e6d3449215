// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/opset_conversions.h"

#include "frontends/onnx/ml_parts.h"

#include <algorithm>
#include <limits>

namespace rk::frontends {
namespace {

constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();
constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::string_view kMl = "ai.onnx.ml";

struct Row {
  std::string_view domain;
  std::string_view op;
  int64_t below;  // applies to opsets lower than this
  Convert convert;
};

constexpr Row kRows[] = {
    // Attributes that became inputs.
    {"", "Clip", 11, move_clip_bounds},
    {"", "DFT", 20, move_dft_axis},
    {"", "Pad", 11, move_pads},
    {"", "ReduceL1", 18, move_axes},
    {"", "ReduceL2", 18, move_axes},
    {"", "ReduceLogSum", 18, move_axes},
    {"", "ReduceLogSumExp", 18, move_axes},
    {"", "ReduceMax", 18, move_axes},
    {"", "ReduceMean", 18, move_axes},
    {"", "ReduceMin", 18, move_axes},
    {"", "ReduceProd", 18, move_axes},
    {"", "ReduceSum", 13, move_axes},
    {"", "ReduceSumSquare", 18, move_axes},
    {"", "Reshape", 5, move_reshape_shape},
    {"", "Slice", 10, move_slice_ranges},
    {"", "Split", 18, move_split_sizes},
    {"", "Squeeze", 13, move_axes},
    {"", "Tile", 6, join_tile_repeats},
    {"", "TopK", 10, move_topk_k},
    {"", "Unsqueeze", 13, move_axes},

    // Broadcasting before opset 7 was asked for, and could be aligned at any axis.
    {"", "Add", 7, align_old_broadcast},
    {"", "And", 7, align_old_broadcast},
    {"", "Div", 7, align_old_broadcast},
    {"", "Equal", 7, align_old_broadcast},
    {"", "Gemm", 7, align_old_broadcast},
    {"", "Greater", 7, align_old_broadcast},
    {"", "Less", 7, align_old_broadcast},
    {"", "Mul", 7, align_old_broadcast},
    {"", "Or", 7, align_old_broadcast},
    {"", "Pow", 7, align_old_broadcast},
    {"", "Sub", 7, align_old_broadcast},
    {"", "Xor", 7, align_old_broadcast},
    {"", "PRelu", 7, align_old_slope},

    // Other changes of meaning or name.
    {"", "Attention", kAlways, split_plain_attention},
    {"", "BatchNormalization", kAlways, settle_batch_norm},
    {"", "Bernoulli", kAlways, refuse_chance},
    {"", "Cast", 6, number_cast_type},
    {"", "CastLike", kAlways, cast_like_to_cast},
    {"", "Concat", 4, say_concat_axis},
    {"", "Dropout", kAlways, drop_dropout},
    {"", "GroupNormalization", 21, spread_group_norm_scale},
    {"", "Hardmax", 13, flatten_old_softmax},
    {"", "LogSoftmax", 13, flatten_old_softmax},
    {"", "Multinomial", kAlways, refuse_chance},
    {"", "Resize", 11, say_resize_coordinates},
    {"", "Resize", kAlways, drop_empty_resize_inputs},
    {"", "Scatter", kAlways, rename_scatter},
    {"", "Softmax", 13, flatten_old_softmax},
    {"", "Swish", kAlways, swish_to_ex_swish},
    {"", "Upsample", kAlways, upsample_to_resize},

    // Integer operators of quantized models.
    {"", "MatMulInteger", kAlways, split_matmul_integer},
    {"", "QLinearConv", kAlways, split_qlinear_conv},
    {"", "QLinearMatMul", kAlways, split_qlinear_matmul},
    {kMicrosoft, "QGemm", kAlways, split_qgemm},
    {kMicrosoft, "QLinearAdd", kAlways, split_qlinear_binary},
    {kMicrosoft, "QLinearAveragePool", kAlways, split_qlinear_unary},
    {kMicrosoft, "QLinearConcat", kAlways, split_qlinear_concat},
    {kMicrosoft, "QLinearConv", kAlways, split_qlinear_conv},
    {kMicrosoft, "QLinearGlobalAveragePool", kAlways, split_qlinear_unary},
    {kMicrosoft, "QLinearLeakyRelu", kAlways, split_qlinear_unary},
    {kMicrosoft, "QLinearMul", kAlways, split_qlinear_binary},
    {kMicrosoft, "QLinearSigmoid", kAlways, split_qlinear_unary},
    {kMicrosoft, "QLinearSoftmax", kAlways, split_qlinear_unary},

    // Fused operators that ONNX Runtime's optimizer writes. It puts some of them into the standard domain.
    {"", "SimplifiedLayerNormalization", kAlways, rename_simplified_layer_norm},
    {kMicrosoft, "BiasGelu", kAlways, split_bias_gelu},
    {kMicrosoft, "DequantizeLinear", kAlways, keep_standard_form},
    {kMicrosoft, "FastGelu", kAlways, split_bias_gelu},
    {kMicrosoft, "FusedConv", kAlways, split_fused_conv},
    {kMicrosoft, "FusedGemm", kAlways, split_fused_gemm},
    {kMicrosoft, "FusedMatMul", kAlways, split_fused_matmul},
    {kMicrosoft, "Gelu", kAlways, split_bias_gelu},
    {kMicrosoft, "LayerNormalization", kAlways, keep_standard_form},
    {kMicrosoft, "QuantizeLinear", kAlways, keep_standard_form},
    {kMicrosoft, "QuickGelu", kAlways, rename_quick_gelu},
    {kMicrosoft, "SimplifiedLayerNormalization", kAlways, rename_simplified_layer_norm},
    {kMicrosoft, "SkipLayerNormalization", kAlways, split_skip_layer_norm},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", kAlways, split_skip_layer_norm},

    // Classical machine learning: ordinary arithmetic and trees.
    {kMl, "ArrayFeatureExtractor", kAlways, feature_extractor_to_gather},
    {kMl, "Binarizer", kAlways, binarizer_to_greater},
    {kMl, "FeatureVectorizer", kAlways, feature_vectorizer_to_concat},
    {kMl, "Imputer", kAlways, imputer_to_where},
    {kMl, "LabelEncoder", kAlways, label_encoder_to_where},
    {kMl, "LinearClassifier", kAlways, linear_classifier_to_gemm},
    {kMl, "LinearRegressor", kAlways, linear_regressor_to_gemm},
    {kMl, "Normalizer", kAlways, normalizer_to_division},
    {kMl, "OneHotEncoder", kAlways, one_hot_encoder_to_equal},
    {kMl, "SVMClassifier", kAlways, svm_classifier_to_arithmetic},
    {kMl, "SVMRegressor", kAlways, svm_regressor_to_arithmetic},
    {kMl, "Scaler", kAlways, scaler_to_arithmetic},
    {kMl, "TreeEnsemble", kAlways, tree_ensemble_to_trees},
    {kMl, "TreeEnsembleClassifier", kAlways, tree_classifier_to_trees},
    {kMl, "TreeEnsembleRegressor", kAlways, tree_regressor_to_trees},
    {kMl, "ZipMap", kAlways, drop_zip_map},
};

// Attributes an operator of ours may lack because only one value of theirs is meant to work, or because they do not
// matter to inference.
struct Neutral {
  std::string_view op;  // empty: any
  std::string_view attr;
  std::optional<Attr> value;  // nothing: any value
};

const std::vector<Neutral>& neutral_attributes() {
  static const std::vector<Neutral> kList = {
      {"", "consumed_inputs", std::nullopt},  // opset 1: which buffers may be overwritten
      {"", "stash_type", std::nullopt},       // precision of intermediate results
      {"", "saturate", std::nullopt},         // concerns 8-bit floats only
      {"", "momentum", std::nullopt},
      {"", "is_test", std::nullopt},
      {"", "output_sequence", std::nullopt},
      {"", "broadcast", std::nullopt},
      {"", "storage_order", Attr(int64_t{0})},
      {"", "noop_with_empty_axes", Attr(int64_t{0})},
      {"", "select_last_index", Attr(int64_t{0})},
      {"", "keepdims", Attr(int64_t{1})},
      {"", "ceil_mode", Attr(int64_t{0})},
      {"", "auto_pad", Attr(std::string("NOTSET"))},
      {"", "block_size", Attr(int64_t{0})},
      {"", "output_dtype", Attr(int64_t{0})},
      {"", "precision", Attr(int64_t{0})},
      {"", "layout", Attr(int64_t{0})},
      {"", "input_forget", Attr(int64_t{0})},
      {"", "allowzero", Attr(int64_t{0})},
      {"", "fmod", Attr(int64_t{0})},
      {"Resize", "antialias", Attr(int64_t{0})},
      {"Resize", "exclude_outside", Attr(int64_t{0})},
      {"Resize", "keep_aspect_ratio_policy", Attr(std::string("stretch"))},
      {"Resize", "extrapolation_value", std::nullopt},  // for tf_crop_and_resize only
      {"Resize", "cubic_coeff_a", std::nullopt},        // for mode cubic only
      {"Gelu", "approximate", Attr(std::string("none"))},
      {"DepthToSpace", "mode", Attr(std::string("DCR"))},
      {"ScatterElements", "reduction", Attr(std::string("none"))},
      {"ScatterND", "reduction", Attr(std::string("none"))},
  };
  return kList;
}

void drop_neutral_attributes(NodeDraft& draft, const OpDef& def) {
  std::erase_if(draft.attrs, [&](const auto& entry) {
    if (def.find_attr(entry.first) != nullptr) return false;
    return std::ranges::any_of(neutral_attributes(), [&](const Neutral& neutral) {
      return (neutral.op.empty() || neutral.op == draft.op) && neutral.attr == entry.first &&
             (!neutral.value || attr_equal(*neutral.value, entry.second));
    });
  });
}

}  // namespace

std::string normalized_domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

bool converts_operator(const std::string& domain, const std::string& op) {
  return std::ranges::any_of(kRows,
                             [&](const Row& row) { return row.domain == domain && row.op == op; });
}

Status convert_to_newest(const std::string& domain, NodeDraft& draft, GraphBuilder& builder) {
  const std::string op = draft.op;
  for (const Row& row : kRows) {
    if (row.domain != domain || row.op != op || draft.opset >= row.below) continue;
    RK_TRY(row.convert(draft, builder));
  }
  if (const OpDef* def = builder.registry().find(draft.op)) drop_neutral_attributes(draft, *def);
  return ok_status();
}

}  // namespace rk::frontends
