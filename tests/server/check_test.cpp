// SPDX-License-Identifier: Apache-2.0
// What `make check-server` asks of a running server: damaged messages, what one call costs over the network, throughput
// of 64 connections. Speaks gRPC itself, without the client library.
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "include/rknn_api.h"
#include "open_inference.grpc.pb.h"
#include "rknn_device.grpc.pb.h"
#include "tests/e2e/figure.h"
#include "tests/server/models.h"
#include "tests/server/server_process.h"

namespace rk::server_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kConnections = 64;
constexpr int kMalformed = 100'000;  // RK_SERVER_MALFORMED: another number, for slow builds
constexpr int64_t kSide = 224;       // of pictures: 150528 bytes
constexpr int kGrowthMib = 32;       // RK_SERVER_GROWTH_MIB: another number, for sanitized builds

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double at_fraction(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(fraction * static_cast<double>(values.size() - 1))];
}

int number_or(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

std::shared_ptr<grpc::Channel> channel_to(const ServerProcess& server) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(server.device().address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

inference::ModelMetadataResponse metadata_of(const ServerProcess& server, const char* model) {
  grpc::ClientContext context;
  inference::ModelMetadataRequest ask;
  ask.set_name(model);
  inference::ModelMetadataResponse about;
  EXPECT_TRUE(inference::GRPCInferenceService::NewStub(channel_to(server))
                  ->ModelMetadata(&context, ask, &about)
                  .ok());
  return about;
}

grpc::Status call(grpc::Channel& channel, const std::string& method, const std::string& bytes,
                  const std::string& token) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  const grpc::internal::RpcMethod rpc(method.c_str(), nullptr,
                                      grpc::internal::RpcMethod::NORMAL_RPC);
  return grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer, grpc::ByteBuffer,
                                           grpc::ByteBuffer>(&channel, rpc, &context, request,
                                                             &response);
}

inference::ModelInferRequest picture_request(const std::string& model, int64_t height,
                                             int64_t width) {
  inference::ModelInferRequest out;
  out.set_model_name(model);
  auto* const input = out.add_inputs();
  input->set_name("image");
  input->set_datatype("UINT8");
  for (const int64_t dim : {int64_t{1}, height, width, int64_t{3}}) input->add_shape(dim);
  const auto pixels = runtime::picture_pixels(static_cast<size_t>(height * width));
  out.add_raw_input_contents(pixels.data(), pixels.size());
  return out;
}

// A message that is sent as it is and damaged, and the status of the former.
struct Seed {
  std::string method;
  std::string bytes;
  grpc::StatusCode status = grpc::StatusCode::OK;
};

std::vector<Seed> seeds() {
  const std::string protocol = "/inference.GRPCInferenceService/", kInfer = protocol + "ModelInfer";
  std::vector<Seed> out = {{kInfer, picture_request("picture", 2, 4).SerializeAsString()}};
  inference::ModelInferRequest typed = picture_request("picture", 2, 4);
  typed.clear_raw_input_contents();
  for (const uint8_t pixel : runtime::picture_pixels())
    typed.mutable_inputs(0)->mutable_contents()->add_uint_contents(pixel);
  (*typed.mutable_inputs(0)->mutable_parameters())["format"].set_string_param("nhwc");
  auto* const wish = typed.add_outputs();
  wish->set_name("scores");
  (*wish->mutable_parameters())["native"].set_bool_param(true);
  out.push_back({kInfer, typed.SerializeAsString()});
  // Shapes that overflow, or that promise more than there is.
  for (const int64_t dim : {int64_t{-1}, int64_t{0}, int64_t{1} << 40, INT64_MAX}) {
    inference::ModelInferRequest shaped = picture_request("picture", 2, 4);
    shaped.mutable_inputs(0)->set_shape(1, dim);
    out.push_back({kInfer, shaped.SerializeAsString(), grpc::StatusCode::INVALID_ARGUMENT});
  }
  out.push_back(
      {kInfer, picture_request("unknown", 2, 4).SerializeAsString(), grpc::StatusCode::NOT_FOUND});
  inference::ModelMetadataRequest about;
  about.set_name("picture");
  out.push_back({protocol + "ModelMetadata", about.SerializeAsString()});
  inference::RepositoryModelLoadRequest load;
  load.set_model_name("mine");
  (*load.mutable_parameters())["file:1/model.rknn"].set_bytes_param("RKNN damaged");
  // Without a session nobody uploads a model.
  out.push_back({protocol + "RepositoryModelLoad", load.SerializeAsString(),
                 grpc::StatusCode::UNIMPLEMENTED});
  openrknn::device::ModelName name;
  name.set_name("picture");
  name.add_shapes()->add_dims(1);
  using Code = grpc::StatusCode;
  const std::pair<const char*, Code> methods[] = {{"Describe", Code::INVALID_ARGUMENT},
                                                  {"Unload", Code::NOT_FOUND},
                                                  {"Hello", Code::OK},
                                                  {"Status", Code::OK},
                                                  {"Nothing", Code::UNIMPLEMENTED}};
  for (const auto& [method, status] : methods)
    out.push_back({str("/openrknn.device.RknnDevice/", method), name.SerializeAsString(), status});
  return out;
}

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto up_to = [&](size_t end) {
    return std::uniform_int_distribution<size_t>(0, end)(random);
  };
  for (size_t changes = 1 + up_to(3); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = up_to(bytes.size() - 1);
    switch (up_to(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << up_to(7)));
        break;
      case 1:
        bytes[at] = static_cast<char>(up_to(255));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, bytes.substr(up_to(bytes.size() - 1), up_to(16)));
        break;
      default:
        bytes.insert(at, up_to(9), '\xff');
    }
  }
  return bytes;
}

openrknn::device::StatusReply status_of(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& token) {
  grpc::ClientContext context;
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  openrknn::device::StatusReply reply;
  EXPECT_TRUE(openrknn::device::RknnDevice::NewStub(channel)->Status(&context, {}, &reply).ok());
  return reply;
}

void write_model(const std::string& path, const program::Program& program) {
  const auto file = file_of(program);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

TEST(CheckServer, SurvivesDamagedMessages) {
  Folder folder;
  write_model(folder.path("picture.rknn"), runtime::picture_program());
  const std::string token = "0123456789abcdef0123456789";
  std::ofstream(folder.path("token")) << token << "\n";
  chmod(folder.path("token").c_str(), 0600);
  const ServerProcess server({"--models", folder.path(""), "--token-file", folder.path("token")},
                             {"RKNN_LOG_LEVEL=0", "RKNN_SERVER_LOGLEVEL=0"});
  ASSERT_NE(server.port(), 0) << server.output();
  const auto channel = channel_to(server);
  const std::vector<Seed> from = seeds();
  std::mt19937 random(20261116);
  std::map<int, int> codes;
  int let_in = 0, mistaken = 0;
  const auto round = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const Seed& seed = from[random() % from.size()];
      const bool wrong_token = i % 10 == 0;
      const bool as_it_is = i % 7 == 0;
      const std::string bytes = as_it_is ? seed.bytes : damaged(seed.bytes, random);
      const grpc::Status status =
          call(*channel, seed.method, bytes, wrong_token ? token.substr(1) : token);
      ++codes[status.error_code()];
      // What cannot be read or does not exist is refused before the token is looked at; nothing else is answered.
      let_in += wrong_token && status.ok();
      const bool exists = seed.method != "/openrknn.device.RknnDevice/Nothing";
      const auto wanted = wrong_token && exists ? grpc::StatusCode::UNAUTHENTICATED : seed.status;
      if (!as_it_is || status.error_code() == wanted) continue;
      if (mistaken++ < 10)
        std::printf("%s: status %d (%s), expected %d\n", seed.method.c_str(), status.error_code(),
                    status.error_message().c_str(), wanted);
    }
  };
  const int count = number_or("RK_SERVER_MALFORMED", kMalformed);
  round(count / 10);
  const uint64_t before = status_of(channel, token).resident_bytes();
  round(count - count / 10);
  const openrknn::device::StatusReply after = status_of(channel, token);
  std::string found;
  for (const auto& [code, count] : codes)
    found += str(found.empty() ? "" : ", ", count, " of code ", code);
  std::printf("answers: %s\n", found.c_str());
  const int lost = codes[grpc::StatusCode::UNAVAILABLE] +
                   codes[grpc::StatusCode::DEADLINE_EXCEEDED] + codes[grpc::StatusCode::UNKNOWN];
  e2e::figure_holds("damaged messages: the server lives", server.alive(), str(count, " messages"),
                    "alive");
  e2e::figure_at_most("damaged messages: calls without an answer", lost, 0);
  e2e::figure_at_most("damaged messages: answers to a wrong token", let_in, 0);
  e2e::figure_at_most("messages between them: another status than the right one", mistaken, 0);
  e2e::figure_at_most("damaged messages: memory grown, MiB",
                      after.resident_bytes() > before
                          ? static_cast<double>(after.resident_bytes() - before) / (1 << 20)
                          : 0,
                      number_or("RK_SERVER_GROWTH_MIB", kGrowthMib));
  e2e::figure_at_most("damaged messages: bytes still in flight",
                      static_cast<double>(after.bytes_in_flight()), 0);
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + token);
  inference::ModelInferResponse response;
  EXPECT_TRUE(inference::GRPCInferenceService::NewStub(channel)
                  ->ModelInfer(&context, picture_request("picture", 2, 4), &response)
                  .ok());
}

TEST(CheckServer, TellsWhichDimensionsVary) {
  Folder folder;
  write_model(folder.path("shapes.rknn"), runtime::dynamic_picture_program());
  const ServerProcess server({"--models", folder.path("")});
  ASSERT_NE(server.port(), 0) << server.output();
  const inference::ModelMetadataResponse about = metadata_of(server, "shapes");
  const auto shape_of = [](const auto& tensor) {
    return std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end());
  };
  EXPECT_EQ(shape_of(about.inputs(0)), (std::vector<int64_t>{1, -1, -1, 3}));
  EXPECT_EQ(shape_of(about.outputs(0)), (std::vector<int64_t>{-1, -1, -1, -1}));
}

// Clients that come and go, each with a model "m" of its own: one of two kinds.
TEST(CheckServer, ManyClientsAtOnceKeepTheirModelsApart) {
  constexpr int kClients = 6;
  const int rounds = number_or("RK_SERVER_ROUNDS", 60);
  const std::vector<uint8_t> files[] = {file_of(runtime::picture_program()),
                                        file_of(runtime::picture_program({}, "rk3588", 3, 5))};
  Folder folder;
  write_model(folder.path("picture.rknn"), runtime::picture_program());
  const ServerProcess server({"--models", folder.path(""), "--instances", "2"},
                             {"RKNN_LOG_LEVEL=0", "RKNN_SERVER_LOGLEVEL=0"});
  ASSERT_NE(server.port(), 0) << server.output();
  const auto infer = [](remote::Client& client, const char* model, int64_t height, int64_t width) {
    const auto pixels = runtime::picture_pixels(static_cast<size_t>(height * width));
    rknn_remote_tensor input{};
    input.name = "image";
    input.type = RKNN_TENSOR_UINT8;
    input.format = RKNN_TENSOR_UNDEFINED;
    input.rank = 4;
    const int64_t dims[] = {1, height, width, 3};
    std::copy(std::begin(dims), std::end(dims), input.dims);
    input.data = pixels.data();
    input.size_bytes = pixels.size();
    std::vector<rknn_remote_tensor> outputs;
    const Status status = client.infer(model, {&input, 1}, outputs);
    if (!status.ok() || outputs.empty()) return std::string();
    return std::string(static_cast<const char*>(outputs[0].data), outputs[0].size_bytes);
  };
  std::string wanted[2];
  {
    auto alone = remote::Client::open(server.device(), "2.3.2");
    ASSERT_TRUE(alone.ok()) << alone.status().message();
    for (size_t kind = 0; kind < 2; ++kind) {
      const std::string name = str("m", kind);
      ASSERT_TRUE((*alone)->load(name, files[kind], Json::object()).ok());
      wanted[kind] = infer(**alone, name.c_str(), kind == 0 ? 2 : 3, kind == 0 ? 4 : 5);
      ASSERT_FALSE(wanted[kind].empty());
    }
  }
  std::atomic<int> right{0}, wrong{0}, failed{0}, strangers{0};
  std::vector<std::thread> threads;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&, c] {
      std::unique_ptr<remote::Client> client;
      for (int i = 0; i < rounds; ++i) {
        if (client == nullptr || i % 7 == c) {
          auto opened = remote::Client::open(server.device(), "2.3.2");
          if (!opened.ok()) {
            ++failed;
            continue;
          }
          client = std::move(*opened);
        }
        const size_t kind = static_cast<size_t>(c + i) % 2;
        const int64_t height = kind == 0 ? 2 : 3, width = kind == 0 ? 4 : 5;
        // Of a session that ended, or of another one's: nothing is there yet.
        strangers += client->describe("m").ok();
        failed += !client->load("m", files[kind], Json::object()).ok();
        for (int n = 0; n < 3; ++n) {
          const std::string got = infer(*client, "m", height, width);
          ++(got.empty() ? failed : got == wanted[kind] ? right : wrong);
        }
        const std::string got = infer(*client, "picture", 2, 4);
        ++(got.empty() ? failed : got == wanted[0] ? right : wrong);
        failed += !client->status().ok() || !client->performance("m").ok();
        failed += !client->unload("m").ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d right, %d failed\n", right.load(), failed.load());
  e2e::figure_at_least("clients with models of one name: right answers", right,
                       4 * rounds * kClients);
  e2e::figure_at_most("clients with models of one name: another client's answers", wrong, 0);
  e2e::figure_at_most("clients with models of one name: sight of another's model", strangers, 0);
  e2e::figure_at_most("clients with models of one name: failed calls", failed, 0);
}

TEST(CheckServer, EndsUploadsThatStall) {
  using openrknn::device::RknnDevice;
  constexpr size_t kStalled = 16;  // as many as may be under way
  const ServerProcess server({"--upload-time", "2"}, {"RKNN_SERVER_LOGLEVEL=0"});
  ASSERT_NE(server.port(), 0) << server.output();
  const auto stub = RknnDevice::NewStub(channel_to(server));
  grpc::ClientContext session_context;
  const auto session = stub->Session(&session_context);
  openrknn::device::SessionReply opened;
  ASSERT_TRUE(session->Read(&opened));
  const auto file = file_of(runtime::picture_program());
  struct Upload {
    grpc::ClientContext context;
    openrknn::device::ModelDescription description;
    std::unique_ptr<grpc::ClientWriter<openrknn::device::UploadPiece>> pieces;
  };
  const auto begin = [&](Upload& upload, const std::string& name) {
    upload.context.AddMetadata("rknn-session", opened.session());
    upload.pieces = stub->Upload(&upload.context, &upload.description);
    openrknn::device::UploadPiece piece;
    piece.mutable_begin()->set_name(name);
    piece.mutable_begin()->set_size_bytes(file.size());
    upload.pieces->Write(piece);
  };
  const auto whole = [&](const std::string& name) {
    Upload upload;
    begin(upload, name);
    openrknn::device::UploadPiece piece;
    piece.set_data(file.data(), file.size());
    upload.pieces->Write(piece);
    upload.pieces->WritesDone();
    return upload.pieces->Finish().error_code();
  };
  std::vector<Upload> stalled(kStalled);
  const auto start = Clock::now();
  for (size_t i = 0; i < kStalled; ++i) begin(stalled[i], str("stalled", i));
  while (status_of(channel_to(server), "").bytes_in_flight() < kStalled * file.size() &&
         Clock::now() - start < std::chrono::seconds(2))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(whole("one too many"), grpc::StatusCode::RESOURCE_EXHAUSTED);
  size_t ended = 0;
  for (Upload& upload : stalled)
    ended += upload.pieces->Finish().error_code() == grpc::StatusCode::CANCELLED;
  e2e::figure_at_least("uploads that stall: ended", static_cast<double>(ended), kStalled);
  e2e::figure_at_most("uploads that stall: seconds until then, of 2 allowed",
                      microseconds(Clock::now() - start) / 1e6, 6);
  // The client hears of the end before the server's threads do.
  auto after = whole("another");
  for (int i = 0; i < 50 && after == grpc::StatusCode::RESOURCE_EXHAUSTED; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    after = whole("another");
  }
  EXPECT_EQ(after, grpc::StatusCode::OK);
  e2e::figure_at_most("uploads that stall: bytes still held",
                      static_cast<double>(status_of(channel_to(server), "").bytes_in_flight()), 0);
}

// A picture's 16x16 patches, two numbers of each: much goes in and little comes out, as with a classifier.
program::Program patches_program() {
  constexpr int64_t kPatch = 16;
  runtime::TestProgram p;
  const int32_t in = p.input("image", {DType::kI8, {1, 3, kSide, kSide}, 1.0f, -128});
  const int32_t out =
      p.output("scores", {DType::kI8, {1, 2, kSide / kPatch, kSide / kPatch}, 0.5f, -10});
  runtime::TestProgram::IntegerConv conv;
  for (int64_t i = 0; i < 2 * 3 * kPatch * kPatch; ++i)
    conv.weights.push_back(static_cast<int8_t>(i * 7 % 5 - 2));
  conv.params.stride = {kPatch, kPatch};
  conv.params.output.scale = {16384, 25};
  p.conv(in, out, {2, 3, kPatch, kPatch}, conv);
  return std::move(p.program);
}

TEST(CheckServer, OneCallCostsLittle) {
  Folder folder;
  const program::Program program = patches_program();
  write_model(folder.path("picture.rknn"), program);
  const ServerProcess server({"--models", folder.path("")});
  ASSERT_NE(server.port(), 0) << server.output();
  const auto stub = inference::GRPCInferenceService::NewStub(channel_to(server));
  const inference::ModelInferRequest request = picture_request("picture", kSide, kSide);
  std::vector<uint8_t> file = file_of(program), pixels = runtime::picture_pixels(kSide * kSide);
  rknn_context context = 0;
  ASSERT_EQ(rknn_init(&context, file.data(), static_cast<uint32_t>(file.size()), 0, nullptr), 0);
  std::vector<double> here, there, empty, carried;
  inference::ModelInferRequest nobodys = request;
  nobodys.set_model_name("unknown");
  std::vector<double> more;
  constexpr int kRounds = 5, kCalls = 200;
  for (int i = 0; i < kRounds * kCalls; ++i) {
    {
      const auto start = Clock::now();
      grpc::ClientContext call_context;
      inference::ServerLiveResponse response;
      ASSERT_TRUE(stub->ServerLive(&call_context, {}, &response).ok());
      empty.push_back(microseconds(Clock::now() - start));
    }
    {
      const auto start = Clock::now();
      grpc::ClientContext call_context;
      inference::ModelInferResponse response;
      ASSERT_FALSE(stub->ModelInfer(&call_context, nobodys, &response).ok());
      carried.push_back(microseconds(Clock::now() - start));
    }
    auto start = Clock::now();
    rknn_input input{};
    input.buf = pixels.data();
    input.size = static_cast<uint32_t>(pixels.size());
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    rknn_output output{};
    output.want_float = 1;
    ASSERT_EQ(rknn_inputs_set(context, 1, &input), 0);
    ASSERT_EQ(rknn_run(context, nullptr), 0);
    ASSERT_EQ(rknn_outputs_get(context, 1, &output, nullptr), 0);
    rknn_outputs_release(context, 1, &output);
    here.push_back(microseconds(Clock::now() - start));
    start = Clock::now();
    grpc::ClientContext call_context;
    inference::ModelInferResponse response;
    ASSERT_TRUE(stub->ModelInfer(&call_context, request, &response).ok());
    there.push_back(microseconds(Clock::now() - start));
    if ((i + 1) % kCalls != 0) continue;
    more.push_back(at_fraction(there, 0.5) - at_fraction(here, 0.5));
    std::printf(
        "medians: local %.0f us, remote %.0f us; an empty call %.0f us, 150 kB that nobody "
        "computes %.0f us\n",
        at_fraction(here, 0.5), at_fraction(there, 0.5), at_fraction(empty, 0.5),
        at_fraction(carried, 0.5));
    for (std::vector<double>* times : {&here, &there, &empty, &carried}) times->clear();
  }
  rknn_destroy(context);
  // The middle round counts: what else the machine does falls on some of them.
  e2e::figure_at_most("one remote call of 150 kB over a local one, ms",
                      at_fraction(more, 0.5) / 1000, 0.4);
}

// Frames per second of `threads` threads that call `frame` (thread) until the time is over; negative when one fails.
double rate_of(int threads, std::chrono::milliseconds time, const std::function<bool(int)>& frame) {
  std::atomic<int64_t> frames{0};
  std::atomic<bool> stop{false}, failed{false};
  std::vector<std::thread> running;
  const auto start = Clock::now();
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      while (!stop) {
        if (!frame(t)) failed = stop = true;
        ++frames;
      }
    });
  }
  std::this_thread::sleep_for(time);
  const double rate = static_cast<double>(frames) / (microseconds(Clock::now() - start) / 1e6);
  stop = true;
  for (std::thread& thread : running) thread.join();
  return failed ? -1 : rate;
}

bool run_once(rknn_context context, const std::vector<uint8_t>& pixels) {
  rknn_input input{};
  input.buf = const_cast<uint8_t*>(pixels.data());
  input.size = static_cast<uint32_t>(pixels.size());
  input.type = RKNN_TENSOR_UINT8;
  input.fmt = RKNN_TENSOR_NHWC;
  rknn_input_output_num counts{};
  if (rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts) != 0) return false;
  std::vector<rknn_output> outputs(counts.n_output);
  for (uint32_t i = 0; i < counts.n_output; ++i) {
    outputs[i].index = i;
    outputs[i].want_float = 1;
  }
  return rknn_inputs_set(context, 1, &input) == 0 && rknn_run(context, nullptr) == 0 &&
         rknn_outputs_get(context, counts.n_output, outputs.data(), nullptr) == 0 &&
         rknn_outputs_release(context, counts.n_output, outputs.data()) == 0;
}

TEST(CheckServer, KeepsUpWithSixtyFourConnections) {
  const char* const model = std::getenv("RK_SIGNS_RKNN");
  ASSERT_NE(model, nullptr) << "RK_SIGNS_RKNN names the converted detector of examples/signs";
  Folder folder;
  std::ifstream in(model, std::ios::binary);
  std::vector<uint8_t> file((std::istreambuf_iterator<char>(in)), {});
  ASSERT_FALSE(file.empty()) << model;
  std::ofstream(folder.path("signs.rknn"), std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  const ServerProcess server({"--models", folder.path("")});
  ASSERT_NE(server.port(), 0) << server.output();
  const inference::ModelMetadataResponse about = metadata_of(server, "signs");
  inference::ModelInferRequest request;
  request.set_model_name("signs");
  auto* const input = request.add_inputs();
  input->set_name(about.inputs(0).name());
  input->set_datatype(about.inputs(0).datatype());
  size_t bytes = 1;
  for (const int64_t dim : about.inputs(0).shape()) {
    input->add_shape(dim);
    bytes *= static_cast<size_t>(dim);
  }
  const std::vector<uint8_t> pixels(bytes, 100);
  request.add_raw_input_contents(pixels.data(), pixels.size());
  std::vector<std::unique_ptr<inference::GRPCInferenceService::Stub>> stubs;
  for (int c = 0; c < kConnections; ++c)
    stubs.push_back(inference::GRPCInferenceService::NewStub(channel_to(server)));
  const auto call_server = [&](int c) {
    grpc::ClientContext call_context;
    inference::ModelInferResponse response;
    return stubs[static_cast<size_t>(c)]->ModelInfer(&call_context, request, &response).ok();
  };
  // As many contexts as the server has.
  std::vector<rknn_context> contexts(std::max(1u, std::thread::hardware_concurrency()));
  for (rknn_context& one : contexts)
    ASSERT_EQ(rknn_init(&one, file.data(), static_cast<uint32_t>(file.size()), 0, nullptr), 0);
  const auto call_here = [&](int t) { return run_once(contexts[static_cast<size_t>(t)], pixels); };
  rate_of(kConnections, std::chrono::seconds(1), call_server);
  // In turn, so that what else the machine does falls on both; the middle one counts.
  std::vector<double> shares;
  for (int i = 0; i < 5; ++i) {
    const double local =
        rate_of(static_cast<int>(contexts.size()), std::chrono::seconds(2), call_here);
    const double remote = rate_of(kConnections, std::chrono::seconds(2), call_server);
    ASSERT_GT(local, 0);
    ASSERT_GT(remote, 0) << "a call failed";
    std::printf("signs: %.1f frames/s in this process, %.1f over %d connections\n", local, remote,
                kConnections);
    shares.push_back(remote / local);
  }
  for (const rknn_context one : contexts) rknn_destroy(one);
  // Without a bar: clients and server share the CPUs here, and whoever computes in one process has no clients.
  std::printf("64 connections of C++: %.2f of as many contexts in one process\n",
              at_fraction(shares, 0.5));
}

}  // namespace
}  // namespace rk::server_test
