// SPDX-License-Identifier: Apache-2.0
// The server and its client end to end: a child process behind a port, the same bytes as the C interface in this process,
// and what a client may not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

#include "include/rknn_api.h"
#include "tests/server/models.h"
#include "tests/server/server_process.h"

namespace rk::server_test {
namespace {

using remote::Client;
using testing::HasSubstr;

constexpr const char* kVersion = "2.3.2-openrknn";

struct Array {
  std::string name;
  rknn_tensor_type type = RKNN_TENSOR_UINT8;
  rknn_tensor_format format = RKNN_TENSOR_UNDEFINED;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

template <typename T>
Array array_of(std::string name, rknn_tensor_type type, std::vector<int64_t> dims,
               const std::vector<T>& values) {
  const auto* const from = reinterpret_cast<const uint8_t*>(values.data());
  return {std::move(name),
          type,
          RKNN_TENSOR_UNDEFINED,
          std::move(dims),
          {from, from + values.size() * sizeof(T)}};
}

rknn_remote_tensor as_remote(const Array& array) {
  rknn_remote_tensor out{};
  out.name = array.name.c_str();
  out.type = array.type;
  out.format = array.format;
  out.rank = static_cast<uint32_t>(array.dims.size());
  std::copy(array.dims.begin(), array.dims.end(), out.dims);
  out.data = array.bytes.data();
  out.size_bytes = array.bytes.size();
  return out;
}

using Outputs = std::vector<std::vector<uint8_t>>;

Result<Outputs> run_remote(Client& client, const std::string& model,
                           const std::vector<Array>& arrays) {
  std::vector<rknn_remote_tensor> inputs, outputs;
  for (const Array& array : arrays) inputs.push_back(as_remote(array));
  RK_TRY(client.infer(model, inputs, outputs));
  Outputs out;
  for (const rknn_remote_tensor& output : outputs) {
    const auto* const from = static_cast<const uint8_t*>(output.data);
    out.emplace_back(from, from + output.size_bytes);
  }
  return out;
}

// The C interface in this process, as an application calls it.
Outputs run_local(const std::vector<uint8_t>& file, const std::vector<Array>& arrays) {
  rknn_context context = 0;
  std::vector<uint8_t> copy = file;
  EXPECT_EQ(rknn_init(&context, copy.data(), static_cast<uint32_t>(copy.size()), 0, nullptr), 0);
  std::vector<rknn_input> inputs;
  std::vector<rknn_tensor_attr> shapes;
  for (uint32_t i = 0; i < arrays.size(); ++i) {
    rknn_tensor_attr attr{};
    attr.index = i;
    rknn_query(context, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr);
    attr.n_dims = static_cast<uint32_t>(arrays[i].dims.size());
    std::copy(arrays[i].dims.begin(), arrays[i].dims.end(), attr.dims);
    shapes.push_back(attr);
    rknn_input input{};
    input.index = i;
    input.buf = const_cast<uint8_t*>(arrays[i].bytes.data());
    input.size = static_cast<uint32_t>(arrays[i].bytes.size());
    input.type = arrays[i].type;
    input.fmt = arrays[i].dims.size() == 4 ? RKNN_TENSOR_NHWC : RKNN_TENSOR_UNDEFINED;
    inputs.push_back(input);
  }
  auto range = std::make_unique<rknn_input_range>();
  if (rknn_query(context, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range.get(), sizeof *range) == 0 &&
      range->shape_number > 1) {
    EXPECT_EQ(rknn_set_input_shapes(context, static_cast<uint32_t>(shapes.size()), shapes.data()),
              0);
  }
  EXPECT_EQ(rknn_inputs_set(context, static_cast<uint32_t>(inputs.size()), inputs.data()), 0);
  EXPECT_EQ(rknn_run(context, nullptr), 0);
  rknn_input_output_num counts{};
  rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &counts, sizeof counts);
  std::vector<rknn_output> outputs(counts.n_output);
  for (rknn_output& output : outputs) output.want_float = 1;
  EXPECT_EQ(rknn_outputs_get(context, counts.n_output, outputs.data(), nullptr), 0);
  Outputs out;
  for (const rknn_output& output : outputs) {
    const auto* const from = static_cast<const uint8_t*>(output.buf);
    out.emplace_back(from, from + output.size);
  }
  rknn_outputs_release(context, counts.n_output, outputs.data());
  rknn_destroy(context);
  return out;
}

std::vector<Array> pixels(int64_t height, int64_t width) {
  return {array_of<uint8_t>("image", RKNN_TENSOR_UINT8, {1, height, width, 3},
                            runtime::picture_pixels(static_cast<size_t>(height * width)))};
}

std::vector<Array> pair_arrays() {
  std::vector<float> x, y;
  for (int i = 0; i < 6 * 4 * 5; ++i) {
    x.push_back(static_cast<float>(i % 13) * 0.3f - 2);
    y.push_back(static_cast<float>(i % 7) * 0.11f - 0.3f);
  }
  return {array_of("x", RKNN_TENSOR_FLOAT32, {1, 4, 5, 6}, x),
          array_of("y", RKNN_TENSOR_FLOAT32, {1, 4, 5, 6}, y)};
}

std::unique_ptr<Client> connect(const ServerProcess& server) {
  auto client = Client::open(server.device(), kVersion);
  EXPECT_TRUE(client.ok()) << client.status().message() << "\n" << server.output();
  return client.ok() ? std::move(*client) : nullptr;
}

int64_t status_of(Client& client, const char* key) {
  const auto status = client.status();
  EXPECT_TRUE(status.ok()) << status.status().message();
  return status.ok() ? *status->find(key)->as_int() : -1;
}

// One server for what does not need another one.
class Server : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new ServerProcess({"--plugins", plugin_folder(), "--max-model-bytes", "1000000"});
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  void SetUp() override {
    ASSERT_NE(shared_->port(), 0) << shared_->output();
    client_ = connect(*shared_);
    ASSERT_NE(client_, nullptr);
  }
  void TearDown() override { EXPECT_TRUE(shared_->alive()) << shared_->output(); }

  Result<Outputs> load_and_run(const program::Program& program, const std::vector<Array>& arrays) {
    RK_TRY(client_->load("m", file_of(program), Json::object()).status());
    return run_remote(*client_, "m", arrays);
  }

  static ServerProcess* shared_;
  std::unique_ptr<Client> client_;
};
ServerProcess* Server::shared_ = nullptr;

TEST_F(Server, SaysWhoItIs) {
  EXPECT_THAT(client_->hello().server_version, HasSubstr("2.3.2 (openrknn@"));
  EXPECT_THAT(client_->hello().library_version, HasSubstr("2.3.2 (openrknn@"));
  EXPECT_THAT(shared_->output(), HasSubstr("rknn_server version: 2.3.2"));
}

TEST_F(Server, GivesThePicturesHandComputedScores) {
  const auto got = load_and_run(runtime::picture_program(), pixels(2, 4));
  ASSERT_TRUE(got.ok()) << got.status().message();
  std::vector<float> want;
  for (const int8_t score : runtime::picture_scores())
    want.push_back((static_cast<float>(score) + 10) * 0.5f);
  ASSERT_EQ(got->front().size(), want.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(got->front().data(), want.data(), got->front().size()), 0);
}

TEST_F(Server, GivesTheBytesOfThisProcessForTwoInputsInFloat16) {
  const auto got = load_and_run(pair_program(false), pair_arrays());
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, run_local(file_of(pair_program(false)), pair_arrays()));
}

TEST_F(Server, GivesTheBytesOfThisProcessForEveryShape) {
  const auto file = file_of(runtime::dynamic_picture_program());
  ASSERT_TRUE(client_->load("m", file, Json::object()).ok());
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{2, 4}, {3, 3}, {1, 2}, {2, 4}}) {
    const auto got = run_remote(*client_, "m", pixels(height, width));
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got->front().size(), static_cast<size_t>(2 * height * width) * sizeof(float));
    EXPECT_EQ(*got, run_local(file, pixels(height, width))) << height << "x" << width;
  }
  const auto wrong = run_remote(*client_, "m", pixels(4, 2));
  EXPECT_THAT(wrong.status().message(), HasSubstr("no set of shapes of the model fits [1,4,2,3]"));
}

TEST_F(Server, RunsOperatorsOfItsPlugins) {
  // cstPair is a sum and a difference: the standard operators are the reference.
  const auto got = load_and_run(pair_program(true), pair_arrays());
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, run_local(file_of(pair_program(false)), pair_arrays()));
}

TEST_F(Server, TakesNchwAndNativeBytes) {
  ASSERT_TRUE(client_->load("m", file_of(runtime::picture_program()), Json::object()).ok());
  const std::vector<Array> nhwc = pixels(2, 4);
  Array nchw = nhwc.front();
  nchw.format = RKNN_TENSOR_NCHW;
  nchw.dims = {1, 3, 2, 4};
  for (size_t pixel = 0; pixel < 8; ++pixel)
    for (size_t c = 0; c < 3; ++c) nchw.bytes[c * 8 + pixel] = nhwc.front().bytes[pixel * 3 + c];
  const auto want = run_remote(*client_, "m", nhwc), got = run_remote(*client_, "m", {nchw});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, *want);
  std::vector<rknn_remote_tensor> inputs = {as_remote(nhwc.front())}, outputs(1);
  outputs[0] = {};
  outputs[0].name = "scores";
  outputs[0].native = 1;
  ASSERT_TRUE(client_->infer("m", inputs, outputs).ok());
  EXPECT_EQ(outputs[0].type, RKNN_TENSOR_INT8);
  const std::vector<int8_t> scores = runtime::picture_scores();
  ASSERT_EQ(outputs[0].size_bytes, scores.size());
  EXPECT_EQ(std::memcmp(outputs[0].data, scores.data(), scores.size()), 0);
}

TEST_F(Server, RefusesWhatDoesNotFitAndSaysWhy) {
  ASSERT_TRUE(client_->load("m", file_of(runtime::picture_program()), Json::object()).ok());
  const auto refused = [&](std::vector<Array> arrays) {
    const auto got = run_remote(*client_, "m", arrays);
    EXPECT_EQ(got.status().code(), Code::kInvalidArgument);
    return got.status().message();
  };
  EXPECT_THAT(refused(pixels(4, 2)), HasSubstr("the model takes [1,2,4,3]"));
  EXPECT_THAT(refused({}), HasSubstr("input 'image' is not given"));
  std::vector<Array> arrays = pixels(2, 4);
  arrays[0].name = "picture";
  EXPECT_THAT(refused(arrays), HasSubstr("the model has no input 'picture'; it has 'image'"));
  arrays = pixels(2, 4);
  arrays.push_back(arrays[0]);
  EXPECT_THAT(refused(arrays), HasSubstr("given twice"));
  arrays = pixels(2, 4);
  arrays[0].bytes.pop_back();
  EXPECT_THAT(refused(arrays), HasSubstr("has 23 bytes; its shape and type say 24"));
  arrays = pixels(2, 4);
  arrays[0].dims = {1, 2, 4, -3};
  EXPECT_THAT(refused(arrays), HasSubstr("has the shape [1,2,4,-3]"));
  arrays[0].type = RKNN_TENSOR_INT4;
  EXPECT_THAT(refused(arrays), HasSubstr("takes no datatype"));
  EXPECT_THAT(run_remote(*client_, "other", pixels(2, 4)).status().message(),
              HasSubstr("no model 'other'"));
  std::vector<uint8_t> damaged = file_of(runtime::picture_program());
  damaged.resize(damaged.size() / 2);
  EXPECT_THAT(client_->load("bad", damaged, Json::object()).status().message(),
              HasSubstr("rknn_init"));
  EXPECT_THAT(
      client_->load("big", std::vector<uint8_t>(1000001), Json::object()).status().message(),
      HasSubstr("a model of 1000001 bytes; the server takes up to 1000000"));
  EXPECT_THAT(client_
                  ->load("flags", file_of(runtime::picture_program()),
                         Json::object({{"flags", RKNN_FLAG_MEM_ALLOC_OUTSIDE}}))
                  .status()
                  .message(),
              HasSubstr("memory or fences of the caller"));
  EXPECT_THAT(
      client_->load("m", file_of(runtime::picture_program()), Json::object()).status().message(),
      HasSubstr("has a model 'm' already"));
}

TEST_F(Server, KeepsAClientsModelsFromOthersAndFreesThemWithIt) {
  ASSERT_TRUE(client_->load("mine", file_of(runtime::picture_program()), Json::object()).ok());
  const int64_t contexts = status_of(*client_, "contexts");
  {
    const auto other = connect(*shared_);
    ASSERT_NE(other, nullptr);
    EXPECT_THAT(run_remote(*other, "mine", pixels(2, 4)).status().message(),
                HasSubstr("no model 'mine'"));
    ASSERT_TRUE(other->load("mine", file_of(pair_program(false)), Json::object()).ok());
    ASSERT_TRUE(other->unload("mine").ok());
    EXPECT_FALSE(other->unload("mine").ok());
    ASSERT_TRUE(other->load("mine", file_of(pair_program(false)), Json::object()).ok());
    EXPECT_TRUE(run_remote(*other, "mine", pair_arrays()).ok());
    EXPECT_TRUE(run_remote(*client_, "mine", pixels(2, 4)).ok());
    EXPECT_EQ(status_of(*client_, "contexts"), contexts + 1);
  }
  for (int i = 0; i < 100 && status_of(*client_, "contexts") != contexts; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(status_of(*client_, "contexts"), contexts);
}

TEST_F(Server, AnswersWhatRknnQueryDoes) {
  const auto about = client_->load("m", file_of(runtime::picture_program()),
                                   Json::object({{"flags", RKNN_FLAG_COLLECT_PERF_MASK}}));
  ASSERT_TRUE(about.ok()) << about.status().message();
  EXPECT_EQ(*about->find("custom_string")->as_string(), "made by hand");
  EXPECT_EQ(*about->find("inputs")->at(0)->find("name")->as_string(), "image");
  EXPECT_GT(*about->find("weight_bytes")->as_int(), 0);
  ASSERT_TRUE(run_remote(*client_, "m", pixels(2, 4)).ok());
  const auto performance = client_->performance("m");
  ASSERT_TRUE(performance.ok()) << performance.status().message();
  EXPECT_THAT(*performance->find("detail")->as_string(), HasSubstr("Conv"));
}

TEST(ServerAccess, AsksForTheTokenOfItsFile) {
  Folder folder;
  const auto write = [&](const std::string& name, const std::string& text, mode_t mode) {
    std::ofstream(folder.path(name)) << text;
    chmod(folder.path(name).c_str(), mode);
    return folder.path(name);
  };
  const std::string right = write("right", "0123456789abcdef0123\n", 0600);
  const ServerProcess server({"--token-file", right});
  ASSERT_NE(server.port(), 0) << server.output();
  remote::Device device = server.device();
  EXPECT_THAT(Client::open(device, kVersion).status().message(), HasSubstr("asks for a token"));
  for (const char* wrong : {"0123456789abcdef0124\n", "0123456789abcdef012\n", "x\n"}) {
    device.token_file = write("wrong", wrong, 0600);
    EXPECT_THAT(Client::open(device, kVersion).status().message(), HasSubstr("not this server's"));
  }
  device.token_file = right;
  const auto client = Client::open(device, kVersion);
  ASSERT_TRUE(client.ok()) << client.status().message();
  EXPECT_TRUE((*client)->load("m", file_of(runtime::picture_program()), Json::object()).ok());

  const ServerProcess open_file({"--token-file", write("others", "0123456789abcdef\n", 0644)});
  EXPECT_EQ(open_file.port(), 0);
  EXPECT_THAT(open_file.output(), HasSubstr("can be read by others"));
  const ServerProcess everywhere({"--address", "0.0.0.0"});
  EXPECT_EQ(everywhere.port(), 0);
  EXPECT_THAT(everywhere.output(), HasSubstr("can be reached by others: give --token-file"));
}

TEST(ServerAccess, ServesItsFolderToEverybodyAndLetsNobodyUnloadIt) {
  Folder folder;
  const auto file = file_of(runtime::picture_program());
  std::ofstream(folder.path("picture.rknn"), std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  std::ofstream(folder.path("broken.rknn")) << "no model";
  const ServerProcess server({"--models", folder.path("")});
  ASSERT_NE(server.port(), 0) << server.output();
  const auto client = connect(server);
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(*run_remote(*client, "picture", pixels(2, 4)), run_local(file, pixels(2, 4)));
  EXPECT_FALSE(client->unload("picture").ok());
  EXPECT_TRUE(run_remote(*client, "picture", pixels(2, 4)).ok());
  EXPECT_FALSE(run_remote(*client, "broken", pixels(2, 4)).ok());
}

TEST(ServerAccess, GivesNoMoreThanItsLimits) {
  const ServerProcess server({"--max-contexts", "2", "--max-sessions", "2", "--max-models", "1"});
  ASSERT_NE(server.port(), 0) << server.output();
  const auto file = file_of(runtime::picture_program());
  const auto first = connect(server), second = connect(server), third = connect(server);
  ASSERT_TRUE(first->load("a", file, Json::object()).ok());
  EXPECT_THAT(first->load("b", file, Json::object()).status().message(),
              HasSubstr("the most that one may"));
  ASSERT_TRUE(second->load("a", file, Json::object()).ok());
  EXPECT_THAT(third->load("a", file, Json::object()).status().message(),
              HasSubstr("all 2 sessions"));
  EXPECT_EQ(status_of(*first, "contexts"), 2);
}

TEST(ServerAccess, EndsIdleSessionsAndSaysSo) {
  const ServerProcess server({"--idle", "1"});
  ASSERT_NE(server.port(), 0) << server.output();
  const auto client = connect(server);
  ASSERT_TRUE(client->load("a", file_of(runtime::picture_program()), Json::object()).ok());
  for (int i = 0; i < 200 && status_of(*client, "sessions") != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(status_of(*client, "contexts"), 0);
  EXPECT_THAT(run_remote(*client, "a", pixels(2, 4)).status().message(),
              HasSubstr("session is unknown or has ended"));
}

TEST(ServerAccess, AKilledServerIsAnErrorAtOnce) {
  ServerProcess server;
  ASSERT_NE(server.port(), 0) << server.output();
  const auto client = connect(server);
  ASSERT_TRUE(client->load("a", file_of(runtime::picture_program()), Json::object()).ok());
  server.end(SIGKILL);
  const auto start = std::chrono::steady_clock::now();
  const Status status = run_remote(*client, "a", pixels(2, 4)).status();
  EXPECT_EQ(status.code(), Code::kUnavailable) << status.message();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(ServerAccess, EndsCleanlyWhenTold) {
  ServerProcess server;
  ASSERT_NE(server.port(), 0) << server.output();
  const auto client = connect(server);
  ASSERT_TRUE(client->load("a", file_of(runtime::picture_program()), Json::object()).ok());
  EXPECT_EQ(server.end(SIGTERM), 0) << server.output();
}

}  // namespace
}  // namespace rk::server_test
