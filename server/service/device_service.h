// SPDX-License-Identifier: Apache-2.0
// RknnDevice: sessions, models sent in pieces, and what rknn_query answers.
#pragma once

#include <map>
#include <mutex>

#include "rknn_device.grpc.pb.h"
#include "server/service/call.h"

namespace rk::server {

class DeviceService final : public openrknn::device::RknnDevice::Service {
 public:
  explicit DeviceService(Shared& shared) : shared_(shared) {}

  using SessionStream =
      grpc::ServerReaderWriter<openrknn::device::SessionReply, openrknn::device::SessionRequest>;
  using Pieces = grpc::ServerReader<openrknn::device::UploadPiece>;

  grpc::Status Hello(grpc::ServerContext*, const openrknn::device::HelloRequest*,
                     openrknn::device::HelloReply*) override;
  grpc::Status Session(grpc::ServerContext*, SessionStream*) override;
  grpc::Status Upload(grpc::ServerContext*, Pieces*, openrknn::device::ModelDescription*) override;
  grpc::Status Unload(grpc::ServerContext*, const openrknn::device::ModelName*,
                      openrknn::device::Done*) override;
  grpc::Status Describe(grpc::ServerContext*, const openrknn::device::ModelName*,
                        openrknn::device::ModelDescription*) override;
  grpc::Status Performance(grpc::ServerContext*, const openrknn::device::ModelName*,
                           openrknn::device::PerformanceReply*) override;
  grpc::Status Status(grpc::ServerContext*, const openrknn::device::StatusRequest*,
                      openrknn::device::StatusReply*) override;

  // Ends those that take longer than their limit, with CANCELLED; called from time to time.
  void end_slow_uploads();

 private:
  rk::Status upload(grpc::ServerContext& context, Pieces& pieces,
                    openrknn::device::ModelDescription& description);

  Shared& shared_;
  std::mutex uploads_mutex_;
  std::map<grpc::ServerContext*, std::chrono::steady_clock::time_point> uploads_;  // their starts
};

}  // namespace rk::server
