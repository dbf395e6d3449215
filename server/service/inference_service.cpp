// SPDX-License-Identifier: Apache-2.0
#include "server/service/inference_service.h"

#include "server/service/datatype.h"
#include "server/service/serve.h"

namespace rk::server {
namespace {

using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;

constexpr const char* kVersion = "1";

Status check_version(const std::string& version) {
  if (version.empty() || version == kVersion) return ok_status();
  return {Code::kInvalidContext,
          str("version '", version, "' does not exist; a model has version 1 only")};
}

bool flag(const Parameters& parameters, const char* name) {
  const auto it = parameters.find(name);
  if (it == parameters.end()) return false;
  return it->second.bool_param() || it->second.int64_param() != 0;
}

Result<rknn_tensor_format> format_of(const Parameters& parameters, const std::string& input) {
  const auto it = parameters.find("format");
  if (it == parameters.end()) return RKNN_TENSOR_UNDEFINED;
  const std::string& text = it->second.string_param();
  if (text == "nchw" || text == "NCHW") return RKNN_TENSOR_NCHW;
  if (text == "nhwc" || text == "NHWC") return RKNN_TENSOR_NHWC;
  return invalid_argument(str("input '", input, "': format '", text, "', expect 'nhwc' or 'nchw'"));
}

// What an application feeds. Any other type is converted on the device as well.
std::string_view fed_type(const rknn_tensor_attr& attr) {
  if (!is_real(attr)) return to_datatype(attr.type);
  return attr.fmt == RKNN_TENSOR_NHWC && attr.n_dims == 4 ? "UINT8" : "FP32";
}

// Whether the shapes of an input differ here.
bool varies(const rknn_input_range& range, uint32_t dimension) {
  for (uint32_t k = 1; k < range.shape_number; ++k) {
    if (range.dyn_range[k][dimension] != range.dyn_range[0][dimension]) return true;
  }
  return false;
}

// `unknown` (dimension) ones are -1.
template <typename To, typename Unknown>
void describe(const rknn_tensor_attr& attr, std::string_view datatype, const Unknown& unknown,
              To* to) {
  to->set_name(attr.name, strnlen(attr.name, sizeof attr.name));
  to->set_datatype(datatype.data(), datatype.size());
  for (uint32_t d = 0; d < attr.n_dims && d < RKNN_MAX_DIMS; ++d)
    to->add_shape(unknown(d) ? -1 : static_cast<int64_t>(attr.dims[d]));
}

// The tensors of a request, with the bytes made of typed contents where those are used.
struct Fed {
  std::vector<InputTensor> tensors;
  std::vector<std::string> packed;
  bool raw = false;
};

Status read_inputs(const inference::ModelInferRequest& request, Fed& out) {
  out.raw = request.raw_input_contents_size() != 0;
  if (out.raw && request.raw_input_contents_size() != request.inputs_size()) {
    return invalid_argument(str(request.inputs_size(), " inputs with ",
                                request.raw_input_contents_size(),
                                " raw_input_contents: give one per input, or none"));
  }
  out.packed.reserve(static_cast<size_t>(request.inputs_size()));
  for (int i = 0; i < request.inputs_size(); ++i) {
    const auto& input = request.inputs(i);
    InputTensor tensor;
    tensor.name = input.name();
    const auto type = from_datatype(input.datatype());
    if (!type) {
      return unsupported(str("input '", input.name(), "': the runtime takes no datatype '",
                             input.datatype(), "'"));
    }
    tensor.type = *type;
    RK_ASSIGN(tensor.format, format_of(input.parameters(), input.name()));
    tensor.pass_through = flag(input.parameters(), "pass_through");
    tensor.shape = {input.shape().data(), static_cast<size_t>(input.shape_size())};
    if (out.raw) {
      if (input.has_contents())
        return invalid_argument(
            str("input '", input.name(), "' has contents beside raw_input_contents"));
      tensor.bytes = request.raw_input_contents(i);
    } else {
      RK_ASSIGN(std::string bytes, bytes_of(input.contents(), *type));
      out.packed.push_back(std::move(bytes));
      tensor.bytes = out.packed.back();
    }
    out.tensors.push_back(tensor);
  }
  return ok_status();
}

}  // namespace

grpc::Status InferenceService::ServerLive(grpc::ServerContext* context,
                                          const inference::ServerLiveRequest*,
                                          inference::ServerLiveResponse* response) {
  return answer(*context, shared_, [&] {
    response->set_live(true);
    return ok_status();
  });
}

grpc::Status InferenceService::ServerReady(grpc::ServerContext* context,
                                           const inference::ServerReadyRequest*,
                                           inference::ServerReadyResponse* response) {
  return answer(*context, shared_, [&] {
    response->set_ready(true);
    return ok_status();
  });
}

grpc::Status InferenceService::ServerMetadata(grpc::ServerContext* context,
                                              const inference::ServerMetadataRequest*,
                                              inference::ServerMetadataResponse* response) {
  return answer(*context, shared_, [&] {
    response->set_name("rknn_server");
    response->set_version(version_text());
    response->add_extensions("model_repository");
    response->add_extensions("openrknn.device.RknnDevice");
    return ok_status();
  });
}

grpc::Status InferenceService::ModelReady(grpc::ServerContext* context,
                                          const inference::ModelReadyRequest* request,
                                          inference::ModelReadyResponse* response) {
  return answer(*context, shared_, [&] {
    response->set_ready(check_version(request->version()).ok() &&
                        shared_.store.find(session_of(*context), request->name()).ok());
    return ok_status();
  });
}

grpc::Status InferenceService::ModelMetadata(grpc::ServerContext* context,
                                             const inference::ModelMetadataRequest* request,
                                             inference::ModelMetadataResponse* response) {
  return answer(*context, shared_, [&]() -> Status {
    RK_TRY(check_version(request->version()));
    RK_ASSIGN(const auto model, shared_.store.find(session_of(*context), request->name()));
    response->set_name(request->name());
    response->add_versions(kVersion);
    response->set_platform("rknn");
    const auto& ranges = model->ranges();
    for (size_t i = 0; i < model->inputs().size(); ++i) {
      const rknn_tensor_attr& attr = model->inputs()[i];
      describe(
          attr, fed_type(attr), [&](uint32_t d) { return !ranges.empty() && varies(ranges[i], d); },
          response->add_inputs());
    }
    // Those of outputs are known once the inputs' are chosen.
    for (const rknn_tensor_attr& attr : model->outputs())
      describe(
          attr, is_real(attr) ? "FP32" : to_datatype(attr.type),
          [&](uint32_t) { return !ranges.empty(); }, response->add_outputs());
    return ok_status();
  });
}

Status InferenceService::infer(const grpc::ServerContext& context,
                               const inference::ModelInferRequest& request,
                               inference::ModelInferResponse& response) {
  const Limits& limits = shared_.store.limits();
  const auto tensors =
      static_cast<uint64_t>(request.inputs_size()) + static_cast<uint64_t>(request.outputs_size());
  if (tensors > limits.max_tensors) {
    return out_of_memory(str(tensors, " tensors in one call; the server takes ", limits.max_tensors,
                             " (--max-tensors)"));
  }
  RK_TRY(check_version(request.model_version()));
  RK_ASSIGN(const auto model, shared_.store.find(session_of(context), request.model_name()));
  Share bytes(shared_.store.bytes_in_flight());
  if (!bytes.take(request.ByteSizeLong())) {
    return out_of_memory(
        str("the server holds ", shared_.store.bytes_in_flight().taken(),
            " bytes of calls under way: try again later or raise --max-bytes-in-flight"));
  }
  Fed fed;
  RK_TRY(read_inputs(request, fed));
  std::vector<OutputWish> wishes;
  for (const auto& output : request.outputs())
    wishes.push_back({output.name(), flag(output.parameters(), "native")});
  RK_ASSIGN(std::vector<OutputTensor> outputs, model->infer(fed.tensors, wishes, limits.max_waiting,
                                                            [&] { return context.IsCancelled(); }));
  response.set_model_name(request.model_name());
  response.set_model_version(kVersion);
  response.set_id(request.id());
  // Either all outputs are bytes or none is: that is the protocol's rule.
  bool raw = fed.raw;
  for (const OutputTensor& output : outputs) {
    raw = raw || output.type == RKNN_TENSOR_FLOAT16 || output.type == RKNN_TENSOR_BFLOAT16;
  }
  for (OutputTensor& output : outputs) {
    auto* const to = response.add_outputs();
    to->set_name(std::move(output.name));
    const std::string_view datatype = to_datatype(output.type);
    to->set_datatype(datatype.data(), datatype.size());
    for (const int64_t dim : output.shape) to->add_shape(dim);
    if (raw) {
      response.add_raw_output_contents(std::move(output.bytes));
    } else {
      fill_contents(output.type, output.bytes, *to->mutable_contents());
    }
  }
  ++shared_.inferences;
  return ok_status();
}

grpc::Status InferenceService::ModelInfer(grpc::ServerContext* context,
                                          const inference::ModelInferRequest* request,
                                          inference::ModelInferResponse* response) {
  return answer(*context, shared_, [&] { return infer(*context, *request, *response); });
}

grpc::Status InferenceService::RepositoryIndex(grpc::ServerContext* context,
                                               const inference::RepositoryIndexRequest* request,
                                               inference::RepositoryIndexResponse* response) {
  return answer(*context, shared_, [&]() -> Status {
    RK_ASSIGN(const auto entries, shared_.store.index(session_of(*context)));
    for (const Store::Entry& entry : entries) {
      if (request->ready() && !entry.reason.empty()) continue;
      auto* const model = response->add_models();
      model->set_name(entry.name);
      model->set_version(kVersion);
      model->set_state(entry.reason.empty() ? "READY" : "UNAVAILABLE");
      model->set_reason(entry.reason);
    }
    return ok_status();
  });
}

// With a session and one parameter of bytes (any name, as in "file:1/model.rknn"): a model of the client's own.
// Otherwise one of the server's folder.
grpc::Status InferenceService::RepositoryModelLoad(
    grpc::ServerContext* context, const inference::RepositoryModelLoadRequest* request,
    inference::RepositoryModelLoadResponse* response) {
  return answer(*context, shared_, [&]() -> Status {
    const std::string* file = nullptr;
    for (const auto& [key, parameter] : request->parameters()) {
      if (parameter.parameter_choice_case() != inference::ModelRepositoryParameter::kBytesParam)
        continue;
      if (file != nullptr) return invalid_argument("a model is one file; several were sent");
      file = &parameter.bytes_param();
    }
    response->set_model_name(request->model_name());
    response->set_isloaded(true);
    if (file == nullptr) return shared_.store.load_public(request->model_name());
    if (session_of(*context).empty()) {
      return unsupported(
          "models sent by a client belong to a session (openrknn.device.RknnDevice.Session); "
          "without one, name a model of the server's folder");
    }
    if (file->size() > shared_.store.limits().max_model_bytes)
      return out_of_memory(
          str("a model of ", file->size(), " bytes is larger than --max-model-bytes"));
    return shared_.store.load(session_of(*context), request->model_name(), *file, {}).status();
  });
}

grpc::Status InferenceService::RepositoryModelUnload(
    grpc::ServerContext* context, const inference::RepositoryModelUnloadRequest* request,
    inference::RepositoryModelUnloadResponse* response) {
  bool forbidden = false;
  const grpc::Status status = answer(*context, shared_, [&]() -> Status {
    const std::string session = session_of(*context);
    response->set_model_name(request->model_name());
    response->set_isunloaded(true);
    if (!session.empty()) return shared_.store.unload(session, request->model_name());
    forbidden = !shared_.model_control;
    return forbidden ? ok_status() : shared_.store.unload_public(request->model_name());
  });
  if (!forbidden) return status;
  return {grpc::StatusCode::PERMISSION_DENIED,
          "the server's own models are everybody's; it lets clients unload them when started with "
          "--model-control"};
}

}  // namespace rk::server
