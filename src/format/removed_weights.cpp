// SPDX-License-Identifier: Apache-2.0
#include "format/removed_weights.h"

#include <map>
#include <set>

#include "base/buffer.h"
#include "base/checked_math.h"
#include "base/crc32.h"

namespace rk::format {
namespace {

using program::Program;

// Smaller ones are not worth a look-up, and many of them depend on scales.
constexpr size_t kLeastBytes = 1024;

// Weights of convolutions and operands of operators; nothing that a scale went into.
std::set<int32_t> shared_weights(const Program& program, const Names& kept) {
  std::set<int32_t> out, stay;
  for (const program::Variant& variant : program.variants) {
    for (const program::Step& step : variant.steps) {
      const bool conv = std::holds_alternative<program::ConvParams>(step.params);
      const bool op = std::holds_alternative<program::OpParams>(step.params);
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        if (step.inputs[i] == program::kNone || !(op || (conv && i == 1))) continue;
        const program::ProgramTensor& tensor = variant.tensors[static_cast<size_t>(step.inputs[i])];
        const int32_t weight = tensor.weight;
        if (weight == program::kNone) continue;
        if (kept.contains(tensor.name)) stay.insert(weight);
        if (program.weights[static_cast<size_t>(weight)].bytes.size() >= kLeastBytes)
          out.insert(weight);
      }
    }
  }
  for (const int32_t weight : stay) out.erase(weight);
  return out;
}

Status check_place(const Program& program, const program::RemovedWeight& removed) {
  if (removed.weight >= 0 && static_cast<size_t>(removed.weight) < program.weights.size())
    return ok_status();
  return invalid_model(str("a constant that was left out has index ", removed.weight, " of ",
                           program.weights.size()));
}

}  // namespace

Program without_weights(const Program& program, const Names& kept) {
  Program out = program;
  for (const int32_t weight : shared_weights(program, kept)) {
    program::Blob& blob = out.weights[static_cast<size_t>(weight)];
    out.removed.push_back({weight, blob.bytes.size(), crc32(blob.bytes)});
    blob = {};
  }
  return out;
}

Status take_weights(Program& program, const Program& donor) {
  using Key = std::pair<uint64_t, uint32_t>;  // size and checksum
  std::map<Key, const program::Blob*> held;
  for (const program::Blob& blob : donor.weights) {
    if (blob.bytes.size() >= kLeastBytes) held[{blob.bytes.size(), crc32(blob.bytes)}] = &blob;
  }
  for (const program::RemovedWeight& removed : program.removed) {
    RK_TRY(check_place(program, removed));
    const auto found = held.find({removed.size_bytes, removed.crc32});
    if (found == held.end()) {
      return invalid_model(str("the model lacks a constant of ", removed.size_bytes,
                               " bytes that the context it shares weights with does not have: "
                               "both must be built from the same network with the same "
                               "quantization, and with the same optimization_level (level 3 fits "
                               "some weights to the calibration data; with level 2 for both all "
                               "weights are shared)"));
    }
    program.weights[static_cast<size_t>(removed.weight)] = *found->second;
  }
  program.removed.clear();
  return ok_status();
}

Status fill_with_zeros(Program& program) {
  uint64_t largest = 0;
  for (const program::RemovedWeight& removed : program.removed) {
    RK_TRY(check_place(program, removed));
    largest = std::max(largest, removed.size_bytes);
  }
  if (largest == 0) return ok_status();
  RK_ASSIGN(Buffer zeros, Buffer::try_make(largest, kMaxObjectBytes));
  const auto owner = std::make_shared<const Buffer>(std::move(zeros));
  for (const program::RemovedWeight& removed : program.removed) {
    program.weights[static_cast<size_t>(removed.weight)] = {
        owner, owner->span().first(static_cast<size_t>(removed.size_bytes))};
  }
  program.removed.clear();
  return ok_status();
}

}  // namespace rk::format
