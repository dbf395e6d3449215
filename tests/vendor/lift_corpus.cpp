// SPDX-License-Identifier: Apache-2.0
// Networks of a folder of vendor files, lifted to ONNX graphs: our float evaluator on the graph
// against our runtime on the file, with the inputs that lie beside it.
//
//   vendor_lift FOLDER [--only TEXT] [--most N]      FOLDER/CHIP/int8|fp16/MODEL/model.rknn, input_K.npy
//
// Prints one line per file and FIGURE lines with their bars. Folders named layer_* are not networks.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "base/file.h"
#include "base/npy.h"
#include "evaluator/evaluate.h"
#include "format/reader.h"
#include "frontends/frontend.h"
#include "ops/registry.h"
#include "runtime/session/session.h"
#include "toolkit/program_graph.h"

namespace rk::vendor {
namespace {

namespace fs = std::filesystem;
using Outputs = std::vector<std::vector<float>>;

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  if (aa == 0 && bb == 0) return 1;
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

Result<Outputs> run_file(const std::vector<uint8_t>& file, const Outputs& inputs) {
  RK_ASSIGN(const auto model, runtime::LoadedModel::from_bytes(file, {}));
  RK_ASSIGN(const auto session, runtime::Session::create(model));
  runtime::CallerFormat format;
  format.format = runtime::TensorFormat::kNchw;
  for (size_t i = 0; i < inputs.size(); ++i)
    RK_TRY(session->set_input(i, format, inputs[i].data(), inputs[i].size() * 4));
  RK_TRY(session->run());
  Outputs out;
  for (size_t i = 0; i < session->output_count(); ++i) {
    RK_ASSIGN(const uint64_t bytes, session->output_bytes(i, format));
    out.emplace_back(bytes / 4);
    RK_TRY(session->get_output(i, format, out.back().data(), bytes));
  }
  return out;
}

// The graph takes what the runtime makes of an input: values after mean and std.
Result<Outputs> run_graph(const std::vector<uint8_t>& file, const Outputs& inputs) {
  RK_ASSIGN(const program::Program program, format::read_rknn(file));
  RK_ASSIGN(const Graph graph, toolkit::graph_of(program, ops::registry()));
  RK_TRY(verify(graph));
  RK_TRY(frontends::export_onnx(graph).status());
  const program::Variant& variant = program.main_variant();
  std::vector<Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = variant.tensors[static_cast<size_t>(variant.inputs[i])].shape;
    std::vector<float> values = inputs[i];
    const program::InputInfo info =
        i < program.inputs.size() ? program.inputs[i] : program::InputInfo();
    for (size_t k = 0; k < values.size() && shape.rank() == 4; ++k) {
      const auto channel =
          k / static_cast<size_t>(shape[2] * shape[3]) % static_cast<size_t>(shape[1]);
      const float mean = channel < info.mean.size() ? info.mean[channel] : 0;
      const float std = channel < info.std.size() && info.std[channel] != 0 ? info.std[channel] : 1;
      values[k] = (values[k] - mean) / std;
    }
    if (shape.elements() != static_cast<int64_t>(values.size()))
      return unsupported("an input of another size");
    given.push_back(Tensor::f32(shape, values));
  }
  RK_ASSIGN(const std::vector<Tensor> found, evaluator::evaluate(graph, given));
  Outputs out;
  for (const Tensor& tensor : found) out.push_back(tensor.to_f32());
  return out;
}

// float32 in the model's order, or a picture of bytes with its channels together.
Result<std::vector<float>> planes_of(const NpyArray& array, const Shape& shape) {
  std::vector<float> stored(array.bytes.size() / static_cast<size_t>(array.item_size));
  if (array.kind == 'f' && array.item_size == 4) {
    std::memcpy(stored.data(), array.bytes.data(), array.bytes.size());
    return stored;
  }
  if (array.kind != 'u' || array.item_size != 1) return unsupported("inputs of another type");
  std::copy(array.bytes.begin(), array.bytes.end(), stored.begin());
  if (shape.rank() != 4 || array.shape.size() != 4 || array.shape[3] != shape[1] ||
      array.shape[1] != shape[2])
    return stored;
  const auto channels = static_cast<size_t>(shape[1]);
  const size_t pixels = stored.size() / channels;
  std::vector<float> out(stored.size());
  for (size_t i = 0; i < stored.size(); ++i) out[i % channels * pixels + i / channels] = stored[i];
  return out;
}

struct Score {
  double least_cosine = 1;
  bool same_top = true;
};

Result<Score> compare(const fs::path& folder) {
  RK_ASSIGN(const std::vector<uint8_t> file, read_file((folder / "model.rknn").string()));
  RK_ASSIGN(const program::Program program, format::read_rknn(file));
  const program::Variant& variant = program.main_variant();
  Outputs inputs;
  for (size_t k = 0; fs::exists(folder / str("input_", k, ".npy")); ++k) {
    RK_ASSIGN(const NpyArray array, read_npy((folder / str("input_", k, ".npy")).string()));
    if (k >= variant.inputs.size()) return invalid_model("more inputs than the model has");
    RK_ASSIGN(std::vector<float> values,
              planes_of(array, variant.tensors[static_cast<size_t>(variant.inputs[k])].shape));
    inputs.push_back(std::move(values));
  }
  RK_ASSIGN(const Outputs wanted, run_file(file, inputs));
  RK_ASSIGN(const Outputs found, run_graph(file, inputs));
  if (found.size() != wanted.size()) return invalid_model("another number of outputs");
  Score score;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (found[i].size() != wanted[i].size()) return invalid_model("another size of an output");
    score.least_cosine = std::min(score.least_cosine, cosine(found[i], wanted[i]));
    const auto top = std::max_element(wanted[i].begin(), wanted[i].end());
    const auto chosen = std::max_element(found[i].begin(), found[i].end()) - found[i].begin();
    // Several classes may share the largest int8 value.
    score.same_top &= wanted[i].empty() || wanted[i][static_cast<size_t>(chosen)] >= *top;
  }
  return score;
}

void figure(const std::string& name, bool holds, const std::string& value, const std::string& bar) {
  std::printf("FIGURE %s | %s | %s | %s\n", name.c_str(), value.c_str(), bar.c_str(),
              holds ? "ok" : "SHORT");
}

int check(const fs::path& root, const std::string& only, size_t most) {
  constexpr double kLeastCosine = 0.999;
  constexpr size_t kLeastNetworks = 20;
  std::set<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path folder = entry.path().parent_path();
    if (entry.path().filename() == "model.rknn" &&
        !folder.filename().string().starts_with("layer_") &&
        folder.string().find(only) != std::string::npos)
      folders.insert(folder);
  }
  size_t tried = 0, lifted = 0, good = 0;
  for (const fs::path& folder : folders) {
    if (tried == most) break;
    ++tried;
    const auto score = compare(folder);
    const std::string name = fs::relative(folder, root).string();
    if (!score.ok()) {
      std::printf("  %s: %s\n", name.c_str(), score.status().message().c_str());
      continue;
    }
    ++lifted;
    const bool holds = score->least_cosine >= kLeastCosine && score->same_top;
    good += holds;
    std::printf("  %s: cosine %.6f, top-1 %s%s\n", name.c_str(), score->least_cosine,
                score->same_top ? "equal" : "differs", holds ? "" : "  <- beyond the bar");
    std::fflush(stdout);
  }
  figure("lifted ONNX: networks with the same top-1 and cosine >= 0.999 to our run of the file",
         good >= kLeastNetworks, str(good, " of ", tried, ", ", tried - lifted, " not lifted"),
         str(">= ", kLeastNetworks));
  return good >= kLeastNetworks ? 0 : 1;
}

}  // namespace
}  // namespace rk::vendor

int main(int argc, char** argv) {
  std::string folder, only;
  size_t most = SIZE_MAX;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--only" && i + 1 < words.size()) {
      only = words[++i];
    } else if (words[i] == "--most" && i + 1 < words.size()) {
      most = std::stoul(words[++i]);
    } else {
      folder = words[i];
    }
  }
  if (!std::filesystem::is_directory(folder)) {
    std::cerr << "usage: vendor_lift FOLDER [--only TEXT] [--most N]\n";
    return 2;
  }
  return rk::vendor::check(folder, only, most);
}
