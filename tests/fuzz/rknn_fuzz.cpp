// SPDX-License-Identifier: Apache-2.0
// Damaged .rknn files: each is refused with a reason, or loads and runs once. Damage inside our own
// section gets a fresh checksum, since the checksum would otherwise stop all of it at the door.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "base/crc32.h"
#include "base/file.h"
#include "base/log.h"
#include "runtime/session/session.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/mutate.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::fuzz {
namespace {

constexpr uint64_t kSeed = 20240601;

struct Base {
  std::string name;
  std::vector<uint8_t> file;
  size_t section = 0;  // of "OPENRKNN"
};

Result<Base> make_base(const std::string& name, const std::string& folder, const char* dataset,
                       float mean, float std) {
  const std::string path = str(RK_SOURCE_DIR, "/examples/", folder, "/");
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.mean_values = {std::vector<float>(folder == "signs" ? 3 : 1, mean)};
  config.std_values = {std::vector<float>(folder == "signs" ? 3 : 1, std)};
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(path + folder + ".onnx"));
  const bool quantized = dataset != nullptr;
  RK_TRY(toolkit.build({.do_quantization = quantized,
                        .dataset = quantized ? path + dataset : std::string(),
                        .progress = {}}));
  Base out;
  out.name = name;
  RK_ASSIGN(out.file, toolkit.rknn_bytes());
  constexpr std::string_view kMark = "OPENRKNN";
  const auto found = std::search(out.file.rbegin(), out.file.rend(), kMark.rbegin(), kMark.rend());
  if (found == out.file.rend()) return invalid_argument("no section of our own in the file");
  out.section = static_cast<size_t>(out.file.rend() - found) - kMark.size();
  return out;
}

// "OPENRKNN", u32 version, u32 crc32, u64 size, payload.
constexpr size_t kSectionHeader = 24;

void fix_checksum(std::vector<uint8_t>& file, size_t section) {
  if (section + kSectionHeader > file.size()) return;
  const uint32_t crc = crc32(ByteSpan(file).subspan(section + kSectionHeader));
  std::memcpy(&file[section + 12], &crc, sizeof crc);
}

// A quarter anywhere, a quarter in the tables before the payload's weights, half in our section.
std::string damage(const Base& base, std::vector<uint8_t>& file, Random& random) {
  const uint64_t kind = random.below(4);
  if (kind == 0) return "anywhere: " + mutate(file, {0, file.size()}, false, random);
  if (kind == 1) {
    const size_t tables = std::min<size_t>(base.section, 64 << 10);
    const bool front = random.below(2) == 0;
    const Range where = front ? Range{0, tables} : Range{base.section - tables, base.section};
    return "tables: " + mutate(file, where, true, random);
  }
  const std::string text =
      "section: " + mutate(file, {base.section + kSectionHeader, file.size()}, true, random);
  fix_checksum(file, base.section);
  return text;
}

Status load_and_run(ByteSpan file) {
  RK_ASSIGN(const auto model, runtime::LoadedModel::from_bytes(file, {}));
  RK_ASSIGN(const auto session, runtime::Session::create(model, {.threads = 1}));
  RK_TRY(session->run());
  for (size_t i = 0; i < session->output_count(); ++i) {
    const runtime::CallerFormat format;  // f32
    RK_ASSIGN(const uint64_t size, session->output_bytes(i, format));
    std::vector<uint8_t> bytes(size);
    RK_TRY(session->get_output(i, format, bytes.data(), size));
  }
  return ok_status();
}

TEST(RknnFuzz, DamagedFilesAreRefusedWithAReasonOrRun) {
  std::vector<Base> bases;
  for (auto base : {make_base("digits int8", "digits", "calib.txt", 127.5f, 64),
                    make_base("digits fp16", "digits", nullptr, 127.5f, 64),
                    make_base("signs int8", "signs", "dataset.txt", 0, 255)}) {
    ASSERT_TRUE(base.ok()) << base.status().message();
    bases.push_back(std::move(*base));
    const Status sound = load_and_run(bases.back().file);
    ASSERT_TRUE(sound.ok()) << bases.back().name << ": " << sound.message();
  }
  const int level = log_level();
  set_log_level(0);
  size_t refused = 0, ran = 0;
  {
    Guard guard;
    for (size_t i = 0; i < case_count(); ++i) {
      Random random(kSeed + i);
      // The detector is large: one case in ten, or in fifty where it runs slowly.
      const size_t base_index = i % (sanitized() ? 50 : 10) == 9 ? 2 : i % 2;
      const Base& base = bases[base_index];
      std::vector<uint8_t> file = base.file;
      const std::string text = damage(base, file, random);
      guard.begin_case(str("case ", i, " of seed ", kSeed, " on ", base.name, ": ", text));
      const Status status = load_and_run(file);
      if (status.ok()) {
        ++ran;
      } else {
        ++refused;
        EXPECT_GT(status.message().size(), 10u) << "case " << i << ": " << text;
      }
    }
  }
  set_log_level(level);
  std::printf(
      "FIGURE damaged .rknn files (seed %llu): crash, hang, over 1 GiB | 0 of %zu; %zu "
      "refused with a reason, %zu ran | 0 | ok\n",
      static_cast<unsigned long long>(kSeed), refused + ran, refused, ran);
  EXPECT_GT(refused, 0u);
  EXPECT_GT(ran, 0u);
}

}  // namespace
}  // namespace rk::fuzz
