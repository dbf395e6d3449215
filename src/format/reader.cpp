// SPDX-License-Identifier: Apache-2.0
#include "format/reader.h"

#include "format/coded_weights.h"
#include "format/container.h"
#include "format/program_codec.h"
#include "format/removed_weights.h"
#include "format/small_writer.h"
#include "format/vendor/lift.h"
#include "format/vendor_model.h"

namespace rk::format {

namespace {

Result<program::Program> read_section(const Container& container, const FileModel& model,
                                      const std::shared_ptr<const void>& owner) {
  const Section& section = *container.section;
  if (container.small) return decode_with_weights(section.version, section.payload, owner);
  std::vector<program::Blob> weights;
  weights.reserve(model.buffers.size());
  for (const FileBuffer& buffer : model.buffers) weights.push_back({owner, buffer.data});
  return decode_program(section.version, section.payload, std::move(weights));
}

}  // namespace

Result<program::Program> read_rknn(ByteSpan file, std::shared_ptr<const void> owner,
                                   const ReadOptions& options) {
  RK_ASSIGN(const Container container, split_container(file));
  RK_ASSIGN(const FileModel model, read_model(container));
  if (!container.section) return lift_model(model, owner, {.describe_only = options.info_only});
  RK_ASSIGN(program::Program program, read_section(container, model, owner));
  RK_TRY(decode_constants(program));
  if (!program.removed.empty()) {
    if (options.weights_from != nullptr) {
      RK_TRY(take_weights(program, *options.weights_from));
    } else if (options.info_only) {
      RK_TRY(fill_with_zeros(program));
    }
  }
  const Status legal = program::verify(program);
  if (!legal.ok()) return legal.with_context("the compiled model in this .rknn file");
  return program;
}

Result<program::Program> read_rknn(std::vector<uint8_t> file, const ReadOptions& options) {
  const auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(file));
  return read_rknn(*owner, owner, options);
}

}  // namespace rk::format
