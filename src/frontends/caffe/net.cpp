// SPDX-License-Identifier: Apache-2.0
#include "frontends/caffe/net.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "frontends/caffe/rk_caffe.pb.h"

namespace rk::frontends::caffe {
namespace {

namespace proto = ::rk::caffe;  // the generated messages

// The enumeration of V1 layers, as its text has it.
const std::map<std::string, std::string> kOldTypes = {{"ABSVAL", "AbsVal"},
                                                      {"ACCURACY", "Accuracy"},
                                                      {"ARGMAX", "ArgMax"},
                                                      {"BNLL", "BNLL"},
                                                      {"CONCAT", "Concat"},
                                                      {"CONVOLUTION", "Convolution"},
                                                      {"DATA", "Data"},
                                                      {"DECONVOLUTION", "Deconvolution"},
                                                      {"DROPOUT", "Dropout"},
                                                      {"DUMMY_DATA", "DummyData"},
                                                      {"ELTWISE", "Eltwise"},
                                                      {"EXP", "Exp"},
                                                      {"FLATTEN", "Flatten"},
                                                      {"HDF5_DATA", "HDF5Data"},
                                                      {"IMAGE_DATA", "ImageData"},
                                                      {"INNER_PRODUCT", "InnerProduct"},
                                                      {"LRN", "LRN"},
                                                      {"MEMORY_DATA", "MemoryData"},
                                                      {"MVN", "MVN"},
                                                      {"POOLING", "Pooling"},
                                                      {"POWER", "Power"},
                                                      {"RELU", "ReLU"},
                                                      {"SIGMOID", "Sigmoid"},
                                                      {"SILENCE", "Silence"},
                                                      {"SLICE", "Slice"},
                                                      {"SOFTMAX", "Softmax"},
                                                      {"SOFTMAX_LOSS", "SoftmaxWithLoss"},
                                                      {"SPLIT", "Split"},
                                                      {"TANH", "TanH"},
                                                      {"THRESHOLD", "Threshold"}};

Result<Tensor> read_blob(const proto::BlobProto& blob, const std::string& layer) {
  std::vector<int64_t> dims;
  if (blob.has_shape()) {
    dims.assign(blob.shape().dim().begin(), blob.shape().dim().end());
  } else if (blob.has_num() || blob.has_width()) {
    dims = {blob.num(), blob.channels(), blob.height(), blob.width()};
  } else {
    dims = {std::max(blob.data_size(), blob.double_data_size())};
  }
  auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status().with_context(str("weights of layer '", layer, "'"));
  std::vector<float> values;
  if (blob.data_size() > 0) {
    values.assign(blob.data().begin(), blob.data().end());
  } else {
    for (const double value : blob.double_data()) values.push_back(static_cast<float>(value));
  }
  if (static_cast<int64_t>(values.size()) != shape->elements()) {
    return invalid_model(str("weights of layer '", layer, "' are ", to_string(*shape), ", but ",
                             values.size(), " numbers are stored"));
  }
  return Tensor::f32(*shape, values);
}

using Blobs = std::map<std::string, std::vector<Tensor>>;

template <typename LayerProto>
Status gather(const LayerProto& layer, Blobs& blobs) {
  std::vector<Tensor> tensors;
  for (const proto::BlobProto& blob : layer.blobs()) {
    RK_ASSIGN(Tensor tensor, read_blob(blob, layer.name()));
    tensors.push_back(std::move(tensor));
  }
  if (!tensors.empty()) blobs[layer.name()] = std::move(tensors);
  return ok_status();
}

Result<Blobs> read_blobs(ByteSpan bytes) {
  proto::NetParameter net;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) ||
      !net.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid_model("the .caffemodel is truncated, damaged or of another format");
  }
  Blobs blobs;
  for (const proto::V1LayerParameter& layer : net.layers()) RK_TRY(gather(layer, blobs));
  for (const proto::LayerParameter& layer : net.layer()) RK_TRY(gather(layer, blobs));
  return blobs;
}

// Whether a network that is run, not trained, has the layer.
bool is_included(const Message& layer) {
  bool listed = false, matches = false;
  for (const Message* rule : layer.messages("include")) {
    listed = true;
    matches = matches || rule->text("phase", "TEST") == "TEST" || rule->text("phase") == "1";
  }
  for (const Message* rule : layer.messages("exclude")) {
    if (rule->text("phase") == "TEST" || rule->text("phase") == "1") return false;
  }
  return !listed || matches;
}

Status read_inputs(const Message& text, Net& net) {
  const std::vector<std::string> names = text.texts("input");
  const auto shapes = text.messages("input_shape");
  RK_ASSIGN(const std::vector<int64_t> dims, text.integers("input_dim"));
  if (dims.size() % 4 != 0) return invalid_model("input_dim: four numbers per input are expected");
  for (size_t i = 0; i < names.size(); ++i) {
    NetInput input{names[i], {}};
    if (i < shapes.size()) {
      RK_ASSIGN(input.dims, shapes[i]->integers("dim"));
    } else if (4 * i + 4 <= dims.size()) {
      input.dims.assign(dims.begin() + static_cast<std::ptrdiff_t>(4 * i),
                        dims.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
    }
    net.inputs.push_back(std::move(input));
  }
  return ok_status();
}

// Layers that bring data: their first top is an input. Labels and other tops are not needed to run.
Result<bool> read_data_layer(const Layer& layer, Net& net) {
  static const std::map<std::string, const char*> kinds = {{"Input", "input_param"},
                                                           {"Data", ""},
                                                           {"ImageData", ""},
                                                           {"HDF5Data", ""},
                                                           {"WindowData", ""},
                                                           {"MemoryData", "memory_data_param"},
                                                           {"DummyData", "dummy_data_param"},
                                                           {"AnnotatedData", ""},
                                                           {"Python", nullptr}};
  const auto kind = kinds.find(layer.type);
  if (kind == kinds.end() || kind->second == nullptr) return false;
  const Message& params = layer.params(kind->second);
  const auto shapes = params.messages("shape");
  const size_t count = layer.type == "Input" || layer.type == "DummyData"
                           ? layer.tops.size()
                           : std::min<size_t>(layer.tops.size(), 1);
  for (size_t i = 0; i < count; ++i) {
    NetInput input{layer.tops[i], {}};
    if (!shapes.empty()) {
      RK_ASSIGN(input.dims, shapes[std::min(i, shapes.size() - 1)]->integers("dim"));
    } else if (layer.type == "MemoryData") {
      for (const char* field : {"batch_size", "channels", "height", "width"}) {
        RK_ASSIGN(const int64_t extent, params.integer(field, -1));
        input.dims.push_back(extent);
      }
      input.dims[0] = 1;
    }
    net.inputs.push_back(std::move(input));
  }
  return true;
}

}  // namespace

const Message& Layer::params(std::string_view field) const {
  static const Message none;
  const Message* const found = message == nullptr ? nullptr : message->message(field);
  return found == nullptr ? none : *found;
}

Result<Net> read_net(ByteSpan prototxt, ByteSpan caffemodel) {
  Net net;
  RK_ASSIGN(net.text,
            parse_text({reinterpret_cast<const char*>(prototxt.data()), prototxt.size()}));
  RK_ASSIGN(Blobs blobs, read_blobs(caffemodel));
  net.name = net.text.text("name");
  RK_TRY(read_inputs(net.text, net));
  for (const Field& field : net.text.fields) {
    if ((field.name != "layer" && field.name != "layers") || !field.submessage) continue;
    const Message& message = *field.submessage;
    if (message.message("layer") != nullptr) {
      return unsupported(str("line ", field.line,
                             ": the network is in Caffe's first form (layers of "
                             "layers); upgrade it with Caffe's upgrade_net_proto_text"));
    }
    if (!is_included(message)) continue;
    Layer layer;
    layer.name = message.text("name");
    layer.type = message.text("type");
    if (const auto old = kOldTypes.find(layer.type); old != kOldTypes.end())
      layer.type = old->second;
    layer.bottoms = message.texts("bottom");
    layer.tops = message.texts("top");
    layer.message = &message;
    if (layer.type.empty()) return invalid_model(str("line ", field.line, ": a layer has no type"));
    RK_ASSIGN(const bool is_data, read_data_layer(layer, net));
    if (is_data) continue;
    if (const auto found = blobs.find(layer.name); found != blobs.end()) {
      layer.blobs = found->second;
    }
    net.layers.push_back(std::move(layer));
  }
  if (net.layers.empty()) return invalid_model("the .prototxt has no layers");
  return net;
}

}  // namespace rk::frontends::caffe
