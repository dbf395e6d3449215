// SPDX-License-Identifier: Apache-2.0
#include "server/service/device_service.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "server/service/serve.h"

namespace rk::server {
namespace {

namespace device = openrknn::device;

// Memory for an upload grows with what has arrived: a client that only announces a size takes nothing.
constexpr uint64_t kFirstBytes = uint64_t{4} << 20;
constexpr size_t kUploadsAtOnce = 16;

void describe(const rknn_tensor_attr& attr, device::TensorAttributes* to) {
  to->set_name(attr.name, strnlen(attr.name, sizeof attr.name));
  for (uint32_t d = 0; d < attr.n_dims && d < RKNN_MAX_DIMS; ++d) to->add_dims(attr.dims[d]);
  to->set_format(attr.fmt);
  to->set_type(attr.type);
  to->set_quantization(attr.qnt_type);
  to->set_fraction_bits(attr.fl);
  to->set_zero_point(attr.zp);
  to->set_scale(attr.scale);
  to->set_size_bytes(attr.size);
  to->set_size_with_stride_bytes(attr.size_with_stride);
  to->set_width_stride(attr.w_stride);
}

void describe(const std::string& name, const Model& model, device::ModelDescription& to) {
  to.set_name(name);
  for (const auto& attr : model.inputs()) describe(attr, to.add_inputs());
  for (const auto& attr : model.outputs()) describe(attr, to.add_outputs());
  for (const auto& attr : model.native_inputs()) describe(attr, to.add_native_inputs());
  for (const auto& attr : model.native_outputs()) describe(attr, to.add_native_outputs());
  for (const rknn_input_range& range : model.ranges()) {
    device::InputShapes* const shapes = to.add_dynamic();
    for (uint32_t k = 0; k < range.shape_number; ++k) {
      device::Shape* const shape = shapes->add_shapes();
      for (uint32_t d = 0; d < range.n_dims; ++d) shape->add_dims(range.dyn_range[k][d]);
    }
  }
  device::MemorySizes* const memory = to.mutable_memory();
  memory->set_weight_bytes(model.memory().total_weight_size);
  memory->set_internal_bytes(model.memory().total_internal_size);
  memory->set_dma_bytes(model.memory().total_dma_allocated_size);
  memory->set_sram_bytes(model.memory().total_sram_size);
  memory->set_free_sram_bytes(model.memory().free_sram_size);
  to.set_api_version(model.versions().api_version);
  to.set_driver_version(model.versions().drv_version);
  to.set_custom_string(model.custom_string());
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

uint64_t resident_bytes() {
  std::istringstream fields(first_line("/proc/self/statm"));
  uint64_t total = 0, resident = 0;
  fields >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

grpc::Status DeviceService::Hello(grpc::ServerContext* context, const device::HelloRequest* request,
                                  device::HelloReply* reply) {
  return answer(*context, shared_, [&] {
    log(LogLevel::kInfo,
        str("hello from ", context->peer(), ", client ", request->client_version()));
    reply->set_server_version(version_text());
    reply->set_library_version(shared_.store.library().version());
    reply->set_chip(shared_.chip);
    for (const std::string& name : shared_.store.library().missing()) reply->add_missing(name);
    reply->set_max_model_bytes(shared_.store.limits().max_model_bytes);
    reply->set_max_message_bytes(shared_.store.limits().max_message_bytes);
    return ok_status();
  });
}

grpc::Status DeviceService::Session(grpc::ServerContext* context, SessionStream* stream) {
  std::string name;
  std::atomic<bool> idle{false};
  const grpc::Status status = answer(*context, shared_, [&]() -> rk::Status {
    RK_ASSIGN(name, shared_.store.open_session([&, context] {
      idle = true;
      context->TryCancel();
    }));
    return ok_status();
  });
  if (!status.ok()) return status;
  device::SessionReply reply;
  reply.set_session(name);
  stream->Write(reply);
  // Until the client ends it, dies, or its connection does.
  device::SessionRequest ignored;
  while (stream->Read(&ignored)) {
  }
  shared_.store.close_session(name);
  log(LogLevel::kInfo, str("session of ", context->peer(), " ended", idle ? ": it was idle" : ""));
  return idle ? grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED,
                             "the session was idle for too long")
              : grpc::Status::OK;
}

rk::Status DeviceService::upload(grpc::ServerContext& context, Pieces& pieces,
                                 device::ModelDescription& description) {
  device::UploadPiece piece;
  if (!pieces.Read(&piece) || !piece.has_begin())
    return invalid_argument("an upload starts with a piece that has `begin`");
  const device::UploadBegin begin = piece.begin();
  const uint64_t size = begin.size_bytes();
  if (begin.name().empty()) return invalid_argument("the model has no name");
  if (size == 0 || size > shared_.store.limits().max_model_bytes) {
    return out_of_memory(str("a model of ", size, " bytes; the server takes up to ",
                             shared_.store.limits().max_model_bytes, " (--max-model-bytes)"));
  }
  // Before the bytes come: a client without a session has no place for them.
  RK_TRY(shared_.store.index(session_of(context)).status());
  if (session_of(context).empty()) return invalid_argument("an upload needs a session");
  Share bytes(shared_.store.bytes_in_flight());
  if (!bytes.take(size)) {
    return out_of_memory(
        "the server holds as many bytes of calls and uploads as it may: try again later or raise "
        "--max-bytes-in-flight");
  }
  std::string file;
  file.reserve(std::min(size, kFirstBytes));
  do {
    if (piece.data().size() > size - file.size())
      return invalid_argument(
          str("the model has more than the ", size, " bytes that were announced"));
    file += piece.data();
  } while (pieces.Read(&piece));
  if (file.size() != size)
    return invalid_argument(
        str("the model has ", file.size(), " of the ", size, " bytes announced"));
  ModelOptions options;
  options.flags = begin.flags();
  options.core_mask = begin.core_mask();
  RK_ASSIGN(const auto model, shared_.store.load(session_of(context), begin.name(), file, options));
  describe(begin.name(), *model, description);
  return ok_status();
}

grpc::Status DeviceService::Upload(grpc::ServerContext* context, Pieces* pieces,
                                   device::ModelDescription* description) {
  // Each upload under way holds a thread: a slow sender must not take them all.
  {
    const std::lock_guard lock(uploads_mutex_);
    if (uploads_.size() >= kUploadsAtOnce)
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many uploads at once: try again later"};
    uploads_[context] = std::chrono::steady_clock::now();
  }
  const grpc::Status status =
      answer(*context, shared_, [&] { return upload(*context, *pieces, *description); });
  const std::lock_guard lock(uploads_mutex_);
  uploads_.erase(context);
  return status;
}

void DeviceService::end_slow_uploads() {
  const auto oldest =
      std::chrono::steady_clock::now() - std::chrono::seconds(shared_.store.limits().upload_s);
  const std::lock_guard lock(uploads_mutex_);
  for (const auto& [context, start] : uploads_) {
    if (start >= oldest) continue;
    log(LogLevel::kWarning, str("an upload of ", context->peer(), " takes too long: it is ended"));
    context->TryCancel();
  }
}

grpc::Status DeviceService::Unload(grpc::ServerContext* context, const device::ModelName* request,
                                   device::Done*) {
  return answer(*context, shared_,
                [&] { return shared_.store.unload(session_of(*context), request->name()); });
}

grpc::Status DeviceService::Describe(grpc::ServerContext* context, const device::ModelName* request,
                                     device::ModelDescription* description) {
  return answer(*context, shared_, [&]() -> rk::Status {
    RK_ASSIGN(const auto model, shared_.store.find(session_of(*context), request->name()));
    describe(request->name(), *model, *description);
    if (request->shapes_size() == 0) return ok_status();
    std::vector<std::vector<int64_t>> shapes;
    for (const device::Shape& shape : request->shapes())
      shapes.emplace_back(shape.dims().begin(), shape.dims().end());
    RK_ASSIGN(const auto outputs, model->outputs_for(shapes));
    description->clear_outputs();
    for (const auto& attr : outputs) describe(attr, description->add_outputs());
    return ok_status();
  });
}

grpc::Status DeviceService::Performance(grpc::ServerContext* context,
                                        const device::ModelName* request,
                                        device::PerformanceReply* reply) {
  return answer(*context, shared_, [&]() -> rk::Status {
    RK_ASSIGN(const auto model, shared_.store.find(session_of(*context), request->name()));
    RK_ASSIGN(const rk::server::Performance performance, model->performance());
    reply->set_run_us(performance.run_us);
    reply->set_detail(performance.detail);
    return ok_status();
  });
}

grpc::Status DeviceService::Status(grpc::ServerContext* context, const device::StatusRequest*,
                                   device::StatusReply* reply) {
  return answer(*context, shared_, [&] {
    const auto up = std::chrono::steady_clock::now() - shared_.start;
    reply->set_uptime_s(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(up).count()));
    reply->set_sessions(shared_.store.session_count());
    reply->set_models(shared_.store.model_count());
    reply->set_contexts(shared_.store.context_count());
    reply->set_bytes_in_flight(shared_.store.bytes_in_flight().taken());
    reply->set_inferences(shared_.inferences);
    reply->set_resident_bytes(resident_bytes());
    reply->set_npu_load(first_line("/sys/kernel/debug/rknpu/load"));
    return ok_status();
  });
}

}  // namespace rk::server
