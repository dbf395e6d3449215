// SPDX-License-Identifier: Apache-2.0
// One row per layer type that is imported.
#include "frontends/caffe/importer.h"

namespace rk::frontends::caffe {

LayerFunction find_layer(const std::string& type) {
  // clang-format off
  static const std::map<std::string, LayerFunction> rows = {
      {"Convolution", convolution},
      {"ConvolutionDepthwise", convolution},
      {"DepthwiseConvolution", convolution},
      {"Deconvolution", deconvolution},
      {"Pooling", pooling},
      {"InnerProduct", inner_product},
      {"BatchNorm", batch_norm},
      {"Scale", scale},
      {"Bias", bias},
      {"LRN", lrn},
      {"Normalize", normalize},
      {"MVN", mvn},
      {"Interp", interp},
      {"Upsample", upsample},
      {"ROIPooling", roi_pooling},
      {"PriorBox", prior_box},
      {"DetectionOutput", detection_output},

      {"ReLU", relu},
      {"ReLU6", relu6},
      {"PReLU", prelu},
      {"ELU", elu},
      {"Sigmoid", [](LayerImport& layer) { return unary(layer, "Sigmoid"); }},
      {"TanH", [](LayerImport& layer) { return unary(layer, "Tanh"); }},
      {"AbsVal", [](LayerImport& layer) { return unary(layer, "Abs"); }},
      {"BNLL", [](LayerImport& layer) { return unary(layer, "Softplus"); }},
      {"Mish", [](LayerImport& layer) { return unary(layer, "Mish"); }},
      {"HardSwish", [](LayerImport& layer) { return unary(layer, "HardSwish"); }},
      {"Swish", swish},
      {"Power", power},
      {"Exp", exponential},
      {"Log", logarithm},
      {"Threshold", threshold},
      {"Eltwise", eltwise},
      {"Axpy", axpy},
      {"Softmax", softmax},
      {"SoftmaxWithLoss", softmax},
      {"Reduction", reduction},
      {"ArgMax", arg_max},

      {"Dropout", pass},
      {"Split", split},
      {"Silence", silence},
      {"Accuracy", silence},
      {"Concat", concat},
      {"Slice", slice},
      {"Crop", crop},
      {"Permute", permute},
      {"Flatten", flatten},
      {"Reshape", reshape},
      {"Tile", tile},
      {"ShuffleChannel", shuffle_channel},
      {"Reorg", reorg},
  };
  // clang-format on
  const auto row = rows.find(type);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace rk::frontends::caffe
