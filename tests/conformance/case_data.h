// SPDX-License-Identifier: Apache-2.0
// One conformance case as it lies on disk: a model and the arrays that go in and must come out. Two
// sources: the ONNX standard's node tests (protobuf files beside the model) and single-layer nets
// (.npy files named in an index).
//
// Note: the arrays do not always say their own type. The standard's older
// tests store bfloat16 as uint16; what it is stands only in the model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ir/tensor.h"

namespace rk::conformance {

// What goes in or comes out under one name.
struct Item {
  std::vector<Tensor> tensors;  // one, or a sequence's elements
  bool is_sequence = false;     // without it, no tensor means an absent optional
};

// Kinds of cases that inference with static shapes has no part in.
enum class Scope { kInference, kTraining, kText, kSequenceOutput };

struct Case {
  std::string name;
  std::filesystem::path model;
  std::string op;  // the operator, or "(several)"
  Scope scope = Scope::kInference;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<Item> inputs;
  std::vector<Item> outputs;
  bool quantized = false;  // has operators on quantized integers
};

struct CaseSource {
  std::string name;
  std::filesystem::path folder;
  std::vector<std::string> inputs, outputs;  // .npy files; empty: a node test's protobuf files
  std::string model_file = "model.onnx";
};

// Every folder test_* below `folder`, sorted.
std::vector<CaseSource> find_node_tests(const std::filesystem::path& folder);
// The cases of index.json.
Result<std::vector<CaseSource>> find_layers(const std::filesystem::path& folder);

// kUnsupported for arrays of strings; scope and op are set even then.
Status read_case(const CaseSource& source, Case& out);

}  // namespace rk::conformance
