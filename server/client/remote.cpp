// SPDX-License-Identifier: Apache-2.0
// librknn_remote.so: the functions of remote/remote_abi.h over gRPC.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "include/rknn_api.h"
#include "open_inference.grpc.pb.h"
#include "remote/remote_abi.h"
#include "rknn_device.grpc.pb.h"

namespace {

namespace device = openrknn::device;
using rk::Json;

constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr int kFrameBytes = 1 << 20;  // as the server's: tensors come in one frame
constexpr int kAskAfterMs = 5'000;
constexpr int kAnswerWithinMs = 5'000;

// The protocol's names in the order of rknn_tensor_type.
constexpr const char* kDatatypes[] = {"FP32",  "FP16",   "INT8",  "UINT8", "INT16", "UINT16",
                                      "INT32", "UINT32", "INT64", "BOOL",  "",      "BF16"};

int32_t code_of(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return 0;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::FAILED_PRECONDITION:
      return RKNN_REMOTE_INVALID_ARGUMENT;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
      return RKNN_REMOTE_UNAVAILABLE;
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
      return RKNN_REMOTE_REFUSED;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return RKNN_REMOTE_EXHAUSTED;
    case grpc::StatusCode::NOT_FOUND:
      return RKNN_REMOTE_GONE;
    default:
      return RKNN_REMOTE_FAILED;
  }
}

std::string text_of(const Json& options, const char* key) {
  const auto found = options.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

int64_t number_of(const Json& options, const char* key, int64_t otherwise) {
  const auto found = options.find(key);
  return found == nullptr || !found->as_int().has_value() ? otherwise : *found->as_int();
}

Json to_json(const device::TensorAttributes& attr) {
  return Json::object(
      {{"name", attr.name()},
       {"dims", Json::array_of(std::vector<int64_t>(attr.dims().begin(), attr.dims().end()))},
       {"format", attr.format()},
       {"type", attr.type()},
       {"quantization", attr.quantization()},
       {"fraction_bits", attr.fraction_bits()},
       {"zero_point", attr.zero_point()},
       {"scale", static_cast<double>(attr.scale())},
       {"size_bytes", attr.size_bytes()},
       {"size_with_stride_bytes", attr.size_with_stride_bytes()},
       {"width_stride", attr.width_stride()}});
}

template <typename Attrs>
Json attrs_json(const Attrs& attrs) {
  Json out = Json::array();
  for (const auto& attr : attrs) out.push(to_json(attr));
  return out;
}

Json to_json(const device::ModelDescription& model) {
  Json dynamic = Json::array();
  for (const auto& input : model.dynamic()) {
    Json shapes = Json::array();
    for (const auto& shape : input.shapes())
      shapes.push(Json::array_of(std::vector<int64_t>(shape.dims().begin(), shape.dims().end())));
    dynamic.push(std::move(shapes));
  }
  return Json::object({{"name", model.name()},
                       {"inputs", attrs_json(model.inputs())},
                       {"outputs", attrs_json(model.outputs())},
                       {"native_inputs", attrs_json(model.native_inputs())},
                       {"native_outputs", attrs_json(model.native_outputs())},
                       {"dynamic", dynamic},
                       {"weight_bytes", model.memory().weight_bytes()},
                       {"internal_bytes", model.memory().internal_bytes()},
                       {"dma_bytes", model.memory().dma_bytes()},
                       {"sram_bytes", model.memory().sram_bytes()},
                       {"free_sram_bytes", model.memory().free_sram_bytes()},
                       {"api_version", model.api_version()},
                       {"driver_version", model.driver_version()},
                       {"custom_string", model.custom_string()}});
}

}  // namespace

struct rknn_remote {
  std::string address, token, version;
  std::chrono::milliseconds timeout{10'000};
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<inference::GRPCInferenceService::Stub> inference;
  std::unique_ptr<device::RknnDevice::Stub> device;
  // Lives as long as the connection: the server frees the models when it ends.
  std::unique_ptr<grpc::ClientContext> session_context;
  std::unique_ptr<grpc::ClientReaderWriter<device::SessionRequest, device::SessionReply>>
      session_stream;
  std::string session;
  std::string text;
  inference::ModelInferRequest request;
  inference::ModelInferResponse response;

  ~rknn_remote() {
    if (session_stream == nullptr) return;
    session_stream->WritesDone();
    session_context->TryCancel();
    session_stream->Finish();
  }

  void prepare(grpc::ClientContext& context, bool limited = true) const {
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    if (!session.empty()) context.AddMetadata("rknn-session", session);
    if (limited) context.set_deadline(std::chrono::system_clock::now() + timeout);
  }

  int32_t finish(const grpc::Status& status) {
    if (!status.ok()) text = rk::str(address, ": ", status.error_message());
    return code_of(status);
  }

  int32_t open_session() {
    session_context = std::make_unique<grpc::ClientContext>();
    prepare(*session_context, false);
    session_stream = device->Session(session_context.get());
    device::SessionReply reply;
    if (session_stream->Read(&reply)) {
      session = reply.session();
      return 0;
    }
    const grpc::Status status = session_stream->Finish();
    session_stream.reset();
    return finish(status);
  }

  int32_t hello() {
    device::HelloRequest ask;
    ask.set_client_version(version);
    device::HelloReply reply;
    grpc::ClientContext context;
    prepare(context);
    const grpc::Status status = device->Hello(&context, ask, &reply);
    if (!status.ok()) return finish(status);
    Json missing = Json::array();
    for (const std::string& name : reply.missing()) missing.push(name);
    text = rk::write_json(Json::object({{"server_version", reply.server_version()},
                                        {"library_version", reply.library_version()},
                                        {"chip", reply.chip()},
                                        {"missing", missing},
                                        {"max_model_bytes", reply.max_model_bytes()},
                                        {"max_message_bytes", reply.max_message_bytes()}}));
    return 0;
  }

  int32_t load(const Json& options, std::string_view file) {
    if (session.empty()) {
      if (const int32_t code = open_session(); code != 0) return code;
    }
    grpc::ClientContext context;
    prepare(context, false);
    device::ModelDescription description;
    const auto writer = device->Upload(&context, &description);
    device::UploadPiece piece;
    device::UploadBegin* const begin = piece.mutable_begin();
    begin->set_name(text_of(options, "name"));
    begin->set_size_bytes(file.size());
    begin->set_flags(static_cast<uint32_t>(number_of(options, "flags", 0)));
    begin->set_core_mask(static_cast<uint32_t>(number_of(options, "core_mask", 0)));
    bool open = writer->Write(piece);
    piece.clear_begin();
    for (size_t at = 0; open && at < file.size(); at += kPieceBytes) {
      const std::string_view part = file.substr(at, kPieceBytes);
      piece.set_data(part.data(), part.size());
      open = writer->Write(piece);
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!status.ok()) return finish(status);
    text = rk::write_json(to_json(description));
    return 0;
  }

  int32_t status() {
    device::StatusReply reply;
    grpc::ClientContext context;
    prepare(context);
    const grpc::Status status = device->Status(&context, {}, &reply);
    if (!status.ok()) return finish(status);
    text = rk::write_json(Json::object({{"uptime_s", reply.uptime_s()},
                                        {"sessions", reply.sessions()},
                                        {"models", reply.models()},
                                        {"contexts", reply.contexts()},
                                        {"bytes_in_flight", reply.bytes_in_flight()},
                                        {"inferences", reply.inferences()},
                                        {"resident_bytes", reply.resident_bytes()},
                                        {"npu_load", reply.npu_load()}}));
    return 0;
  }

  int32_t named(std::string_view method, const Json& options) {
    device::ModelName ask;
    ask.set_name(text_of(options, "name"));
    const auto shapes = options.find("shapes");
    for (size_t i = 0; shapes != nullptr && i < shapes->size(); ++i) {
      device::Shape* const shape = ask.add_shapes();
      for (size_t d = 0; d < shapes->at(i)->size(); ++d)
        shape->add_dims(shapes->at(i)->at(d)->as_int().value_or(-1));
    }
    grpc::ClientContext context;
    prepare(context);
    if (method == "unload") {
      device::Done done;
      text = "null";
      return finish(device->Unload(&context, ask, &done));
    }
    if (method == "describe") {
      device::ModelDescription description;
      const grpc::Status status = device->Describe(&context, ask, &description);
      if (status.ok()) text = rk::write_json(to_json(description));
      return finish(status);
    }
    device::PerformanceReply reply;
    const grpc::Status status = device->Performance(&context, ask, &reply);
    if (status.ok())
      text = rk::write_json(Json::object({{"run_us", reply.run_us()}, {"detail", reply.detail()}}));
    return finish(status);
  }

  int32_t call(std::string_view method, const Json& options, std::string_view bytes) {
    if (method == "hello") return hello();
    if (method == "load") return load(options, bytes);
    if (method == "status") return status();
    if (method == "unload" || method == "describe" || method == "performance")
      return named(method, options);
    text = rk::str("there is no method '", method, "'");
    return RKNN_REMOTE_INVALID_ARGUMENT;
  }

  int32_t infer(const char* model, const rknn_remote_tensor* inputs, uint32_t input_count,
                rknn_remote_tensor* outputs, uint32_t* output_count, uint32_t capacity) {
    request.Clear();
    request.set_model_name(model);
    for (uint32_t i = 0; i < input_count; ++i) {
      const rknn_remote_tensor& from = inputs[i];
      auto* const to = request.add_inputs();
      to->set_name(from.name);
      const bool known = from.type >= 0 && from.type < static_cast<int32_t>(std::size(kDatatypes));
      to->set_datatype(known ? kDatatypes[from.type] : "");
      for (uint32_t d = 0; d < std::min(from.rank, 16u); ++d) to->add_shape(from.dims[d]);
      if (from.format == RKNN_TENSOR_NCHW)
        (*to->mutable_parameters())["format"].set_string_param("nchw");
      if (from.format == RKNN_TENSOR_NHWC)
        (*to->mutable_parameters())["format"].set_string_param("nhwc");
      if (from.native != 0) (*to->mutable_parameters())["pass_through"].set_bool_param(true);
      request.add_raw_input_contents(from.data, from.size_bytes);
    }
    for (uint32_t i = 0; i < *output_count; ++i) {
      auto* const wish = request.add_outputs();
      wish->set_name(outputs[i].name);
      if (outputs[i].native != 0) (*wish->mutable_parameters())["native"].set_bool_param(true);
    }
    grpc::ClientContext context;
    prepare(context, false);  // a run takes as long as it takes; a broken connection ends it
    response.Clear();
    const grpc::Status status = inference->ModelInfer(&context, request, &response);
    if (!status.ok()) return finish(status);
    return hand_out(outputs, output_count, capacity);
  }

  // Nothing of the answer is trusted: sizes must be those of shape and type.
  int32_t hand_out(rknn_remote_tensor* outputs, uint32_t* output_count, uint32_t capacity) {
    const auto fail = [&](const char* why) {
      text = rk::str(address, ": the answer of the server ", why);
      return RKNN_REMOTE_FAILED;
    };
    if (response.outputs_size() != response.raw_output_contents_size())
      return fail("has no bytes for an output");
    if (static_cast<uint32_t>(response.outputs_size()) > capacity)
      return fail("has too many outputs");
    for (int i = 0; i < response.outputs_size(); ++i) {
      const auto& from = response.outputs(i);
      rknn_remote_tensor& to = outputs[i];
      to.name = from.name().c_str();
      const auto* const type = std::ranges::find(
          kDatatypes, from.datatype(), [](const char* name) { return std::string_view(name); });
      if (type == std::end(kDatatypes) || from.datatype().empty() || from.shape_size() > 16)
        return fail("has an output of a type that does not exist");
      to.type = static_cast<int32_t>(type - kDatatypes);
      to.rank = static_cast<uint32_t>(from.shape_size());
      std::copy(from.shape().begin(), from.shape().end(), to.dims);
      to.data = response.raw_output_contents(i).data();
      to.size_bytes = response.raw_output_contents(i).size();
    }
    *output_count = static_cast<uint32_t>(response.outputs_size());
    return 0;
  }
};

namespace {

// What a library throws ends here.
template <typename Body>
int32_t guarded(rknn_remote* remote, const Body& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    remote->text = error.what();
    return RKNN_REMOTE_FAILED;
  }
}

int32_t connect(rknn_remote& remote, const char* text) {
  const auto options = rk::parse_json(text);
  if (!options.ok()) {
    remote.text = options.status().message();
    return RKNN_REMOTE_INVALID_ARGUMENT;
  }
  remote.address = text_of(*options, "address");
  remote.token = text_of(*options, "token");
  remote.version = text_of(*options, "version");
  remote.timeout = std::chrono::milliseconds(number_of(*options, "timeout_ms", 10'000));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kAskAfterMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kAnswerWithinMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // Boards are reached directly, whatever http_proxy says; and no two connections share one channel.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kFrameBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::shared_ptr<grpc::ChannelCredentials> secrets = grpc::InsecureChannelCredentials();
  if (!text_of(*options, "tls_ca").empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = text_of(*options, "tls_ca");
    tls.pem_cert_chain = text_of(*options, "tls_cert");
    tls.pem_private_key = text_of(*options, "tls_key");
    secrets = grpc::SslCredentials(tls);
  }
  remote.channel = grpc::CreateCustomChannel(remote.address, secrets, arguments);
  remote.inference = inference::GRPCInferenceService::NewStub(remote.channel);
  remote.device = device::RknnDevice::NewStub(remote.channel);
  return remote.hello();
}

}  // namespace

#define RK_REMOTE_EXPORT extern "C" __attribute__((visibility("default")))

RK_REMOTE_EXPORT int32_t rknn_remote_abi_version(void) { return RKNN_REMOTE_ABI_VERSION; }

RK_REMOTE_EXPORT int32_t rknn_remote_open(const char* options, rknn_remote** out) {
  *out = new (std::nothrow) rknn_remote;
  if (*out == nullptr) return RKNN_REMOTE_FAILED;
  return guarded(*out, [&] { return connect(**out, options); });
}

RK_REMOTE_EXPORT void rknn_remote_close(rknn_remote* remote) { delete remote; }

RK_REMOTE_EXPORT int32_t rknn_remote_call(rknn_remote* remote, const char* method,
                                          const char* options, const void* bytes,
                                          uint64_t size_bytes) {
  return guarded(remote, [&]() -> int32_t {
    const auto parsed = rk::parse_json(options);
    if (!parsed.ok()) {
      remote->text = parsed.status().message();
      return RKNN_REMOTE_INVALID_ARGUMENT;
    }
    return remote->call(method, *parsed, {static_cast<const char*>(bytes), size_bytes});
  });
}

RK_REMOTE_EXPORT int32_t rknn_remote_infer(rknn_remote* remote, const char* model,
                                           const rknn_remote_tensor* inputs, uint32_t input_count,
                                           rknn_remote_tensor* outputs, uint32_t* output_count,
                                           uint32_t capacity) {
  return guarded(remote, [&] {
    return remote->infer(model, inputs, input_count, outputs, output_count, capacity);
  });
}

RK_REMOTE_EXPORT const char* rknn_remote_text(const rknn_remote* remote) {
  return remote->text.c_str();
}
