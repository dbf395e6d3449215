// SPDX-License-Identifier: Apache-2.0
// Vendor files put together by hand, for the tests of lifting.
#pragma once

#include <cstring>
#include <memory>

#include "format/vendor/lift.h"
#include "format/vendor/tasks.h"
#include "target/registers.h"

namespace rk::format {

namespace reg = target::reg;
using program::TensorKind;

struct Write {
  uint16_t offset;
  uint32_t value;
};

class VendorFile {
 public:
  explicit VendorFile(std::string platform = "rk3588") {
    model.platform = std::move(platform);
    model.source = "ONNX";
    model.compiler = "1.6.2-source_code(compiler version: 1.6.2b0 (6e4d@2024))";
    model.buffers.emplace_back();
    model.graphs.emplace_back();
    graph().tensors.emplace_back();
  }

  FileGraph& graph() { return model.graphs.front(); }

  int32_t feature(const std::string& name, TensorKind kind, float scale, int32_t zero_point) {
    FileTensor t;
    t.name = name;
    t.kind = kind;
    t.dtype = DType::kI8;
    t.layout = program::Layout::kNc1hwc2;
    t.shape = {1, 1, 2, 2};
    t.native_shape = {1, 1, 2, 2, 16};
    t.scale = {scale};
    t.zero_point = {zero_point};
    t.size_bytes = 64;
    t.offset_in_internal = static_cast<uint32_t>(64 * graph().tensors.size());
    graph().tensors.push_back(t);
    const auto index = static_cast<int32_t>(graph().tensors.size()) - 1;
    if (kind == TensorKind::kInput) graph().inputs.push_back(index);
    if (kind == TensorKind::kOutput) graph().outputs.push_back(index);
    return index;
  }

  int32_t constant(const std::string& name, DType dtype, std::vector<int32_t> shape,
                   std::vector<int32_t> native, std::vector<uint8_t> bytes) {
    FileTensor t;
    t.name = name;
    t.kind = TensorKind::kNpuConstant;
    t.dtype = dtype;
    t.layout = native.size() == 6 ? program::Layout::kWeight : program::Layout::kPlain;
    t.shape = std::move(shape);
    t.native_shape = std::move(native);
    t.size_bytes = static_cast<uint32_t>(bytes.size());
    t.buffer = add_buffer(std::move(bytes));
    graph().tensors.push_back(t);
    return static_cast<int32_t>(graph().tensors.size()) - 1;
  }

  int32_t weight() {
    return constant("w", DType::kI8, {1, 1, 1, 1}, {1, 1, 1, 1, 1, 16},
                    std::vector<uint8_t>(16, 3));
  }
  // bias 7, o 0, m 1.0 in channel 0.
  int32_t bias() {
    std::vector<uint8_t> block(256);
    block[0] = 7;
    block[49] = 0x40;
    return constant("b", DType::kI32, {1}, {64}, std::move(block));
  }

  FileNode& node(const std::string& type, std::vector<int32_t> inputs,
                 std::vector<int32_t> outputs) {
    FileNode n;
    n.type = type;
    n.name = str(type, ":n", graph().nodes.size());
    n.processor = program::Processor::kNpu;
    n.inputs = std::move(inputs);
    n.outputs = std::move(outputs);
    n.task_counts = {0};
    graph().nodes.push_back(n);
    return graph().nodes.back();
  }
  void conv(const std::string& type, std::vector<int32_t> inputs, int32_t out,
            const std::vector<Write>& writes) {
    node(type, std::move(inputs), {out}).params =
        FileConvParams{"NOTSET", {1, 1}, 1, {1, 1}, {0, 0, 0, 0}, {1, 1}};
    task(0x1d, writes);
  }
  // For the node added last.
  void task(uint32_t units, const std::vector<Write>& writes) {
    ++graph().nodes.back().task_counts[0];
    std::vector<uint8_t> bytes(40);
    const auto put = [&](size_t at, uint32_t value) { std::memcpy(bytes.data() + at, &value, 4); };
    put(4, static_cast<uint32_t>(graph().nodes.size() - 1));
    put(8, units);
    put(24, static_cast<uint32_t>(writes.size()));
    put(32, static_cast<uint32_t>(words_.size() * 8));
    tasks_.insert(tasks_.end(), bytes.begin(), bytes.end());
    for (const Write& w : writes)
      words_.push_back(uint64_t{0x1001} << 48 | uint64_t{w.value} << 16 | w.offset);
  }
  void address(const std::string& tensor, size_t word) {
    graph().relocs.push_back({tensor, {{0, static_cast<uint32_t>(word)}}, {}});
  }
  size_t word_count() const { return words_.size(); }

  Result<program::Program> lift(const LiftOptions& options = {}) {
    if (!words_.empty()) {
      std::vector<uint8_t> bytes(words_.size() * 8);
      std::memcpy(bytes.data(), words_.data(), bytes.size());
      add_list(kRegisterCommandsKind, std::move(bytes));
      add_list(kTasksKind, tasks_);
    }
    return lift_model(model, nullptr, options);
  }

  FileModel model;

 private:
  uint32_t add_buffer(std::vector<uint8_t> bytes) {
    kept_.push_back(std::make_unique<std::vector<uint8_t>>(std::move(bytes)));
    model.buffers.push_back({*kept_.back()});
    return static_cast<uint32_t>(model.buffers.size()) - 1;
  }
  void add_list(TensorKind kind, std::vector<uint8_t> bytes) {
    FileTensor t;
    t.kind = kind;
    t.dtype = DType::kU64;
    t.buffer = add_buffer(std::move(bytes));
    graph().tensors.push_back(t);
  }
  std::vector<std::unique_ptr<std::vector<uint8_t>>> kept_;
  std::vector<uint64_t> words_;
  std::vector<uint8_t> tasks_;
};

// Bias stage with multipliers, other stages bypassed, output 20000 / 2^20 - 5.
inline std::vector<Write> plain_list() {
  return {{reg::DPU_DATA_FORMAT, 14 << 4},  // shift of products below zero
          {reg::DPU_BS_CFG, 0x20140},
          {reg::DPU_BS_MUL_CFG, 0xe01},
          {reg::DPU_BN_CFG, 0x53},
          {reg::DPU_EW_CFG, 0x383},
          {reg::DPU_OUT_CVT_OFFSET, 0xfffffffb},
          {reg::DPU_OUT_CVT_SCALE, 20000},
          {reg::DPU_OUT_CVT_SHIFT, 20},
          {reg::DPU_RDMA_RDMA_BRDMA_CFG, 14}};
}

inline std::vector<Write> with(std::vector<Write> list, std::initializer_list<Write> more) {
  list.insert(list.end(), more);
  return list;
}

}  // namespace rk::format
