// SPDX-License-Identifier: Apache-2.0
// Networks over sequences: ViT-Tiny's stem, encoder block and head; Whisper's two 1-D convolutions
// and an encoder block; a bidirectional LSTM that tags tokens.
#include <cmath>

#include "tests/networks/network.h"

namespace rk::networks {
namespace {

// As exporters before opset 17 write it.
std::string layer_norm_in_parts(NetworkWriter& net, const std::string& x, int64_t width) {
  const std::string mean = net.op("ReduceMean", {x}, {{"axes", Dims{-1}}});
  const std::string centered = net.op("Sub", {x, mean});
  const std::string squares = net.op("Pow", {centered, net.scalar(2)});
  const std::string variance = net.op("ReduceMean", {squares}, {{"axes", Dims{-1}}});
  const std::string root = net.op("Sqrt", {net.op("Add", {variance, net.scalar(1e-6f)})});
  const std::string unit = net.op("Div", {centered, root});
  return net.op("Add",
                {net.op("Mul", {unit, net.normal({width}, 0.1, 1)}), net.normal({width}, 0.1)});
}

std::string layer_norm(NetworkWriter& net, const std::string& x, int64_t width) {
  return net.op("LayerNormalization", {x, net.normal({width}, 0.1, 1), net.normal({width}, 0.1)},
                {{"axis", int64_t{-1}}, {"epsilon", 1e-5f}});
}

std::string gelu(NetworkWriter& net, const std::string& x) {
  const std::string inner = net.op("Erf", {net.op("Div", {x, net.scalar(1.41421356f)})});
  const std::string factor = net.op("Add", {inner, net.scalar(1)});
  return net.op("Mul", {net.op("Mul", {x, factor}), net.scalar(0.5f)});
}

std::string feed_forward(NetworkWriter& net, const std::string& x, int64_t width) {
  const std::string hidden = gelu(net, net.linear(x, width, 4 * width, 2));
  return net.linear(hidden, 4 * width, width, 1);
}

// q, k, v as [1, heads, tokens, depth], k already transposed.
std::string attend(NetworkWriter& net, const std::string& q, const std::string& k_transposed,
                   const std::string& v, int64_t tokens, int64_t width) {
  const std::string scores = net.op("MatMul", {q, k_transposed});
  const std::string weights = net.op("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const std::string mixed = net.transpose(net.op("MatMul", {weights, v}), {0, 2, 1, 3});
  return net.reshape(mixed, {1, tokens, width});
}

}  // namespace

void vit_tiny(NetworkWriter& net) {
  constexpr int64_t kWidth = 192, kHeads = 3, kDepth = kWidth / kHeads, kTokens = 197;
  net.input("images", {1, 3, 224, 224});
  std::string x =
      net.conv("images", {.in = 3, .out = kWidth, .kernel = 16, .stride = 16, .pad = 0, .gain = 4});
  x = net.transpose(net.reshape(x, {1, kWidth, kTokens - 1}), {0, 2, 1});
  x = net.op("Concat", {net.normal({1, 1, kWidth}, 1), x}, {{"axis", int64_t{1}}});
  x = net.op("Add", {x, net.normal({1, kTokens, kWidth}, 0.2)});

  const std::string qkv = net.linear(layer_norm_in_parts(net, x, kWidth), kWidth, 3 * kWidth);
  const std::string stacked =
      net.transpose(net.reshape(qkv, {1, kTokens, 3, kHeads, kDepth}), {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) {
    std::string name = "index_" + std::to_string(i);
    net.ints(name, {}, {i});
    return net.op("Gather", {stacked, name}, {{"axis", int64_t{0}}});
  };
  const std::string q = part(0), k = part(1), v = part(2);
  const std::string scaled =
      net.op("Mul", {q, net.scalar(1 / std::sqrt(static_cast<float>(kDepth)))});
  std::string y = attend(net, scaled, net.transpose(k, {0, 1, 3, 2}), v, kTokens, kWidth);
  x = net.op("Add", {x, net.linear(y, kWidth, kWidth, 2)});
  x = net.op("Add", {x, feed_forward(net, layer_norm_in_parts(net, x, kWidth), kWidth)});
  x = layer_norm_in_parts(net, x, kWidth);
  net.ints("class_token", {}, {0});
  x = net.op("Gather", {x, "class_token"}, {{"axis", int64_t{1}}});
  net.output(net.op("Gemm", {x, net.normal({1000, kWidth}, 0.07), net.normal({1000}, 0.1)},
                    {{"transB", int64_t{1}}}));
}

void whisper_encoder(NetworkWriter& net) {
  constexpr int64_t kMel = 80, kFrames = 200, kTokens = kFrames / 2;
  constexpr int64_t kWidth = 384, kHeads = 6, kDepth = kWidth / kHeads;
  net.input("mel", {1, kMel, kFrames});
  const auto conv1d = [&](const std::string& from, int64_t in, int64_t stride) {
    return net.op("Conv",
                  {from, net.normal({kWidth, in, 3}, std::sqrt(2.0 / static_cast<double>(3 * in))),
                   net.normal({kWidth}, 0.1)},
                  {{"kernel_shape", Dims{3}}, {"strides", Dims{stride}}, {"pads", Dims{1, 1}}});
  };
  std::string x = gelu(net, conv1d("mel", kMel, 1));
  x = gelu(net, conv1d(x, kWidth, 2));
  x = net.op("Add", {net.transpose(x, {0, 2, 1}), net.normal({kTokens, kWidth}, 0.3)});

  const std::string normed = layer_norm(net, x, kWidth);
  const float root = std::sqrt(std::sqrt(1 / static_cast<float>(kDepth)));
  const auto heads = [&](const std::string& from, const Dims& perm) {
    return net.transpose(net.reshape(from, {1, kTokens, kHeads, kDepth}), perm);
  };
  const std::string q =
      net.op("Mul", {heads(net.linear(normed, kWidth, kWidth), {0, 2, 1, 3}), net.scalar(root)});
  const std::string k = net.op(
      "Mul", {heads(net.linear(normed, kWidth, kWidth, 1, false), {0, 2, 3, 1}), net.scalar(root)});
  const std::string v = heads(net.linear(normed, kWidth, kWidth), {0, 2, 1, 3});
  const std::string y = attend(net, q, k, v, kTokens, kWidth);
  x = net.op("Add", {x, net.linear(y, kWidth, kWidth, 2)});
  x = net.op("Add", {x, feed_forward(net, layer_norm(net, x, kWidth), kWidth)});
  net.output(layer_norm(net, x, kWidth));
}

void lstm_tagger(NetworkWriter& net) {
  constexpr int64_t kWords = 200, kTokens = 24, kWidth = 64, kHidden = 64, kTags = 9;
  net.input("tokens", {1, kTokens}, frontends::testing::kInt64);
  std::string x = net.op("Gather", {net.normal({kWords, kWidth}, 1), "tokens"});
  x = net.transpose(x, {1, 0, 2});
  const std::vector<std::string> states = net.op_with_outputs(
      1, "LSTM",
      {x, net.normal({2, 4 * kHidden, kWidth}, 0.15), net.normal({2, 4 * kHidden, kHidden}, 0.1),
       net.normal({2, 8 * kHidden}, 0.1)},
      {{"direction", std::string("bidirectional")}, {"hidden_size", kHidden}});
  x = net.reshape(net.transpose(states[0], {0, 2, 1, 3}), {kTokens, 1, 2 * kHidden});
  x = net.linear(x, 2 * kHidden, kTags, 4);
  net.output(net.transpose(x, {1, 0, 2}));
}

}  // namespace rk::networks
