// SPDX-License-Identifier: Apache-2.0
// Damaged vendor files: each is refused with a reason, or can be described, loaded and run once.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "base/log.h"
#include "format/inspect.h"
#include "format/inspect_vendor.h"
#include "runtime/session/session.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/mutate.h"
#include "tests/vendor/samples.h"

namespace rk::vendor {
namespace {

constexpr uint64_t kSeed = 20241015;
constexpr uint64_t kMaxRunMacs =
    50'000'000;  // a mutated extent can make a small file a large network

struct Base {
  std::string name;
  std::vector<uint8_t> file;
};

Status describe(ByteSpan file) {
  RK_TRY(format::inspect_text(file, {.tensors = true, .program = false}).status());
  RK_TRY(format::tasks_text(file).status());
  RK_TRY(format::sizes_text(file).status());
  return runtime::LoadedModel::from_bytes(file, {.device = {}, .info_only = true}).status();
}

Status load_and_run(ByteSpan file) {
  RK_ASSIGN(const auto model, runtime::LoadedModel::from_bytes(file, {}));
  uint64_t macs = 0;
  for (const program::Step& step : model->variant().steps) macs += step.macs;
  if (macs > kMaxRunMacs || model->internal_bytes() > (64u << 20)) return ok_status();
  RK_ASSIGN(const auto session, runtime::Session::create(model, {.threads = 1}));
  return session->run();
}

// Half of the damage goes to the tables, which are a small part of a file with large weights.
std::string damage(std::vector<uint8_t>& file, fuzz::Random& random) {
  if (random.below(2) == 0)
    return "anywhere: " + fuzz::mutate(file, {0, file.size()}, false, random);
  const size_t tables = std::min<size_t>(file.size(), 16 << 10);
  const bool front = random.below(2) == 0;
  const fuzz::Range where =
      front ? fuzz::Range{0x40, tables} : fuzz::Range{file.size() - tables, file.size()};
  return "tables: " + fuzz::mutate(file, where, true, random);
}

TEST(VendorMutationTest, DamagedFilesAreRefusedWithAReasonOrRun) {
  RK_NEEDS_SAMPLES();
  std::vector<Base> bases;
  for (const char* name : {"multiple_input_RK3588.rknn", "multiple_input_RK3566_RK3568.rknn",
                           "dual_residual_RK3588.rknn", "dual_residual_RK3566_RK3568.rknn",
                           "pp_human_seg_RK3588.rknn"}) {
    bases.push_back({name, sample(name)});
  }
  // Where the corpus was unpacked (tests/vendor/check.py): the small chips' container, tables, recurrent lists.
  for (const char* name :
       {"rv1106/int8/digits", "rv1103b/int8/digits", "rk3588/fp16/layer_lstm_cell_forward",
        "rk3588/int8/layer_maxpooling_sigmoid", "rk3588/int8/layer_attention"}) {
    std::vector<uint8_t> file = corpus_file(name);
    if (!file.empty()) bases.insert(bases.begin(), {name, std::move(file)});
  }
  // RK_FUZZ_CASE names one of them, as a failure's message does.
  const char* const given = std::getenv("RK_FUZZ_CASE");
  const size_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
  const size_t cases = given != nullptr ? first + 1 : is_long() ? 50'000 : 1'000;
  // The large file: one case in a hundred, one in five hundred where everything is slow.
  const size_t rare = is_subset() ? 500 : 100;
  const int level = log_level();
  set_log_level(0);
  size_t refused = 0, ran = 0, too_large = 0;
  {
    fuzz::Guard guard;
    for (size_t i = first; i < cases; ++i) {
      fuzz::Random random(kSeed + i);
      const Base& base = i % rare == rare - 1 ? bases.back() : bases[i % (bases.size() - 1)];
      std::vector<uint8_t> file = base.file;
      const std::string text = damage(file, random);
      guard.begin_case(str("case ", i, " of seed ", kSeed, " on ", base.name, ": ", text));
      Status described, status;
      try {
        described = describe(file);
        status = load_and_run(file);
      } catch (const std::bad_alloc&) {
        ++too_large;
        ADD_FAILURE() << "an allocation that is too large: case " << i << " on " << base.name
                      << ": " << text;
        continue;
      }
      for (const Status& s : {described, status}) {
        if (s.ok()) continue;
        EXPECT_GT(s.message().size(), 10u) << "case " << i << ": " << text;
      }
      (status.ok() ? ran : refused) += 1;
    }
  }
  set_log_level(level);
  std::printf(
      "FIGURE damaged vendor files (seed %llu): crash, hang, over 1 GiB | %zu of %zu; %zu refused "
      "with a reason, %zu "
      "ran | 0 | %s\n",
      static_cast<unsigned long long>(kSeed), too_large, refused + ran + too_large, refused, ran,
      too_large == 0 ? "ok" : "SHORT");
  if (given != nullptr) return;
  EXPECT_GT(refused, 0u);
  EXPECT_GT(ran, 0u);
}

}  // namespace
}  // namespace rk::vendor
