// SPDX-License-Identifier: Apache-2.0
// Damaged ONNX files: each is refused with a reason, or imports, compiles to fp16 and runs once.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/file.h"
#include "base/log.h"
#include "compiler/compile.h"
#include "frontends/frontend.h"
#include "ops/registry.h"
#include "passes/pipeline.h"
#include "runtime/session/session.h"
#include "target/target.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/onnx_structure.h"

namespace rk::fuzz {
namespace {

constexpr uint64_t kSeed = 20240602;

// A damaged extent can make a sound but enormous network; importing it is enough then.
constexpr uint64_t kMaxWork = 200'000'000;
constexpr uint64_t kMaxWorkSanitized = 20'000'000;

struct Outcome {
  Status status;
  bool ran = false;
};

// Multiplications, and some effort per element for everything else.
uint64_t work_of(const program::Variant& variant) {
  uint64_t out = 0;
  for (const program::Step& step : variant.steps) out += step.macs;
  for (const auto& tensor : variant.tensors)
    out += static_cast<uint64_t>(tensor.shape.elements()) * 16;
  return out;
}

Outcome run_program(program::Program program) {
  const uint64_t work = work_of(program.main_variant());
  const auto model = runtime::LoadedModel::from_program(std::move(program), {});
  if (!model.ok()) return {model.status()};
  if (work > (sanitized() ? kMaxWorkSanitized : kMaxWork)) return {};
  const auto session = runtime::Session::create(*model, {.threads = 1});
  if (!session.ok()) return {session.status()};
  const Status status = (*session)->run();
  return {status, status.ok()};
}

Outcome import_and_run(ByteSpan file) {
  auto graph = frontends::import_onnx_bytes(file, "", {}, ops::registry());
  if (!graph.ok()) return {graph.status()};
  const auto chip = target::find_target("rk3588");
  if (!chip.ok()) return {chip.status()};
  const auto rewrites = passes::run_pipeline(*graph, **chip, {});
  if (!rewrites.ok()) return {rewrites.status()};
  compiler::CompileOptions options;
  for (const Value* input : graph->inputs())
    options.inputs.push_back({{}, {}, false, input->dtype()});
  auto program = compiler::compile(*graph, options);
  if (!program.ok()) return {program.status()};
  return run_program(std::move(*program));
}

// Half the files stay readable. Of the others three quarters are hit at the start, where PyTorch writes the nodes:
// weights fill most of a file, and damage there is no damage.
std::string damage(std::vector<uint8_t>& file, std::span<const std::string> operators,
                   Random& random) {
  constexpr size_t kGraphBytes = 16 << 10;
  if (random.below(2) == 0) return mutate_onnx_structure(file, operators, random);
  const bool front = random.below(4) != 0;
  return mutate(file, {0, front ? std::min(kGraphBytes, file.size()) : file.size()}, false, random);
}

TEST(OnnxFuzz, DamagedFilesAreRefusedWithAReasonOrRun) {
  std::vector<std::vector<uint8_t>> bases;
  for (const char* const name : {"digits/digits.onnx", "signs/signs.onnx"}) {
    auto file = read_file(str(RK_SOURCE_DIR, "/examples/", name));
    ASSERT_TRUE(file.ok()) << file.status().message();
    bases.push_back(std::move(*file));
  }
  std::vector<std::string> operators;
  for (const auto& def : ops::registry().all()) operators.emplace_back(def->name);
  const Outcome sound = import_and_run(bases[0]);
  ASSERT_TRUE(sound.ran) << sound.status.message();
  const int level = log_level();
  set_log_level(0);
  size_t refused = 0, ran = 0, accepted = 0;
  {
    Guard guard;
    for (size_t i = 0; i < case_count(); ++i) {
      Random random(kSeed + i);
      const size_t base = i % 5 == 4 ? 1 : 0;
      std::vector<uint8_t> file = bases[base];
      const std::string text = damage(file, operators, random);
      guard.begin_case(str("case ", i, " of seed ", kSeed, " on ",
                           base == 0 ? "digits.onnx" : "signs.onnx", ": ", text));
      const Outcome outcome = import_and_run(file);
      if (!outcome.status.ok()) {
        ++refused;
        EXPECT_GT(outcome.status.message().size(), 10u) << "case " << i << ": " << text;
      } else {
        ++(outcome.ran ? ran : accepted);
      }
    }
  }
  set_log_level(level);
  std::printf(
      "FIGURE damaged ONNX files (seed %llu): crash, hang, over 1 GiB | 0 of %zu; %zu "
      "refused with a reason, %zu ran, %zu too large to run | 0 | ok\n",
      static_cast<unsigned long long>(kSeed), refused + ran + accepted, refused, ran, accepted);
  EXPECT_GT(refused, 0u);
  EXPECT_GT(ran, 0u);
}

}  // namespace
}  // namespace rk::fuzz
