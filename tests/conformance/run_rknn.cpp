// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "rknn_api.h"
#include "tests/conformance/run_case.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::conformance {
namespace {

Status check(int ret, const char* call) {
  if (ret == RKNN_SUCC) return ok_status();
  return invalid_model(str(call, " returned ", ret));
}

struct TypePair {
  DType dtype;
  rknn_tensor_type type;
};
constexpr TypePair kTypes[] = {{DType::kF32, RKNN_TENSOR_FLOAT32}, {DType::kI8, RKNN_TENSOR_INT8},
                               {DType::kU8, RKNN_TENSOR_UINT8},    {DType::kI16, RKNN_TENSOR_INT16},
                               {DType::kU16, RKNN_TENSOR_UINT16},  {DType::kI32, RKNN_TENSOR_INT32},
                               {DType::kU32, RKNN_TENSOR_UINT32},  {DType::kI64, RKNN_TENSOR_INT64},
                               {DType::kBool, RKNN_TENSOR_BOOL}};

std::optional<rknn_tensor_type> rknn_type(DType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.type;
  }
  return std::nullopt;
}

struct Context {
  rknn_context handle = 0;
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    if (handle != 0) rknn_destroy(handle);
  }
};

Result<std::vector<uint8_t>> build(const std::string& model,
                                   const frontends::ImportOptions& options) {
  toolkit::Toolkit kit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  RK_TRY(kit.config(std::move(config)));
  toolkit::LoadOptions load;
  load.input_size_list = options.input_shapes;
  load.input_initial_val = options.input_initial_values;
  RK_TRY(kit.load_onnx(model, load));
  RK_TRY(kit.build({.do_quantization = false}));
  return kit.rknn_bytes();
}

Status set_inputs(rknn_context context, const std::vector<Tensor>& inputs) {
  std::vector<rknn_input> feeds(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    feeds[i] = {};
    feeds[i].index = static_cast<uint32_t>(i);
    feeds[i].buf = const_cast<uint8_t*>(inputs[i].bytes().data());
    feeds[i].size = static_cast<uint32_t>(inputs[i].size_bytes());
    feeds[i].type = *rknn_type(inputs[i].dtype());
    feeds[i].fmt = inputs[i].shape().rank() == 4 ? RKNN_TENSOR_NCHW : RKNN_TENSOR_UNDEFINED;
  }
  return check(rknn_inputs_set(context, static_cast<uint32_t>(feeds.size()), feeds.data()),
               "rknn_inputs_set");
}

// The first outputs are the model's; float ones are asked for as float32, others as they are.
Result<std::vector<Tensor>> get_outputs(rknn_context context, const std::vector<Tensor>& expected) {
  std::vector<rknn_output> outputs(expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].index = static_cast<uint32_t>(i);
    outputs[i].want_float = is_float(expected[i].dtype());
  }
  const auto count = static_cast<uint32_t>(outputs.size());
  RK_TRY(check(rknn_outputs_get(context, count, outputs.data(), nullptr), "rknn_outputs_get"));
  std::vector<Tensor> out;
  Status status;
  for (size_t i = 0; i < outputs.size() && status.ok(); ++i) {
    const auto* bytes = static_cast<const uint8_t*>(outputs[i].buf);
    auto tensor = Tensor::from_bytes(expected[i].type(), {bytes, outputs[i].size});
    status = tensor.status().with_context(str("output ", i));
    if (tensor.ok()) out.push_back(std::move(tensor).value());
  }
  rknn_outputs_release(context, count, outputs.data());
  RK_TRY(status);
  return out;
}

}  // namespace

Result<std::vector<Tensor>> run_rknn(const std::string& model,
                                     const frontends::ImportOptions& options,
                                     const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& expected) {
  for (const auto* list : {&inputs, &expected}) {
    for (const Tensor& tensor : *list) {
      if (!rknn_type(tensor.dtype())) {
        return Status(Code::kUnavailable, str("no C type for ", to_string(tensor.dtype())));
      }
      if (tensor.elements() == 0) return Status(Code::kUnavailable, "an array without elements");
    }
  }
  RK_ASSIGN(std::vector<uint8_t> image, build(model, options));
  return run_image(std::move(image), inputs, expected);
}

Result<std::vector<Tensor>> run_image(std::vector<uint8_t> image, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& expected) {
  Context context;
  RK_TRY(check(
      rknn_init(&context.handle, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
      "rknn_init"));
  RK_TRY(set_inputs(context.handle, inputs));
  RK_TRY(check(rknn_run(context.handle, nullptr), "rknn_run"));
  return get_outputs(context.handle, expected);
}

}  // namespace rk::conformance
