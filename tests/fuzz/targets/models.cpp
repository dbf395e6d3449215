// SPDX-License-Identifier: Apache-2.0
// Whole models: .rknn files loaded and run, told of, or made ONNX of again; ONNX files imported, compiled and run; and our
// section of a .rknn file with its checksum set right, since that would otherwise stop every change at the door.
#include <algorithm>
#include <cstring>

#include "base/crc32.h"
#include "base/log.h"
#include "compiler/compile.h"
#include "format/inspect.h"
#include "format/inspect_vendor.h"
#include "format/reader.h"
#include "frontends/frontend.h"
#include "ops/registry.h"
#include "passes/pipeline.h"
#include "runtime/session/session.h"
#include "target/target.h"
#include "tests/fuzz/target.h"
#include "toolkit/program_graph.h"

namespace rk::fuzz {
namespace {

constexpr std::string_view kMark = "OPENRKNN";
constexpr size_t kSectionHeader = 24;  // mark, u32 version, u32 crc32, u64 size
constexpr size_t kCrcOffset = 12;

uint64_t work_of(const program::Program& program) {
  uint64_t out = 0;
  for (const program::Variant& variant : program.variants) {
    for (const program::Step& step : variant.steps) out += std::min(step.macs, kMaxWork);
    for (const program::ProgramTensor& tensor : variant.tensors)
      out += static_cast<uint64_t>(tensor.shape.elements()) * 16;
  }
  return out;
}

void run(const std::shared_ptr<const runtime::LoadedModel>& model) {
  if (work_of(model->program()) > kMaxWork) return;
  const auto session = runtime::Session::create(model, {.threads = 1});
  if (!session.ok() || !(*session)->run().ok()) return;
  for (size_t i = 0; i < (*session)->output_count(); ++i) {
    const runtime::CallerFormat format;  // f32
    const auto size = (*session)->output_bytes(i, format);
    if (!size.ok()) continue;
    std::vector<uint8_t> bytes(*size);
    (void)(*session)->get_output(i, format, bytes.data(), *size);
  }
}

}  // namespace

void fuzz_rknn(Bytes bytes) {
  const auto model = runtime::LoadedModel::from_bytes(bytes, {});
  if (model.ok()) run(*model);
}

// All that `rknn info` tells of a file.
void fuzz_info(Bytes bytes) {
  (void)format::inspect_text(bytes, {.tensors = true, .program = true});
  (void)format::tasks_text(bytes);
  (void)format::registers_text(bytes);
  (void)format::sizes_text(bytes);
  (void)format::diff_text(bytes, bytes);
}

// As `rknn lift`, which writes no file of what is illegal: one may be without outputs.
void fuzz_lift(Bytes bytes) {
  const auto program = format::read_rknn({bytes.begin(), bytes.end()});
  if (!program.ok() || work_of(*program) > kMaxWork) return;
  const auto graph = toolkit::graph_of(*program, ops::registry());
  if (graph.ok() && verify(*graph).ok()) (void)frontends::export_onnx(*graph);
}

void fuzz_program(Bytes bytes) {
  std::vector<uint8_t> file(bytes.begin(), bytes.end());
  const auto found = std::find_end(file.begin(), file.end(), kMark.begin(), kMark.end());
  const auto section = static_cast<size_t>(found - file.begin());
  if (section + kSectionHeader <= file.size()) {
    const uint64_t size = file.size() - section - kSectionHeader;
    const uint32_t crc = crc32(Bytes(file).subspan(section + kSectionHeader));
    std::memcpy(&file[section + kCrcOffset], &crc, sizeof crc);
    std::memcpy(&file[section + kCrcOffset + sizeof crc], &size, sizeof size);
  }
  fuzz_rknn(file);
}

void fuzz_onnx(Bytes bytes) {
  auto graph = frontends::import_onnx_bytes(bytes, "", {}, ops::registry());
  if (!graph.ok()) return;
  const auto chip = target::find_target("rk3588");
  if (!chip.ok() || !passes::run_pipeline(*graph, **chip, {}).ok()) return;
  compiler::CompileOptions options;
  for (const Value* input : graph->inputs())
    options.inputs.push_back({{}, {}, false, input->dtype()});
  auto program = compiler::compile(*graph, options);
  if (!program.ok()) return;
  const auto model = runtime::LoadedModel::from_program(std::move(*program), {});
  if (model.ok()) run(*model);
}

}  // namespace rk::fuzz
