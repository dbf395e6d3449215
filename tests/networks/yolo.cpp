// SPDX-License-Identifier: Apache-2.0
// YOLOv5s with raw heads and YOLOv8n with the decode tail its exporter writes (softmax over
// distance bins, boxes from distances, scores behind a sigmoid, all in one output).
#include "tests/networks/network.h"

namespace rk::networks {
namespace {

enum class Unit { kRelu, kSilu };

class Yolo {
 public:
  Yolo(NetworkWriter& net, Unit unit) : net_(net), unit_(unit) {}

  std::string activate(const std::string& x) {
    if (unit_ == Unit::kRelu) return net_.op("Relu", {x});
    return net_.op("Mul", {x, net_.op("Sigmoid", {x})});
  }
  std::string conv(const std::string& x, ConvShape shape) {
    if (unit_ == Unit::kSilu) shape.gain *= 1.4;  // SiLU passes less than Relu
    return activate(net_.conv(x, shape));
  }
  std::string bottleneck(const std::string& x, int64_t channels, int64_t first_kernel, bool add) {
    std::string y = conv(x, {.in = channels, .out = channels, .kernel = first_kernel});
    y = conv(y, {.in = channels, .out = channels, .gain = add ? 0.7 : 2.0});
    return add ? net_.op("Add", {x, y}) : y;
  }
  // YOLOv5's block.
  std::string c3(const std::string& x, int64_t in, int64_t out, int repeats, bool add) {
    const int64_t half = out / 2;
    std::string a = conv(x, {.in = in, .out = half, .kernel = 1});
    for (int i = 0; i < repeats; ++i) a = bottleneck(a, half, 1, add);
    const std::string b = conv(x, {.in = in, .out = half, .kernel = 1});
    return conv(concat({a, b}), {.in = out, .out = out, .kernel = 1});
  }
  // YOLOv8's block.
  std::string c2f(const std::string& x, int64_t in, int64_t out, int repeats, bool add) {
    const int64_t half = out / 2;
    const std::string both = conv(x, {.in = in, .out = out, .kernel = 1});
    std::vector<std::string> parts =
        net_.op_with_outputs(2, "Split", {both, net_.shape({half, half})}, {{"axis", int64_t{1}}});
    for (int i = 0; i < repeats; ++i) parts.push_back(bottleneck(parts.back(), half, 3, add));
    return conv(concat(parts), {.in = half * (2 + repeats), .out = out, .kernel = 1});
  }
  std::string sppf(const std::string& x, int64_t channels) {
    const int64_t half = channels / 2;
    std::vector<std::string> parts = {conv(x, {.in = channels, .out = half, .kernel = 1})};
    for (int i = 0; i < 3; ++i) {
      parts.push_back(net_.op(
          "MaxPool", {parts.back()},
          {{"kernel_shape", Dims{5, 5}}, {"strides", Dims{1, 1}}, {"pads", Dims{2, 2, 2, 2}}}));
    }
    return conv(concat(parts), {.in = 2 * channels, .out = channels, .kernel = 1});
  }
  std::string upsample(const std::string& x) {
    return net_.op("Resize", {x, "", net_.constant({4}, {1, 1, 2, 2})},
                   {{"mode", std::string("nearest")},
                    {"coordinate_transformation_mode", std::string("asymmetric")},
                    {"nearest_mode", std::string("floor")}});
  }
  std::string concat(const std::vector<std::string>& parts, int64_t axis = 1) {
    return net_.op("Concat", parts, {{"axis", axis}});
  }
  NetworkWriter& net() { return net_; }

 private:
  NetworkWriter& net_;
  Unit unit_;
};

// Every second pixel, four ways, stacked: what a 6x6 convolution replaced later.
std::string focus(Yolo& yolo, const std::string& x, int64_t extent) {
  NetworkWriter& net = yolo.net();
  const auto every_second = [&](const std::string& from, int64_t start, int64_t axis) {
    return net.op("Slice", {from, net.shape({start}), net.shape({extent}), net.shape({axis}),
                            net.shape({2})});
  };
  std::vector<std::string> parts;
  for (const auto& [row, column] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}})
    parts.push_back(every_second(every_second(x, row, 2), column, 3));
  return yolo.concat(parts);
}

void yolov5s(NetworkWriter& net, Unit unit, bool with_focus) {
  constexpr int64_t kExtent = 320;
  Yolo yolo(net, unit);
  net.input("images", {1, 3, kExtent, kExtent});
  std::string x =
      with_focus ? yolo.conv(focus(yolo, "images", kExtent), {.in = 12, .out = 32})
                 : yolo.conv("images", {.in = 3, .out = 32, .kernel = 6, .stride = 2, .pad = 2});
  x = yolo.c3(yolo.conv(x, {.in = 32, .out = 64, .stride = 2}), 64, 64, 1, true);
  const std::string p3 =
      yolo.c3(yolo.conv(x, {.in = 64, .out = 128, .stride = 2}), 128, 128, 2, true);
  const std::string p4 =
      yolo.c3(yolo.conv(p3, {.in = 128, .out = 256, .stride = 2}), 256, 256, 3, true);
  const std::string p5 = yolo.sppf(
      yolo.c3(yolo.conv(p4, {.in = 256, .out = 512, .stride = 2}), 512, 512, 1, true), 512);

  const std::string n5 = yolo.conv(p5, {.in = 512, .out = 256, .kernel = 1});
  x = yolo.c3(yolo.concat({yolo.upsample(n5), p4}), 512, 256, 1, false);
  const std::string n4 = yolo.conv(x, {.in = 256, .out = 128, .kernel = 1});
  const std::string out3 = yolo.c3(yolo.concat({yolo.upsample(n4), p3}), 256, 128, 1, false);
  x = yolo.concat({yolo.conv(out3, {.in = 128, .out = 128, .stride = 2}), n4});
  const std::string out4 = yolo.c3(x, 256, 256, 1, false);
  x = yolo.concat({yolo.conv(out4, {.in = 256, .out = 256, .stride = 2}), n5});
  const std::string out5 = yolo.c3(x, 512, 512, 1, false);
  for (const auto& [value, channels] : {std::pair{out3, 128}, {out4, 256}, {out5, 512}})
    net.output(net.conv(value, {.in = channels, .out = 255, .kernel = 1, .gain = 1}));
}

// What YOLOv8 makes of its three levels, [1,144,h,w] each: boxes and scores, [1,84,anchors].
std::string decode(Yolo& yolo, const std::vector<std::string>& levels, int64_t extent) {
  NetworkWriter& net = yolo.net();
  constexpr int64_t kBins = 16, kClasses = 80;
  std::vector<std::string> flat;
  std::vector<float> anchors[2], strides;
  int64_t count = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const int64_t stride = int64_t{8} << i, side = extent / stride;
    flat.push_back(net.reshape(levels[i], {1, 4 * kBins + kClasses, -1}));
    for (int64_t p = 0; p < side * side; ++p) {
      anchors[0].push_back(static_cast<float>(p % side) + 0.5f);
      anchors[1].push_back(static_cast<float>(p / side) + 0.5f);
      strides.push_back(static_cast<float>(stride));
    }
    count += side * side;
  }
  const std::vector<std::string> split = net.op_with_outputs(
      2, "Split", {yolo.concat(flat, 2), net.shape({4 * kBins, kClasses})}, {{"axis", int64_t{1}}});
  std::string bins = net.transpose(net.reshape(split[0], {1, 4, kBins, count}), {0, 2, 1, 3});
  bins = net.op("Softmax", {bins}, {{"axis", int64_t{1}}});
  std::vector<float> distance;
  for (int64_t i = 0; i < kBins; ++i) distance.push_back(static_cast<float>(i));
  const std::string expected = net.op("Conv", {bins, net.constant({1, kBins, 1, 1}, distance)});
  const std::string distances = net.reshape(expected, {1, 4, count});

  std::vector<float> centers(anchors[0]);
  centers.insert(centers.end(), anchors[1].begin(), anchors[1].end());
  const auto half = [&](int64_t begin) {
    return net.op("Slice", {distances, net.shape({begin}), net.shape({begin + 2}), net.shape({1})});
  };
  const std::string center = net.constant({1, 2, count}, centers);
  const std::string low = net.op("Sub", {center, half(0)});
  const std::string high = net.op("Add", {center, half(2)});
  const std::string middle = net.op("Div", {net.op("Add", {low, high}), net.scalar(2)});
  const std::string boxes = net.op("Mul", {yolo.concat({middle, net.op("Sub", {high, low})}),
                                           net.constant({1, count}, strides)});
  return yolo.concat({boxes, net.op("Sigmoid", {split[1]})});
}

}  // namespace

void yolov5s_relu(NetworkWriter& net) { yolov5s(net, Unit::kRelu, true); }
void yolov5s_silu(NetworkWriter& net) { yolov5s(net, Unit::kSilu, false); }

void yolov8n(NetworkWriter& net) {
  constexpr int64_t kExtent = 320;
  Yolo yolo(net, Unit::kSilu);
  net.input("images", {1, 3, kExtent, kExtent});
  std::string x = yolo.conv("images", {.in = 3, .out = 16, .stride = 2});
  x = yolo.c2f(yolo.conv(x, {.in = 16, .out = 32, .stride = 2}), 32, 32, 1, true);
  const std::string p3 =
      yolo.c2f(yolo.conv(x, {.in = 32, .out = 64, .stride = 2}), 64, 64, 2, true);
  const std::string p4 =
      yolo.c2f(yolo.conv(p3, {.in = 64, .out = 128, .stride = 2}), 128, 128, 2, true);
  const std::string p5 = yolo.sppf(
      yolo.c2f(yolo.conv(p4, {.in = 128, .out = 256, .stride = 2}), 256, 256, 1, true), 256);

  const std::string n4 = yolo.c2f(yolo.concat({yolo.upsample(p5), p4}), 384, 128, 1, false);
  const std::string out3 = yolo.c2f(yolo.concat({yolo.upsample(n4), p3}), 192, 64, 1, false);
  x = yolo.concat({yolo.conv(out3, {.in = 64, .out = 64, .stride = 2}), n4});
  const std::string out4 = yolo.c2f(x, 192, 128, 1, false);
  x = yolo.concat({yolo.conv(out4, {.in = 128, .out = 128, .stride = 2}), p5});
  const std::string out5 = yolo.c2f(x, 384, 256, 1, false);

  std::vector<std::string> levels;
  for (const auto& [value, channels] : {std::pair{out3, 64}, {out4, 128}, {out5, 256}}) {
    const auto head = [&, from = value, in = channels](int64_t width, int64_t out) {
      std::string y = yolo.conv(from, {.in = in, .out = width});
      y = yolo.conv(y, {.in = width, .out = width});
      return net.conv(y, {.in = width, .out = out, .kernel = 1});
    };
    const std::string box = head(64, 64);
    levels.push_back(yolo.concat({box, head(80, 80)}));
  }
  net.output(decode(yolo, levels, kExtent));
}

}  // namespace rk::networks
