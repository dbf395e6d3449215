// SPDX-License-Identifier: Apache-2.0
#include "quant/samples.h"

#include "base/log.h"
#include "base/npy.h"

namespace rk::quant {
namespace {

Result<Tensor> from_picture(const std::string& path, const std::string& input_name,
                            const TensorType& type, const InputFeed& feed) {
  const Shape& shape = type.shape;
  const bool fits = shape.rank() == 4 && shape[0] == 1 && (shape[1] == 1 || shape[1] == 3);
  if (!fits) {
    return invalid_argument(
        str("'", path, "' is a picture, but input '", input_name, "' is ", to_string(type),
            "; pictures feed [1,1,H,W] and [1,3,H,W]. Give an .npy file instead"));
  }
  const int64_t channels = shape[1], height = shape[2], width = shape[3];
  RK_ASSIGN(const media::Picture picture,
            media::load_image_as(path, {static_cast<int>(width), static_cast<int>(height),
                                        static_cast<int>(channels), feed.rgb2bgr}));
  Tensor out = Tensor::make({DType::kF32, shape});
  auto* to = out.mutable_data<float>();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < height * width; ++i) {
      to[c * height * width + i] = picture.pixels[static_cast<size_t>(i * channels + c)];
    }
  }
  return out;
}

std::optional<DType> npy_dtype(const NpyArray& array) {
  switch (array.kind) {
    case 'f':
      return array.item_size == 2 ? DType::kF16 : array.item_size == 4 ? DType::kF32 : DType::kF64;
    case 'i':
      return array.item_size == 1   ? DType::kI8
             : array.item_size == 2 ? DType::kI16
             : array.item_size == 4 ? DType::kI32
                                    : DType::kI64;
    case 'u':
      return array.item_size == 1   ? DType::kU8
             : array.item_size == 2 ? DType::kU16
             : array.item_size == 4 ? DType::kU32
                                    : DType::kU64;
    case 'b':
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

Tensor nhwc_to_nchw(const Tensor& from, const Shape& to_shape) {
  Tensor out = Tensor::make({from.dtype(), to_shape});
  const size_t item = byte_size(from.dtype());
  const int64_t channels = to_shape[1], pixels = to_shape[2] * to_shape[3];
  for (int64_t n = 0; n < to_shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < pixels; ++i) {
        const int64_t source = (n * pixels + i) * channels + c,
                      target = (n * channels + c) * pixels + i;
        std::memcpy(out.mutable_data<uint8_t>() + static_cast<size_t>(target) * item,
                    from.data<uint8_t>() + static_cast<size_t>(source) * item, item);
      }
    }
  }
  return out;
}

Result<Tensor> from_npy(const std::string& path, const std::string& input_name,
                        const TensorType& type) {
  RK_ASSIGN(const Tensor tensor, load_npy_tensor(path));
  const Shape& shape = tensor.shape();
  const Shape& wanted = type.shape;
  if (shape == wanted) return tensor.cast(type.dtype);
  const bool is_nhwc = wanted.rank() == 4 && shape.rank() == 4 && shape[0] == wanted[0] &&
                       shape[1] == wanted[2] && shape[2] == wanted[3] && shape[3] == wanted[1];
  if (is_nhwc) {
    log(LogLevel::kWarning,
        str("'", path, "' has shape ", to_string(shape), "; taken as NHWC for input '", input_name,
            "' of shape ", to_string(wanted)));
    return nhwc_to_nchw(tensor, wanted).cast(type.dtype);
  }
  return invalid_argument(str("'", path, "' has shape ", to_string(shape), ", input '", input_name,
                              "' needs ", to_string(wanted)));
}

}  // namespace

Result<Tensor> load_npy_tensor(const std::string& path) {
  RK_ASSIGN(const NpyArray array, read_npy(path));
  RK_ASSIGN(const Shape shape, Shape::make(array.shape));
  const auto dtype = npy_dtype(array);
  if (!dtype)
    return unsupported(str("'", path, "': numpy kind '", array.kind, "' is not supported"));
  return Tensor::from_bytes({*dtype, shape}, array.bytes);
}

void normalize(Tensor& tensor, const InputFeed& feed) {
  const Shape& shape = tensor.shape();
  if (shape.rank() != 4 || tensor.dtype() != DType::kF32) return;
  const int64_t channels = shape[1], pixels = shape[2] * shape[3];
  auto* data = tensor.mutable_data<float>();
  const auto at = [](const std::vector<float>& list, int64_t channel, float otherwise) {
    if (list.empty()) return otherwise;
    return list[static_cast<size_t>(channel) < list.size() ? static_cast<size_t>(channel) : 0];
  };
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      const float mean = at(feed.mean, c, 0.0f), std = at(feed.std, c, 1.0f);
      float* plane = data + (n * channels + c) * pixels;
      for (int64_t i = 0; i < pixels; ++i) plane[i] = (plane[i] - mean) / std;
    }
  }
}

Result<Tensor> load_input_file(const std::string& path, const std::string& input_name,
                               const TensorType& type, const InputFeed& feed) {
  const bool is_npy = path.size() > 4 && path.ends_with(".npy");
  RK_ASSIGN(Tensor loaded,
            is_npy ? from_npy(path, input_name, type) : from_picture(path, input_name, type, feed));
  if (loaded.dtype() != DType::kF32) return loaded;
  Tensor tensor = loaded.clone();
  normalize(tensor, feed);
  return tensor;
}

Result<DatasetSamples> DatasetSamples::open(const std::string& path, const Graph& graph,
                                            std::vector<InputFeed> feeds) {
  DatasetSamples out;
  RK_ASSIGN(out.dataset_, media::read_dataset(path));
  if (out.dataset_.samples.empty())
    return invalid_argument(str("dataset '", path, "' lists no sample"));
  const size_t files = out.dataset_.samples.front().files.size();
  if (files != graph.inputs().size()) {
    return invalid_argument(str("dataset '", path, "' gives ", files,
                                " file(s) a line, the model has ", graph.inputs().size(),
                                " input(s)"));
  }
  for (const Value* input : graph.inputs()) {
    out.types_.push_back(input->type());
    out.names_.push_back(input->name());
  }
  out.feeds_ = std::move(feeds);
  out.feeds_.resize(out.types_.size());
  return out;
}

Result<std::vector<Tensor>> DatasetSamples::load(size_t sample) const {
  const media::DatasetSample& row = dataset_.samples[sample];
  std::vector<Tensor> out;
  for (size_t i = 0; i < types_.size(); ++i) {
    auto tensor = load_input_file(row.files[i].path, names_[i], types_[i], feeds_[i]);
    if (!tensor.ok()) return tensor.status().with_context(str(dataset_.path, ", line ", row.line));
    out.push_back(std::move(tensor).value());
  }
  return out;
}

}  // namespace rk::quant
