// SPDX-License-Identifier: Apache-2.0
#include "server/service/serve.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "base/version.h"
#include "server/service/device_service.h"
#include "server/service/inference_service.h"

namespace rk::server {
namespace {

#define RK_SERVER_VERSION RK_API_VERSION " (openrknn@" RK_RELEASE_DATE ")"
constexpr char kMark[] = "rknn_server version: " RK_SERVER_VERSION;
constexpr size_t kMarkName = sizeof "rknn_server version: " - 1;

// A connection that says nothing for so long is asked whether it lives; one that does not answer is closed, and its
// sessions end.
constexpr int kAskAfterMs = 10'000;
constexpr int kAnswerWithinMs = 5'000;
constexpr int kClientMayAskEveryMs = 1'000;
constexpr int kHandshakeMs = 10'000;
// Of sessions and uploads, which hold one each, and calls that wait for a context.
constexpr int kSpareThreads = 32;
// A picture comes in one frame, without waiting for gRPC to guess the connection's speed.
constexpr int kFrameBytes = 1 << 20;
// One queue: the thread that reads a call also runs it, which saves a change of threads. More wait for the next one.
constexpr int kQueues = 1;
constexpr int kMostPollers = 4;

Result<std::string> text_file(const std::string& path) {
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path));
  return std::string(bytes.begin(), bytes.end());
}

Result<std::shared_ptr<grpc::ServerCredentials>> credentials(const ServeOptions& options) {
  if (options.tls_certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls;
  grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
  RK_ASSIGN(pair.private_key, text_file(options.tls_key));
  RK_ASSIGN(pair.cert_chain, text_file(options.tls_certificate));
  tls.pem_key_cert_pairs.push_back(std::move(pair));
  if (!options.tls_client_ca.empty()) {
    RK_ASSIGN(tls.pem_root_certs, text_file(options.tls_client_ca));
    tls.client_certificate_request = GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  return grpc::SslServerCredentials(tls);
}

std::string listening_text(const ServeOptions& options) {
  if (options.address.starts_with("unix:")) return options.address;
  const bool v6 = options.address.find(':') != std::string::npos && options.address.front() != '[';
  return v6 ? str("[", options.address, "]:", options.port)
            : str(options.address, ":", options.port);
}

}  // namespace

const char* version_line() { return kMark; }
const char* version_text() { return kMark + kMarkName; }

Status check_access(const ServeOptions& options) {
  if (options.tls_certificate.empty() != options.tls_key.empty())
    return invalid_argument("--tls-cert and --tls-key go together");
  if (!options.tls_client_ca.empty() && options.tls_certificate.empty())
    return invalid_argument("--tls-client-ca needs --tls-cert and --tls-key");
  if (is_local_address(options.address) || !options.token_file.empty() ||
      !options.tls_client_ca.empty())
    return ok_status();
  return invalid_argument(str("--address ", options.address,
                              " can be reached by others: give --token-file, or "
                              "--tls-cert, --tls-key and --tls-client-ca"));
}

Status serve(Store& store, const ServeOptions& options) {
  RK_TRY(check_access(options));
  Shared shared{
      .store = store, .token = {}, .chip = options.chip, .model_control = options.model_control};
  if (!options.token_file.empty()) {
    RK_ASSIGN(shared.token, read_token(options.token_file));
    if (options.tls_certificate.empty() && !is_local_address(options.address)) {
      log(LogLevel::kWarning,
          "the token travels in clear text: anybody on the way can read it; --tls-cert and "
          "--tls-key prevent that");
    }
  }
  // Taken by sigtimedwait below, in no thread of gRPC's.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  InferenceService inference(shared);
  DeviceService device(shared);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  const Limits& limits = store.limits();
  grpc::ResourceQuota quota("rknn_server");
  quota.Resize(limits.max_bytes_in_flight + limits.max_message_bytes);
  quota.SetMaxThreads(static_cast<int>(limits.max_sessions + limits.max_waiting) + kSpareThreads);
  grpc::ServerBuilder builder;
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<uint64_t>(limits.max_message_bytes, INT32_MAX)));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kAskAfterMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kAnswerWithinMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kClientMayAskEveryMs);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT,
                             0);  // a second server on the port is an error
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kFrameBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, kQueues);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, kMostPollers);
  RK_ASSIGN(const auto secrets, credentials(options));
  const std::string address = listening_text(options);
  int port = 0;
  builder.AddListeningPort(address, secrets, &port);
  builder.RegisterService(&inference);
  builder.RegisterService(&device);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const bool socket = options.address.starts_with("unix:");
  if (server == nullptr || (port == 0 && !socket))
    return {Code::kUnavailable,
            str("cannot listen on ", address, ": is it in use, or not this machine's?")};
  std::puts(version_line());
  std::printf("library: %s, version %s\n", store.library().path().c_str(),
              store.library().version().empty() ? "unknown" : store.library().version().c_str());
  if (socket)
    std::printf("listening on %s\n", address.c_str());
  else
    std::printf("listening on %s port %d\n", options.address.c_str(), port);
  std::fflush(stdout);
  if (!options.port_file.empty()) {
    const std::string text = str(port, "\n");
    RK_TRY(write_file(options.port_file,
                      {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  }
  const timespec one_second{1, 0};
  while (sigtimedwait(&ends, nullptr, &one_second) < 0) {
    store.end_idle_sessions();
    device.end_slow_uploads();
  }
  log(LogLevel::kInfo, "told to end");
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  server->Wait();
  return ok_status();
}

}  // namespace rk::server
