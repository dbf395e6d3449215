// SPDX-License-Identifier: Apache-2.0
// Encrypted models as their users and their attackers meet them: written by the toolkit, opened by the runtime, damaged
// in 20,000 ways, and loaded about as fast as plain ones.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "base/npy.h"
#include "format/encrypted/encrypted_model.h"
#include "format/reader.h"
#include "runtime/session/session.h"
#include "tests/e2e/figure.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/mutate.h"
#include "tests/networks/network.h"
#include "toolkit/encrypt.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::interop {
namespace {

using format::ModelKeys;
namespace fs = std::filesystem;

constexpr uint64_t kSeed = 20261116;
constexpr size_t kDamaged = 20'000;
constexpr size_t kHeader = 0x60, kTag = 16;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / str("rk_encryption_", ::getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// What a user sets to open a model, for as long as it lives.
class Environment {
 public:
  explicit Environment(const ModelKeys& keys) {
    if (keys.passphrase) ::setenv("RKNN_MODEL_PASSPHRASE", keys.passphrase->c_str(), 1);
    if (keys.key_file) ::setenv("RKNN_MODEL_KEY_FILE", keys.key_file->c_str(), 1);
  }
  ~Environment() {
    ::unsetenv("RKNN_MODEL_PASSPHRASE");
    ::unsetenv("RKNN_MODEL_KEY_FILE");
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

Result<std::vector<uint8_t>> converted(const std::string& example, const std::string& dataset,
                                       size_t channels) {
  const std::string folder = str(RK_SOURCE_DIR, "/examples/", example, "/");
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.mean_values = {std::vector<float>(channels, 0)};
  config.std_values = {std::vector<float>(channels, 255)};
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(folder + example + ".onnx"));
  RK_TRY(toolkit.build({.do_quantization = true, .dataset = folder + dataset, .progress = {}}));
  return toolkit.rknn_bytes();
}

// Every output after one run on inputs that depend on the seed alone.
Result<std::vector<uint8_t>> outputs_of(ByteSpan file) {
  RK_ASSIGN(const auto model, runtime::LoadedModel::from_bytes(file, {}));
  RK_ASSIGN(const auto session, runtime::Session::create(model, {.threads = 1}));
  fuzz::Random random(kSeed);
  for (size_t i = 0; i < session->input_count(); ++i) {
    const runtime::CallerFormat format;
    RK_ASSIGN(const uint64_t size, session->input_bytes(i, format));
    std::vector<float> values(size / sizeof(float));
    for (float& x : values) x = static_cast<float>(random.below(256));
    RK_TRY(session->set_input(i, format, values.data(), size));
  }
  RK_TRY(session->run());
  std::vector<uint8_t> out;
  for (size_t i = 0; i < session->output_count(); ++i) {
    const runtime::CallerFormat format;  // f32
    RK_ASSIGN(const uint64_t size, session->output_bytes(i, format));
    const size_t begin = out.size();
    out.resize(begin + size);
    RK_TRY(session->get_output(i, format, out.data() + begin, size));
  }
  return out;
}

TEST(Encryption, EveryLevelAndKeyRunsAsThePlainModel) {
  const Folder folder;
  const auto plain = converted("signs", "dataset.txt", 3);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_TRUE(write_file(folder / "plain.rknn", *plain).ok());
  const std::vector<uint8_t> secret = {1, 0, 2, 255, 10, 13, 0, 7};
  ASSERT_TRUE(write_file(folder / "secret", secret).ok());
  const auto want = outputs_of(*plain);
  ASSERT_TRUE(want.ok()) << want.status().message();
  size_t right = 0, wrong_key_named = 0, cases = 0;
  for (int level = 1; level <= 3; ++level) {
    for (const ModelKeys& keys : {ModelKeys{}, ModelKeys{"a passphrase", std::nullopt},
                                  ModelKeys{std::nullopt, folder / "secret"}}) {
      ++cases;
      const std::string path = folder / str(cases, ".rknn");
      const auto written = toolkit::encrypt_file(folder / "plain.rknn", path, level, keys);
      ASSERT_TRUE(written.ok()) << written.status().message();
      const auto file = read_file(path);
      ASSERT_TRUE(file.ok());
      {
        const Environment environment(keys);
        const auto got = outputs_of(*file);
        right += got.ok() && *got == *want ? 1 : 0;
        EXPECT_TRUE(got.ok()) << "level " << level << ": " << got.status().message();
      }
      const bool own_key = keys.passphrase || keys.key_file;
      const Environment other({"another one", std::nullopt});
      const auto refused = outputs_of(*file);
      const bool named = !refused.ok() && refused.status().code() == Code::kInvalidArgument;
      // The product key is in every copy, so whatever else is set does not matter.
      wrong_key_named += own_key ? named : refused.ok();
    }
  }
  e2e::figure_at_least("levels and keys of which the outputs equal the plain model's",
                       static_cast<double>(right), static_cast<double>(cases));
  e2e::figure_at_least("wrong keys named, product key unmoved by them",
                       static_cast<double>(wrong_key_named), static_cast<double>(cases));
}

TEST(Encryption, NothingOfTheModelIsInTheFile) {
  const auto plain = converted("signs", "dataset.txt", 3);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const auto file = format::encrypt_model(*plain, 1, {});
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto program = format::read_rknn(*plain, nullptr, {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  // The header is not secret; its small numbers occur in any file.
  const ByteSpan sealed = ByteSpan(*file).subspan(kHeader);
  size_t found = 0, looked_for = 0;
  const auto look = [&](ByteSpan part) {
    ++looked_for;
    found += std::ranges::search(sealed, part).empty() ? 0 : 1;
  };
  for (const program::Step& step : program->main_variant().steps) {
    if (step.name.size() >= 6)
      look({reinterpret_cast<const uint8_t*>(step.name.data()), step.name.size()});
  }
  // Every 64th place of the file, graph, names and weights alike; eight bytes occur by chance once in 2^64 places.
  for (size_t at = 0; at + 8 <= plain->size(); at += 64) look(ByteSpan(*plain).subspan(at, 8));
  e2e::figure_at_most(
      str("of ", looked_for, " names and pieces of the model, in the encrypted file"),
      static_cast<double>(found), 0);
}

// Half of the cases damage the encrypted file. The others damage the model and encrypt it again: only that reaches what
// reads after the tag has been checked.
TEST(Encryption, DamagedFilesAreRefusedOrRun) {
  const auto plain = converted("digits", "calib.txt", 1);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const auto sealed = format::encrypt_model(*plain, 1, {});
  ASSERT_TRUE(sealed.ok()) << sealed.status().message();
  const int level = log_level();
  set_log_level(0);
  size_t opened = 0, refused = 0, ran = 0, speechless = 0;
  {
    fuzz::Guard guard;
    for (size_t i = 0; i < kDamaged; ++i) {
      fuzz::Random random(kSeed + i);
      std::vector<uint8_t> file = i % 2 == 0 ? *sealed : *plain;
      std::string how;
      if (i % 2 == 0) {
        const uint64_t place = random.below(4);
        const fuzz::Range where = place == 0   ? fuzz::Range{0, kHeader}
                                  : place == 1 ? fuzz::Range{file.size() - kTag, file.size()}
                                               : fuzz::Range{0, file.size()};
        how = fuzz::mutate(file, where, false, random);
        if (file == *sealed) continue;
      } else {
        how = fuzz::mutate(file, {0, file.size()}, false, random);
        auto again = format::encrypt_model(file, 1, {});
        if (!again.ok()) {  // a file without bytes, or one that starts as an encrypted one does
          ++refused;
          continue;
        }
        file = std::move(*again);
      }
      guard.begin_case(str("case ", i, " of seed ", kSeed, ": ", how));
      const auto result = outputs_of(file);
      if (result.ok()) {
        // Without the key nothing can be changed; a vendor's or a plain file is not an encrypted one any more.
        opened += i % 2 == 0 && format::is_encrypted(file) ? 1 : 0;
        ++ran;
      } else {
        ++refused;
        speechless += result.status().message().size() < 10 ? 1 : 0;
      }
    }
  }
  set_log_level(level);
  e2e::figure_holds(str(kDamaged, " damaged files: crash, hang, over 1 GiB"), true,
                    str("0; ", refused, " refused, ", ran, " ran"), "0");
  e2e::figure_at_most("changed encrypted files that opened", static_cast<double>(opened), 0);
  e2e::figure_at_most("refusals without a reason", static_cast<double>(speechless), 0);
}

// A network of 25 MB as its users have it: int8 ResNet50.
Result<std::vector<uint8_t>> large_model(const Folder& folder) {
  networks::NetworkWriter writer(1, 13);
  networks::resnet50(writer);
  const std::string bytes = writer.model->SerializeAsString();
  const std::string onnx = folder / "large.onnx";
  RK_TRY(write_file(onnx, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
  std::vector<float> values(3 * 224 * 224);
  fuzz::Random random(kSeed);
  for (float& x : values) x = static_cast<float>(random.below(2000)) / 1000.0f - 1.0f;
  const auto* const first = reinterpret_cast<const uint8_t*>(values.data());
  RK_TRY(write_npy(folder / "picture.npy",
                   {.shape = {1, 3, 224, 224}, .bytes = {first, first + values.size() * 4}}));
  const std::string line = folder / "picture.npy";
  const std::string list = folder / "dataset.txt";
  RK_TRY(write_file(list, {reinterpret_cast<const uint8_t*>(line.data()), line.size()}));
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(onnx));
  RK_TRY(toolkit.build({.do_quantization = true, .dataset = list, .progress = {}}));
  return toolkit.rknn_bytes();
}

double load_ms(ByteSpan file) {
  const auto start = std::chrono::steady_clock::now();
  const auto model = runtime::LoadedModel::from_bytes(file, {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST(Encryption, ALargeModelLoadsAboutAsFast) {
  const Folder folder;
  const auto plain = large_model(folder);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const auto sealed = format::encrypt_model(*plain, 1, {});
  ASSERT_TRUE(sealed.ok()) << sealed.status().message();
  constexpr size_t kRounds = 9;
  std::vector<double> open, closed;
  for (size_t i = 0; i < kRounds; ++i) {
    open.push_back(load_ms(*plain));
    closed.push_back(load_ms(*sealed));
  }
  std::ranges::sort(open);
  std::ranges::sort(closed);
  std::printf("a model of %.1f MB: plain %.1f ms, encrypted %.1f ms (medians of %zu)\n",
              static_cast<double>(plain->size()) / 1e6, open[kRounds / 2], closed[kRounds / 2],
              kRounds);
  EXPECT_GT(plain->size(), 20u << 20);
  e2e::figure_at_most("time to load at level 1, of the plain model's",
                      closed[kRounds / 2] / open[kRounds / 2], 1.5);
}

}  // namespace
}  // namespace rk::interop
