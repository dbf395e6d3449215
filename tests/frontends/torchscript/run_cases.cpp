// SPDX-License-Identifier: Apache-2.0
// run_cases CASES.txt FOLDER: compiles the sources in cases.txt with libtorch, runs them, and writes per case NAME.pt,
// NAME.in<i>.npy and NAME.out<i>.npy. make_cases.py calls it; cases.txt describes the form. Inputs and parameters are
// drawn from a fixed seed.
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace {

// "torch.relu" and "ops.quantized.add", as saved modules spell them.
struct Namespaces : torch::jit::SugaredValue {
  std::string kind() const override { return "ops"; }
  std::shared_ptr<torch::jit::SugaredValue> attr(const torch::jit::SourceRange&,
                                                 torch::jit::GraphFunction&,
                                                 const std::string& field) override {
    return std::make_shared<torch::jit::BuiltinModule>(field);
  }
};

struct Names : torch::jit::Resolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string& name,
                                                         torch::jit::GraphFunction&,
                                                         const torch::jit::SourceRange&) override {
    if (name == "torch") return std::make_shared<torch::jit::BuiltinModule>("aten");
    if (name == "ops") return std::make_shared<Namespaces>();
    return nullptr;
  }
};

struct Tensors {
  std::string name;
  at::Tensor value;
};

// "3,4,5 kind": normal (none given), positive, half, int N (0..N-1), bool, quint8, qint8 (a scale per channel),
// symmetric (the same with zero points 0).
at::Tensor drawn(std::istringstream& in) {
  std::string text, kind;
  in >> text >> kind;
  std::vector<int64_t> dims;
  std::istringstream list(text == "scalar" ? "" : text);
  for (std::string part; std::getline(list, part, ',');) dims.push_back(std::stoll(part));
  const at::Tensor normal = at::randn(dims);
  if (kind == "positive") return normal.abs().add(0.1);
  if (kind == "half") return normal.to(at::kHalf);
  if (kind == "bool") return normal.gt(0);
  if (kind == "int") {
    int64_t count = 1;
    in >> count;
    return at::randint(count, dims, at::kLong);
  }
  if (kind == "qint8" || kind == "symmetric") {
    const int64_t n = dims[0];
    const at::Tensor points =
        kind == "qint8" ? at::randint(-20, 20, {n}, at::kLong) : at::zeros({n}, at::kLong);
    return at::quantize_per_channel(normal, at::rand({n}, at::kDouble).mul(0.02).add(0.01), points,
                                    0, at::kQInt8);
  }
  return normal;
}

void write_npy(const std::string& path, const at::Tensor& from) {
  const at::Tensor plain = (from.is_quantized() ? from.dequantize() : from).contiguous();
  const char* type = plain.scalar_type() == at::kLong   ? "<i8"
                     : plain.scalar_type() == at::kInt  ? "<i4"
                     : plain.scalar_type() == at::kBool ? "|b1"
                                                        : "<f4";
  const at::Tensor data = type[1] == 'f' ? plain.to(at::kFloat) : plain;
  std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (";
  for (const int64_t extent : data.sizes()) header += std::to_string(extent) + ",";
  header += "), }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() & 255)
      << static_cast<char>(header.size() >> 8) << header;
  out.write(static_cast<const char*>(data.data_ptr()), static_cast<std::streamsize>(data.nbytes()));
}

void flatten(const at::IValue& value, std::vector<at::Tensor>& out) {
  if (value.isTensor()) return out.push_back(value.toTensor());
  if (value.isTuple()) {
    for (const auto& item : value.toTupleRef().elements()) flatten(item, out);
  } else if (value.isList()) {
    for (const at::IValue& item : value.toListRef()) flatten(item, out);
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) flatten(item.value(), out);
  }
}

struct Case {
  std::string name, code, signature = "self";
  std::vector<Tensors> inputs, params;
  bool refused = false;
};

void run(const Case& c, const std::string& folder) {
  torch::jit::Module module("Net");
  for (const Tensors& param : c.params) module.register_buffer(param.name, param.value);
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define("def forward(" + c.signature + "):\n" + c.code, std::make_shared<Names>());
  module.save(folder + "/" + c.name + ".pt");
  if (c.refused) return;
  std::vector<at::IValue> arguments;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    write_npy(folder + "/" + c.name + ".in" + std::to_string(i) + ".npy", c.inputs[i].value);
    arguments.emplace_back(c.inputs[i].value.clone());
  }
  std::vector<at::Tensor> outputs;
  flatten(module.forward(arguments), outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    write_npy(folder + "/" + c.name + ".out" + std::to_string(i) + ".npy", outputs[i]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  at::globalContext().setQEngine(at::QEngine::QNNPACK);
  at::NoGradGuard no_grad;
  std::ifstream file(argv[1]);
  Case current;
  int failed = 0;
  const auto finish = [&] {
    if (current.name.empty()) return;
    try {
      run(current, argv[2]);
    } catch (const std::exception& error) {
      std::cerr << current.name << ": " << error.what() << "\n";
      ++failed;
    }
    current = Case();
  };
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("    ", 0) == 0) {
      current.code += line + "\n";
      continue;
    }
    std::istringstream words(line);
    std::string word, name;
    words >> word;
    if (word == "case") {
      finish();
      words >> current.name;
      // Each case has numbers of its own, so that one more does not change the others.
      at::manual_seed(std::hash<std::string>()(current.name) & 0xffffffff);
    } else if (word == "input" || word == "param") {
      words >> name;
      const at::Tensor value = drawn(words);
      if (word == "param") {
        current.params.push_back({name, value});
      } else {
        current.inputs.push_back({name, value});
        current.signature += ", " + name + ": Tensor";
      }
    } else if (word == "argument") {
      std::string rest;
      std::getline(words, rest);
      current.signature += "," + rest;
    } else if (word == "refused") {
      current.refused = true;
    }
  }
  finish();
  return failed == 0 ? 0 : 1;
}
