// SPDX-License-Identifier: Apache-2.0
// What emit functions write to: one variant under construction. A value has one home tensor (int8
// where quantized, float16 where float); as_f16() and as_i8() put an exDataConvert step where a
// reader wants the other form.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/compile.h"
#include "program/stages.h"
#include "target/target.h"

namespace rk::compiler {

using program::Affine;

// Quantized per tensor to 8 bits. uint8 parameters are shifted to int8.
bool is_i8(const Value& value);
// Quantized per tensor to int16.
bool is_i16(const Value& value);
Affine affine_of(const Value& value);  // is_i8(value) or is_i16(value) must hold

// The constants of a Program, each distinct sequence of bytes once.
class WeightTable {
 public:
  explicit WeightTable(program::Program& program) : program_(program) {}
  int32_t add(std::vector<uint8_t> bytes);

 private:
  program::Program& program_;
  std::multimap<uint32_t, int32_t> by_checksum_;
};

struct ConstantSpec {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
  std::vector<uint8_t> bytes;
  program::TensorKind kind = program::TensorKind::kNpuConstant;
  program::Layout layout = program::Layout::kPlain;
  std::vector<int32_t> native_shape;
};

class Builder {
 public:
  Builder(const Graph& graph, const target::Target& target, const CompileOptions& options,
          WeightTable& weights);

  const Graph& graph() const { return graph_; }
  const target::Target& target() const { return target_; }
  const CompileOptions& options() const { return options_; }
  // Integers are not asked for where the build's list says float16.
  bool may_use_integers(const Node& node) const;
  program::Variant& variant() { return variant_; }

  // The tensor that holds the value. Constants become plain CPU constants.
  int32_t home(const Value& value);
  // The same value as float16, converted where the home is another type.
  int32_t as_f16(const Value& value);
  // An int8 value as int16, on the same scale, so exactly; others as they are.
  int32_t as_i16(const Value& value);

  // The tensor a step of this form must write. For an int8 home and a float step it is a float16
  // tensor, which finish_output() converts into the home.
  int32_t output(const Value& value, DType form);
  void finish_output(const Value& value, int32_t written);

  int32_t add_constant(ConstantSpec spec);
  int32_t add_internal(std::string name, DType dtype, const Shape& shape,
                       const Affine& affine = {});

  // All steps of one node go to the same processor.
  void set_processor(program::Processor processor) { processor_ = processor; }
  program::Processor processor() const { return processor_; }
  void add_step(program::Step step);

 private:
  void convert(int32_t from, int32_t to);
  int32_t add_tensor(program::ProgramTensor tensor);

  const Graph& graph_;
  const target::Target& target_;
  const CompileOptions& options_;
  WeightTable& weights_;
  program::Variant variant_;
  program::Processor processor_ = program::Processor::kNpu;
  std::unordered_map<const Value*, int32_t> homes_;
  std::unordered_map<const Value*, int32_t> f16_copies_;
  std::unordered_map<const Value*, int32_t> i16_copies_;
};

}  // namespace rk::compiler
