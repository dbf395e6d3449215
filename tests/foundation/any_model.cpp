// SPDX-License-Identifier: Apache-2.0
#include "tests/foundation/any_model.h"

#include <algorithm>
#include <cstring>

namespace rk::foundation {
namespace {

Status check(int ret, const char* call) {
  if (ret == RKNN_SUCC) return ok_status();
  return Status(Code::kUnavailable, str(call, " returned ", ret));
}

std::optional<rknn_tensor_type> rknn_type(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return RKNN_TENSOR_FLOAT32;
    case DType::kI64:
      return RKNN_TENSOR_INT64;
    case DType::kI32:
      return RKNN_TENSOR_INT32;
    case DType::kBool:
      return RKNN_TENSOR_BOOL;
    default:
      return std::nullopt;
  }
}

uint32_t type_bytes(rknn_tensor_type type) {
  switch (type) {
    case RKNN_TENSOR_FLOAT32:
      return 4;
    case RKNN_TENSOR_FLOAT16:
      return 2;
    default:
      return 1;
  }
}

// NC1HWC2 memory of a native output back to plain NCHW. Works on element bytes, whatever their type.
std::vector<uint8_t> unblock(const rknn_tensor_attr& native, const rknn_tensor_attr& plain,
                             const uint8_t* from) {
  const uint32_t item = type_bytes(native.type);
  std::vector<uint8_t> out(size_t{plain.n_elems} * item);
  if (native.fmt != RKNN_TENSOR_NC1HWC2) {
    std::memcpy(out.data(), from, out.size());
    return out;
  }
  const size_t channels = plain.dims[1], height = plain.dims[2], width = plain.dims[3];
  const size_t c2 = native.dims[4];
  // The plane stride follows from the size, not from H * W: planes are aligned (container sheet, 4.4).
  const size_t plane = native.size_with_stride / native.dims[1];
  for (size_t c = 0; c < channels; ++c) {
    for (size_t p = 0; p < height * width; ++p) {
      std::memcpy(&out[(c * height * width + p) * item],
                  from + c / c2 * plane + (p * c2 + c % c2) * item, item);
    }
  }
  return out;
}

struct Memory {
  rknn_context context = 0;
  rknn_tensor_mem* mem = nullptr;
  Memory(rknn_context c, uint32_t size) : context(c), mem(rknn_create_mem(c, size)) {}
  ~Memory() {
    if (mem != nullptr) rknn_destroy_mem(context, mem);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

}  // namespace

Result<AnyModel> AnyModel::load(std::span<const uint8_t> rknn) {
  AnyModel out;
  std::vector<uint8_t> image(rknn.begin(), rknn.end());
  RK_TRY(
      check(rknn_init(&out.context_, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
            "rknn_init"));
  RK_TRY(check(rknn_query(out.context_, RKNN_QUERY_IN_OUT_NUM, &out.counts_, sizeof out.counts_),
               "rknn_query"));
  return out;
}

AnyModel::AnyModel(AnyModel&& other) noexcept : context_(other.context_), counts_(other.counts_) {
  other.context_ = 0;
}
AnyModel::~AnyModel() {
  if (context_ != 0) rknn_destroy(context_);
}

rknn_tensor_attr AnyModel::input_attr(uint32_t i, rknn_query_cmd query) const {
  rknn_tensor_attr attr{};
  attr.index = i;
  RK_ASSERT(rknn_query(context_, query, &attr, sizeof attr) == RKNN_SUCC, "input attribute query");
  return attr;
}

rknn_tensor_attr AnyModel::output_attr(uint32_t i, rknn_query_cmd query) const {
  return input_attr(i, query);
}

Result<std::vector<std::vector<float>>> AnyModel::run_float(
    const std::vector<Tensor>& inputs) const {
  std::vector<rknn_input> feeds(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto type = rknn_type(inputs[i].dtype());
    if (!type) return unsupported(str("input ", i, " of dtype ", to_string(inputs[i].dtype())));
    feeds[i] = {};
    feeds[i].index = static_cast<uint32_t>(i);
    feeds[i].buf = const_cast<uint8_t*>(inputs[i].bytes().data());
    feeds[i].size = static_cast<uint32_t>(inputs[i].size_bytes());
    feeds[i].type = *type;
    feeds[i].fmt = inputs[i].shape().rank() == 4 ? RKNN_TENSOR_NCHW : RKNN_TENSOR_UNDEFINED;
  }
  RK_TRY(check(rknn_inputs_set(context_, static_cast<uint32_t>(feeds.size()), feeds.data()),
               "rknn_inputs_set"));
  RK_TRY(check(rknn_run(context_, nullptr), "rknn_run"));
  std::vector<rknn_output> outputs(counts_.n_output);
  for (rknn_output& output : outputs) output.want_float = 1;
  RK_TRY(check(rknn_outputs_get(context_, counts_.n_output, outputs.data(), nullptr),
               "rknn_outputs_get"));
  std::vector<std::vector<float>> out;
  for (const rknn_output& output : outputs) {
    const auto* values = static_cast<const float*>(output.buf);
    out.emplace_back(values, values + output.size / sizeof(float));
  }
  rknn_outputs_release(context_, counts_.n_output, outputs.data());
  return out;
}

Result<std::vector<std::vector<uint8_t>>> AnyModel::run_picture(std::span<const uint8_t> picture,
                                                                Flow flow) const {
  std::vector<std::vector<uint8_t>> out;
  if (flow == Flow::kDuplicate) {
    AnyModel copy;
    copy.counts_ = counts_;
    rknn_context original = context_;
    RK_TRY(check(rknn_dup_context(&original, &copy.context_), "rknn_dup_context"));
    return copy.run_picture(picture, Flow::kCopy);
  }
  if (flow == Flow::kCopy) {
    rknn_input input{};
    input.buf = const_cast<uint8_t*>(picture.data());
    input.size = static_cast<uint32_t>(picture.size());
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    RK_TRY(check(rknn_inputs_set(context_, 1, &input), "rknn_inputs_set"));
    RK_TRY(check(rknn_run(context_, nullptr), "rknn_run"));
    std::vector<rknn_output> outputs(counts_.n_output);
    RK_TRY(check(rknn_outputs_get(context_, counts_.n_output, outputs.data(), nullptr),
                 "rknn_outputs_get"));
    for (const rknn_output& output : outputs) {
      const auto* bytes = static_cast<const uint8_t*>(output.buf);
      out.emplace_back(bytes, bytes + output.size);
    }
    rknn_outputs_release(context_, counts_.n_output, outputs.data());
    return out;
  }

  const bool native = flow == Flow::kNativeMemory;
  rknn_tensor_attr input =
      input_attr(0, native ? RKNN_QUERY_NATIVE_INPUT_ATTR : RKNN_QUERY_INPUT_ATTR);
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  Memory input_memory(context_, std::max(input.size_with_stride, input.n_elems));
  if (input_memory.mem == nullptr) return out_of_memory("rknn_create_mem");
  // Rows are padded to w_stride pixels.
  const size_t row = picture.size() / input.dims[1];
  const size_t pixel = row / input.dims[2];
  const size_t padded = (input.w_stride == 0 ? input.dims[2] : input.w_stride) * pixel;
  for (size_t y = 0; y < input.dims[1]; ++y) {
    std::memcpy(static_cast<uint8_t*>(input_memory.mem->virt_addr) + y * padded,
                picture.data() + y * row, row);
  }
  RK_TRY(check(rknn_set_io_mem(context_, input_memory.mem, &input), "rknn_set_io_mem(input)"));
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<rknn_tensor_attr> attrs;
  for (uint32_t i = 0; i < counts_.n_output; ++i) {
    attrs.push_back(
        output_attr(i, native ? RKNN_QUERY_NATIVE_OUTPUT_ATTR : RKNN_QUERY_OUTPUT_ATTR));
    memories.push_back(std::make_unique<Memory>(context_, attrs[i].size_with_stride));
    if (memories.back()->mem == nullptr) return out_of_memory("rknn_create_mem");
    RK_TRY(check(rknn_set_io_mem(context_, memories.back()->mem, &attrs[i]),
                 "rknn_set_io_mem(output)"));
  }
  RK_TRY(check(rknn_run(context_, nullptr), "rknn_run"));
  for (uint32_t i = 0; i < counts_.n_output; ++i) {
    RK_TRY(check(rknn_mem_sync(context_, memories[i]->mem, RKNN_MEMORY_SYNC_FROM_DEVICE),
                 "rknn_mem_sync"));
    out.push_back(unblock(attrs[i], output_attr(i),
                          static_cast<const uint8_t*>(memories[i]->mem->virt_addr)));
  }
  return out;
}

}  // namespace rk::foundation
