// SPDX-License-Identifier: Apache-2.0
// What both services ask of every call: the token, the session, and a gRPC status for each of ours.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <string>

#include "server/engine/guard.h"
#include "server/engine/store.h"

namespace rk::server {

// What the services share.
struct Shared {
  Store& store;
  std::string token;  // empty: none is asked for
  std::string chip;
  bool model_control = false;  // clients may load and unload the server's own models
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::atomic<uint64_t> inferences{0};
};

inline grpc::Status to_grpc(const rk::Status& status) {
  const auto code = [&] {
    switch (status.code()) {
      case Code::kOk:
        return grpc::StatusCode::OK;
      case Code::kInvalidArgument:
      case Code::kInvalidModel:
      case Code::kInvalidInput:
      case Code::kInvalidOutput:
        return grpc::StatusCode::INVALID_ARGUMENT;
      case Code::kInvalidContext:
        return grpc::StatusCode::NOT_FOUND;
      case Code::kUnsupported:
        return grpc::StatusCode::UNIMPLEMENTED;
      case Code::kTargetMismatch:
        return grpc::StatusCode::FAILED_PRECONDITION;
      case Code::kOutOfMemory:
        return grpc::StatusCode::RESOURCE_EXHAUSTED;
      case Code::kTimeout:
        return grpc::StatusCode::DEADLINE_EXCEEDED;
      case Code::kUnavailable:
        return grpc::StatusCode::UNAVAILABLE;
      case Code::kCancelled:
        return grpc::StatusCode::CANCELLED;
      case Code::kIo:
        break;
    }
    return grpc::StatusCode::INTERNAL;
  }();
  return status.ok() ? grpc::Status::OK : grpc::Status(code, status.message());
}

inline std::string metadata(const grpc::ServerContext& context, const char* key) {
  const auto it = context.client_metadata().find(key);
  return it == context.client_metadata().end() ? std::string()
                                               : std::string(it->second.data(), it->second.size());
}

inline std::string session_of(const grpc::ServerContext& context) {
  return metadata(context, "rknn-session");
}

inline grpc::Status authorize(const grpc::ServerContext& context, const Shared& shared) {
  if (shared.token.empty()) return grpc::Status::OK;
  const std::string given = metadata(context, "authorization");
  if (equal_in_constant_time(given, "Bearer " + shared.token)) return grpc::Status::OK;
  return {grpc::StatusCode::UNAUTHENTICATED,
          given.empty() ? "this server asks for a token: set RKNN_TOKEN_FILE or send "
                          "'authorization: Bearer TOKEN'"
                        : "the token is not this server's"};
}

// Runs the body of a call whose caller may make it; what a library throws becomes a status.
template <typename Body>
grpc::Status answer(const grpc::ServerContext& context, const Shared& shared, const Body& body) {
  if (const grpc::Status status = authorize(context, shared); !status.ok()) return status;
  try {
    return to_grpc(body());
  } catch (const std::bad_alloc&) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the server has no memory left"};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, error.what()};
  }
}

}  // namespace rk::server
