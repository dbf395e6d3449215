// SPDX-License-Identifier: Apache-2.0
// Runs the ONNX project's node tests: each is a one-operator model with inputs and outputs made by
// ONNX's own reference. A model is imported, evaluated node by node with the operators' references,
// and compared.
//
//   onnx_conformance <folder with test_*/model.onnx> <file of known failures> [test name ...]
//
// A test may fail only when the file names it, and must fail then. Models the importer refuses as
// unsupported are counted apart: they are no wrong results.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "frontends/frontend.h"
#include "frontends/onnx/rk_onnx.pb.h"
#include "frontends/onnx/tensor_data.h"
#include "ops/evaluate.h"
#include "ops/registry.h"

namespace fs = std::filesystem;

namespace rk {
namespace {

// As in the ONNX backend tests.
constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;
// Half and double floats are computed in f32 by the importer's rule, and rounded nowhere.
constexpr double kHalfRelative = 2e-3;

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return io_error(str("cannot read ", path.string()));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<std::vector<Tensor>> read_tensors(const fs::path& folder, const std::string& stem) {
  std::vector<Tensor> out;
  for (int i = 0;; ++i) {
    const fs::path path = folder / str(stem, "_", i, ".pb");
    if (!fs::exists(path)) return out;
    RK_ASSIGN(const std::string bytes, read_file(path));
    onnx::TensorProto proto;
    if (!proto.ParseFromString(bytes)) return unsupported("a file that is no tensor");
    RK_ASSIGN(Tensor tensor, frontends::import_tensor(proto, "", path.filename().string()));
    out.push_back(std::move(tensor));
  }
}

// The shapes come from the test's tensors. First nothing is constant, then all inputs but the
// first, then all.
Result<Graph> import_model(const std::string& bytes, const std::vector<Tensor>& inputs) {
  const ByteSpan span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  Status last;
  for (const size_t first_constant : {inputs.size(), size_t{1}, size_t{0}}) {
    if (first_constant > inputs.size()) continue;
    frontends::ImportOptions options;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto dims = inputs[i].shape().dims();
      options.input_shapes.emplace_back(dims.begin(), dims.end());
      options.input_initial_values.emplace_back();
      if (i >= first_constant) options.input_initial_values.back() = inputs[i];
    }
    auto graph = frontends::import_onnx_bytes(span, "", options, ops::registry());
    if (graph.ok()) return graph;
    last = graph.status();
  }
  return last;
}

Result<std::vector<Tensor>> run(const Graph& graph, const std::vector<Tensor>& inputs,
                                const std::vector<std::string>& names) {
  std::map<const Value*, Tensor> values;
  for (const Value* value : graph.values()) {
    if (value->is_constant()) values[value] = value->constant();
  }
  for (const Value* input : graph.inputs()) {
    const auto it = std::ranges::find(names, input->name());
    if (it == names.end()) return invalid_argument(str("input '", input->name(), "' has no data"));
    values[input] = inputs[static_cast<size_t>(it - names.begin())].cast(input->dtype());
  }
  for (const Node* node : graph.nodes()) {
    std::vector<const Tensor*> given;
    for (const Value* input : node->inputs()) {
      given.push_back(input == nullptr ? nullptr : &values.at(input));
    }
    RK_ASSIGN(const std::vector<Tensor> results, ops::evaluate_reference(*node, given));
    for (size_t i = 0; i < results.size(); ++i) values[&node->output(i)] = results[i];
  }
  std::vector<Tensor> out;
  for (const Value* output : graph.outputs()) out.push_back(values.at(output));
  return out;
}

Status compare(const Tensor& found, const Tensor& expected) {
  if (!(found.shape() == expected.shape())) {
    return invalid_model(
        str("shape ", to_string(found.shape()), ", expected ", to_string(expected.shape())));
  }
  const bool half = expected.dtype() == DType::kF16 || expected.dtype() == DType::kBF16;
  if (found.dtype() != expected.dtype() &&
      !(is_float(expected.dtype()) && found.dtype() == DType::kF32)) {
    return invalid_model(
        str("dtype ", to_string(found.dtype()), ", expected ", to_string(expected.dtype())));
  }
  for (int64_t i = 0; i < found.elements(); ++i) {
    const double a = found.at_f64(i);
    const double b = expected.at_f64(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::fabs(a - b) <= kAbsolute + (half ? kHalfRelative : kRelative) * std::fabs(b)) continue;
    return invalid_model(str("element ", i, " is ", a, ", expected ", b));
  }
  return ok_status();
}

Status run_test(const fs::path& folder, std::string& op) {
  RK_ASSIGN(const std::string bytes, read_file(folder / "model.onnx"));
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return invalid_model("the model cannot be parsed");
  const auto is_tensor = [](const onnx::ValueInfoProto& value) {
    return value.type().has_tensor_type();
  };
  if (!std::ranges::all_of(model.graph().input(), is_tensor) ||
      !std::ranges::all_of(model.graph().output(), is_tensor)) {
    return unsupported("sequences and optional values");
  }
  op = model.graph().node_size() == 1 ? model.graph().node(0).op_type() : "(several)";
  const fs::path data = folder / "test_data_set_0";
  RK_ASSIGN(const std::vector<Tensor> inputs, read_tensors(data, "input"));
  RK_ASSIGN(const std::vector<Tensor> expected, read_tensors(data, "output"));
  RK_ASSIGN(const Graph graph, import_model(bytes, inputs));
  std::vector<std::string> names;
  for (const auto& input : model.graph().input()) names.push_back(input.name());
  RK_ASSIGN(const std::vector<Tensor> found, run(graph, inputs, names));
  for (size_t i = 0; i < expected.size() && i < found.size(); ++i) {
    RK_TRY(compare(found[i], expected[i]).with_context(str("output ", i)));
  }
  return ok_status();
}

std::set<std::string> read_names(const fs::path& path) {
  std::set<std::string> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::string name = line.substr(0, line.find(' '));
    if (!name.empty() && name[0] != '#') out.insert(name);
  }
  return out;
}

int run_all(const fs::path& folder, const std::set<std::string>& known,
            std::vector<std::string> names) {
  if (names.empty()) {
    for (const auto& entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  int passed = 0;
  int unsupported_count = 0;
  int failed = 0;
  int wrong = 0;
  for (const std::string& name : names) {
    std::string op;
    const Status status = run_test(folder / name, op);
    const bool is_unsupported = status.code() == Code::kUnsupported;
    passed += status.ok();
    unsupported_count += is_unsupported;
    failed += !status.ok() && !is_unsupported;
    if (is_unsupported)
      std::printf("unsupported %s (%s): %s\n", name.c_str(), op.c_str(), status.message().c_str());
    if (!status.ok() && !is_unsupported) {
      std::printf("failed %s (%s): %s\n", name.c_str(), op.c_str(), status.message().c_str());
      wrong += !known.contains(name);
    }
    if (status.ok() && known.contains(name)) {
      std::printf("%s passes now: take it off the list of known failures\n", name.c_str());
      ++wrong;
    }
  }
  std::printf("%d passed, %d failed (%d unexpectedly), %d unsupported\n", passed, failed, wrong,
              unsupported_count);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rk

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: onnx_conformance <folder> <known failures> [test ...]\n");
    return 2;
  }
  return rk::run_all(argv[1], rk::read_names(argv[2]), {argv + 3, argv + argc});
}
