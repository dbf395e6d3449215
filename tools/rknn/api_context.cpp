// SPDX-License-Identifier: Apache-2.0
#include "rknn/api_context.h"

#include <optional>

#include "base/npy.h"
#include "media/dataset.h"

namespace rk::tools {
namespace {

std::optional<rknn_tensor_type> npy_type(const NpyArray& array) {
  if (array.kind == 'f' && array.item_size == 4) return RKNN_TENSOR_FLOAT32;
  if (array.kind == 'f' && array.item_size == 2) return RKNN_TENSOR_FLOAT16;
  if (array.kind == 'i' && array.item_size == 1) return RKNN_TENSOR_INT8;
  if (array.kind == 'u' && array.item_size == 1) return RKNN_TENSOR_UINT8;
  if (array.kind == 'i' && array.item_size == 2) return RKNN_TENSOR_INT16;
  if (array.kind == 'i' && array.item_size == 4) return RKNN_TENSOR_INT32;
  if (array.kind == 'i' && array.item_size == 8) return RKNN_TENSOR_INT64;
  return std::nullopt;
}

Result<Feed> feed_npy(const std::string& path, const rknn_tensor_attr& attr) {
  RK_ASSIGN(const NpyArray array, read_npy(path));
  const auto type = npy_type(array);
  if (!type)
    return unsupported(
        str("'", path, "': feed float32, float16, int8, uint8, int16, int32 or int64"));
  Feed out{array.bytes, *type, RKNN_TENSOR_UNDEFINED};
  if (attr.n_dims == 4) {
    // The attribute is NHWC; an array of that shape is taken as it is, anything else must be the model's NCHW.
    const std::vector<int64_t> nhwc(attr.dims, attr.dims + 4);
    out.fmt = array.shape == nhwc ? RKNN_TENSOR_NHWC : RKNN_TENSOR_NCHW;
  }
  return out;
}

Result<Feed> feed_picture(const std::string& path, const rknn_tensor_attr& attr, bool bgr) {
  if (attr.n_dims != 4)
    return invalid_argument(str("input '", attr.name, "' is not a picture; give an .npy file"));
  RK_ASSIGN(
      media::Picture picture,
      media::load_image_as(path, {static_cast<int>(attr.dims[2]), static_cast<int>(attr.dims[1]),
                                  static_cast<int>(attr.dims[3]), bgr}));
  return Feed{std::move(picture.pixels), RKNN_TENSOR_UINT8, RKNN_TENSOR_NHWC};
}

}  // namespace

Status check(int ret, std::string_view call) {
  if (ret == RKNN_SUCC) return ok_status();
  return Status(Code::kUnavailable, str(call, " returned ", ret, "; the log line above says why"));
}

Result<std::vector<rknn_tensor_attr>> query_attrs(rknn_context context, rknn_query_cmd command,
                                                  uint32_t count) {
  std::vector<rknn_tensor_attr> out(count);
  for (uint32_t i = 0; i < count; ++i) {
    out[i].index = i;
    RK_TRY(check(rknn_query(context, command, &out[i], sizeof out[i]), "rknn_query"));
  }
  return out;
}

rknn_input Feed::input(uint32_t index) {
  rknn_input out{};
  out.index = index;
  out.buf = bytes.data();
  out.size = static_cast<uint32_t>(bytes.size());
  out.type = type;
  out.fmt = fmt;
  return out;
}

Result<Feed> feed_file(const std::string& path, const rknn_tensor_attr& attr, bool bgr) {
  return path.ends_with(".npy") ? feed_npy(path, attr) : feed_picture(path, attr, bgr);
}

}  // namespace rk::tools
