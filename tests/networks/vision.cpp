// SPDX-License-Identifier: Apache-2.0
// Classifiers and a segmenter: MobileNetV2 and ResNet50 with their BatchNormalization nodes still
// in place, a U-Net that goes up once by ConvTranspose and once by Resize, and a small network of
// the sub-graphs that mobile networks add: HardSwish, squeeze and excitation, channel shuffle,
// group normalization, gated units, RMS normalization.
#include "tests/networks/network.h"

namespace rk::networks {
namespace {

std::string conv_norm(NetworkWriter& net, const std::string& x, ConvShape shape) {
  shape.bias = false;
  return net.batch_norm(net.conv(x, shape), shape.out);
}

std::string relu6(NetworkWriter& net, const std::string& x) {
  return net.op("Clip", {x, net.scalar(0), net.scalar(6)});
}

std::string inverted_residual(NetworkWriter& net, const std::string& x, int64_t in, int64_t out,
                              int64_t stride, int64_t expand) {
  const int64_t hidden = in * expand;
  std::string y = x;
  if (expand != 1) y = relu6(net, conv_norm(net, y, {.in = in, .out = hidden, .kernel = 1}));
  y = relu6(net,
            conv_norm(net, y, {.in = hidden, .out = hidden, .stride = stride, .group = hidden}));
  y = conv_norm(net, y, {.in = hidden, .out = out, .kernel = 1, .gain = 1});
  return stride == 1 && in == out ? net.op("Add", {x, y}) : y;
}

std::string classify(NetworkWriter& net, const std::string& x, int64_t channels, int64_t classes) {
  const std::string flat =
      net.op("Flatten", {net.op("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  return net.op("Gemm", {flat, net.normal({classes, channels}, 0.05), net.normal({classes}, 0.1)},
                {{"transB", int64_t{1}}});
}

std::string bottleneck(NetworkWriter& net, const std::string& x, int64_t in, int64_t width,
                       int64_t stride) {
  const int64_t out = width * 4;
  std::string y = net.op("Relu", {conv_norm(net, x, {.in = in, .out = width, .kernel = 1})});
  y = net.op("Relu", {conv_norm(net, y, {.in = width, .out = width, .stride = stride})});
  // Branches add up over 16 blocks; a small gain here keeps the sum from growing.
  y = conv_norm(net, y, {.in = width, .out = out, .kernel = 1, .gain = 0.5});
  const bool projects = stride != 1 || in != out;
  const std::string shortcut =
      projects ? conv_norm(net, x, {.in = in, .out = out, .kernel = 1, .stride = stride, .gain = 1})
               : x;
  return net.op("Relu", {net.op("Add", {y, shortcut})});
}

std::string max_pool(NetworkWriter& net, const std::string& x, int64_t kernel, int64_t stride,
                     int64_t pad) {
  return net.op("MaxPool", {x},
                {{"kernel_shape", Dims{kernel, kernel}},
                 {"strides", Dims{stride, stride}},
                 {"pads", Dims{pad, pad, pad, pad}}});
}

std::string double_conv(NetworkWriter& net, const std::string& x, int64_t in, int64_t out) {
  std::string y = net.op("Relu", {conv_norm(net, x, {.in = in, .out = out})});
  return net.op("Relu", {conv_norm(net, y, {.in = out, .out = out})});
}

// x * clip(x + 3, 0, 6) / 6, as PyTorch exporters before opset 14 write it.
std::string hard_swish_in_parts(NetworkWriter& net, const std::string& x) {
  const std::string gate = relu6(net, net.op("Add", {x, net.scalar(3)}));
  return net.op("Div", {net.op("Mul", {x, gate}), net.scalar(6)});
}

std::string squeeze_excite(NetworkWriter& net, const std::string& x, int64_t channels) {
  std::string y = net.op("ReduceMean", {x}, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{1}}});
  y = net.op("Relu", {net.conv(y, {.in = channels, .out = channels / 4, .kernel = 1})});
  y = net.conv(y, {.in = channels / 4, .out = channels, .kernel = 1});
  return net.op("Mul", {x, net.op("HardSigmoid", {y}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})});
}

// As PyTorch exports GroupNorm.
std::string group_norm(NetworkWriter& net, const std::string& x, int64_t channels, int64_t groups,
                       int64_t extent) {
  const std::vector<float> ones(static_cast<size_t>(groups), 1), zeros(static_cast<size_t>(groups));
  std::string y = net.reshape(x, {1, groups, -1});
  y = net.op("InstanceNormalization",
             {y, net.constant({groups}, ones), net.constant({groups}, zeros)});
  y = net.reshape(y, {1, channels, extent, extent});
  y = net.op("Mul", {y, net.normal({channels, 1, 1}, 0.2, 1)});
  return net.op("Add", {y, net.normal({channels, 1, 1}, 0.2)});
}

std::string rms_norm(NetworkWriter& net, const std::string& x, int64_t width) {
  const std::string squares = net.op("Pow", {x, net.scalar(2)});
  const std::string mean = net.op("ReduceMean", {squares}, {{"axes", Dims{-1}}});
  const std::string root = net.op("Sqrt", {net.op("Add", {mean, net.scalar(1e-6f)})});
  const std::string unit = net.op("Mul", {x, net.op("Reciprocal", {root})});
  return net.op("Mul", {net.normal({width}, 0.1, 1), unit});
}

}  // namespace

void mobilenet_v2(NetworkWriter& net) {
  struct Stage {
    int64_t expand, channels, blocks, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  net.input("images", {1, 3, 224, 224});
  std::string x = relu6(net, conv_norm(net, "images", {.in = 3, .out = 32, .stride = 2}));
  int64_t channels = 32;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      x = inverted_residual(net, x, channels, stage.channels, i == 0 ? stage.stride : 1,
                            stage.expand);
      channels = stage.channels;
    }
  }
  x = relu6(net, conv_norm(net, x, {.in = 320, .out = 1280, .kernel = 1}));
  net.output(classify(net, x, 1280, 1000));
}

void resnet50(NetworkWriter& net) {
  net.input("images", {1, 3, 224, 224});
  std::string x =
      net.op("Relu", {conv_norm(net, "images", {.in = 3, .out = 64, .kernel = 7, .stride = 2})});
  x = max_pool(net, x, 3, 2, 1);
  int64_t channels = 64;
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int64_t i = 0; i < blocks[stage]; ++i) {
      x = bottleneck(net, x, channels, width, i == 0 && stage > 0 ? 2 : 1);
      channels = width * 4;
    }
  }
  net.output(classify(net, x, 2048, 1000));
}

void unet(NetworkWriter& net) {
  constexpr int64_t kBase = 16;
  net.input("images", {1, 3, 128, 128});
  const std::string level1 = double_conv(net, "images", 3, kBase);
  const std::string level2 = double_conv(net, max_pool(net, level1, 2, 2, 0), kBase, 2 * kBase);
  const std::string level3 = double_conv(net, max_pool(net, level2, 2, 2, 0), 2 * kBase, 4 * kBase);

  const std::string up2 =
      net.op("ConvTranspose",
             {level3, net.normal({4 * kBase, 2 * kBase, 2, 2}, 0.12), net.normal({2 * kBase}, 0.1)},
             {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
  const std::string joined2 = net.op("Concat", {level2, up2}, {{"axis", int64_t{1}}});
  const std::string decoded2 = double_conv(net, joined2, 4 * kBase, 2 * kBase);

  const std::string up1 = net.op("Resize", {decoded2, "", net.constant({4}, {1, 1, 2, 2})},
                                 {{"mode", std::string("linear")},
                                  {"coordinate_transformation_mode", std::string("half_pixel")}});
  const std::string narrow = net.conv(up1, {.in = 2 * kBase, .out = kBase, .kernel = 1});
  const std::string joined1 = net.op("Concat", {level1, narrow}, {{"axis", int64_t{1}}});
  const std::string decoded1 = double_conv(net, joined1, 2 * kBase, kBase);
  net.output(
      net.op("Sigmoid", {net.conv(decoded1, {.in = kBase, .out = 4, .kernel = 1, .gain = 1})}));
}

void mobile_mix(NetworkWriter& net) {
  constexpr int64_t kChannels = 32, kExtent = 32;
  net.input("images", {1, 3, 2 * kExtent, 2 * kExtent});
  std::string x = net.conv("images", {.in = 3, .out = kChannels, .stride = 2});
  x = squeeze_excite(net, hard_swish_in_parts(net, x), kChannels);
  x = net.reshape(x, {1, 2, kChannels / 2, kExtent, kExtent});
  x = net.reshape(net.transpose(x, {0, 2, 1, 3, 4}), {1, kChannels, kExtent, kExtent});
  x = net.conv(x, {.in = kChannels, .out = kChannels, .group = 2});
  x = group_norm(net, x, kChannels, 4, kExtent);
  const std::vector<std::string> halves =
      net.op_with_outputs(2, "Split",
                          {net.conv(x, {.in = kChannels, .out = 2 * kChannels, .kernel = 1}),
                           net.shape({kChannels, kChannels})},
                          {{"axis", int64_t{1}}});
  x = net.op("Mul", {halves[0], net.op("Sigmoid", {halves[1]})});
  x = net.conv(x, {.in = kChannels, .out = kChannels, .stride = 2});
  x = net.op("Mul", {x, net.op("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})});
  x = net.transpose(net.reshape(x, {1, kChannels, kExtent * kExtent / 4}), {0, 2, 1});
  net.output(net.linear(rms_norm(net, x, kChannels), kChannels, 10));
}

}  // namespace rk::networks
