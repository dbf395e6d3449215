// SPDX-License-Identifier: Apache-2.0
// Runs models of every format for check.py: one process, many jobs, arrays in and out as .npy.
//
//   frontend_run JOBS.txt
//
// A job is a block of lines "key value", ended by an empty line:
//   name N            printed with the verdict: "OK N", or "FAIL N: message"
//   format F          word of the load_... call
//   file PATH         repeated, in the order of the call
//   input PATH.npy    repeated, in the graph's order of inputs and axes
//   out PREFIX        outputs go to PREFIX0.npy, ...
//   mode M            graph: the float evaluator; fp16, int8, own: built, and run through the C API
//   shape 1,3,8,8     repeated: input_size_list
//   inputs A,B  outputs A,B  nchw 1
//   dataset PATH      for int8
//   value I=NUMBER    input I becomes this constant and has no array
//   state I=O         repeated: the model runs once per element of the other inputs' first axis. Input I begins with zeros,
//                     then it is output O of the run before; the other outputs are put together along a new first axis
//   samples PREFIX    with state: the inputs of run T go to PREFIX<T>_<I>.npy
// After the verdict of mode graph: "OPS N op=count ..." and "OUTPUTS N<tab>name<tab>name...".
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "base/npy.h"
#include "evaluator/evaluate.h"
#include "frontends/model_source.h"
#include "ops/registry.h"
#include "quant/prequantized.h"
#include "quant/samples.h"
#include "rknn_api.h"
#include "toolkit/rknn_toolkit.h"

namespace rk {
namespace {

using Job = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(part);
  return out;
}

std::string one(const Job& job, const std::string& key) {
  const auto it = job.find(key);
  return it == job.end() ? "" : it->second.front();
}

std::vector<std::string> all(const Job& job, const std::string& key) {
  const auto it = job.find(key);
  return it == job.end() ? std::vector<std::string>() : it->second;
}

std::vector<std::vector<int64_t>> shapes_of(const Job& job) {
  std::vector<std::vector<int64_t>> out;
  for (const std::string& text : all(job, "shape")) {
    auto& shape = out.emplace_back();
    for (const std::string& extent : split(text)) shape.push_back(std::stoll(extent));
  }
  return out;
}

Status write_tensor(const std::string& path, const Tensor& tensor) {
  NpyArray array;
  array.kind = is_float(tensor.dtype()) ? 'f' : tensor.dtype() == DType::kBool ? 'b' : 'i';
  if (tensor.dtype() == DType::kU8) array.kind = 'u';
  array.item_size = static_cast<int>(byte_size(tensor.dtype()));
  array.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  array.bytes.assign(tensor.bytes().begin(), tensor.bytes().end());
  return write_npy(path, array);
}

Status check(int ret, const char* call) {
  return ret == RKNN_SUCC ? ok_status() : invalid_model(str(call, " returned ", ret));
}

struct Seen {
  std::string operators, outputs;
};

using Tensors = std::vector<Tensor>;
// Runs the model once.
using Step = std::function<Result<Tensors>(const Tensors&)>;

// "I=VALUE" -> I, VALUE
std::pair<size_t, std::string> numbered(const std::string& text) {
  const size_t equals = text.find('=');
  return {std::stoul(text.substr(0, equals)), text.substr(equals + 1)};
}

std::vector<std::optional<Tensor>> values_of(const Job& job) {
  std::vector<std::optional<Tensor>> out;
  for (const std::string& text : all(job, "value")) {
    const auto [index, number] = numbered(text);
    out.resize(std::max(shapes_of(job).size(), index + 1));
    out[index] = Tensor::f32({}, std::vector<float>{std::stof(number)});
  }
  return out;
}

Result<Step> open_graph(const Job& job, Seen& seen) {
  frontends::ImportOptions options;
  options.input_shapes = shapes_of(job);
  options.inputs = split(one(job, "inputs"));
  options.outputs = split(one(job, "outputs"));
  options.input_initial_values = values_of(job);
  options.input_is_nchw = !one(job, "nchw").empty();
  RK_ASSIGN(frontends::Imported model, frontends::import_model(all(job, "file"), one(job, "format"),
                                                               options, ops::registry()));
  RK_TRY(quant::float_borders(model.graph));
  std::map<std::string, int> counts;
  for (const Node* node : model.graph.nodes()) ++counts[std::string(node->op())];
  for (const auto& [op, count] : counts) seen.operators += str(" ", op, "=", count);
  for (const Value* output : model.graph.outputs()) seen.outputs += "\t" + output->name();
  auto graph = std::make_shared<Graph>(std::move(model.graph));
  return Step([graph](const Tensors& inputs) { return evaluator::evaluate(*graph, inputs, {}); });
}

struct Context {
  rknn_context handle = 0;
  ~Context() {
    if (handle != 0) rknn_destroy(handle);
  }
};

Result<Tensors> run_once(rknn_context context, const Tensors& inputs) {
  std::vector<rknn_input> feeds(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    feeds[i].index = static_cast<uint32_t>(i);
    feeds[i].buf = const_cast<uint8_t*>(inputs[i].bytes().data());
    feeds[i].size = static_cast<uint32_t>(inputs[i].size_bytes());
    feeds[i].type = inputs[i].dtype() == DType::kI32   ? RKNN_TENSOR_INT32
                    : inputs[i].dtype() == DType::kI64 ? RKNN_TENSOR_INT64
                                                       : RKNN_TENSOR_FLOAT32;
    feeds[i].fmt = inputs[i].shape().rank() == 4 ? RKNN_TENSOR_NCHW : RKNN_TENSOR_UNDEFINED;
  }
  RK_TRY(check(rknn_inputs_set(context, static_cast<uint32_t>(feeds.size()), feeds.data()),
               "rknn_inputs_set"));
  RK_TRY(check(rknn_run(context, nullptr), "rknn_run"));
  rknn_input_output_num count{};
  RK_TRY(check(rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count), "rknn_query"));
  std::vector<rknn_output> outputs(count.n_output);
  for (uint32_t i = 0; i < count.n_output; ++i) {
    outputs[i].index = i;
    outputs[i].want_float = 1;
  }
  RK_TRY(check(rknn_outputs_get(context, count.n_output, outputs.data(), nullptr),
               "rknn_outputs_get"));
  Status status;
  Tensors found;
  for (uint32_t i = 0; i < count.n_output && status.ok(); ++i) {
    const auto elements = static_cast<int64_t>(outputs[i].size / sizeof(float));
    auto tensor = Tensor::from_bytes(
        {DType::kF32, {elements}}, {static_cast<const uint8_t*>(outputs[i].buf), outputs[i].size});
    if (tensor.ok()) found.push_back(std::move(*tensor));
    status = tensor.status();
  }
  rknn_outputs_release(context, count.n_output, outputs.data());
  RK_TRY(status);
  return found;
}

Result<Step> open_built(const Job& job) {
  toolkit::Toolkit kit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  RK_TRY(kit.config(std::move(config)));
  toolkit::LoadOptions load;
  load.input_size_list = shapes_of(job);
  load.inputs = split(one(job, "inputs"));
  load.outputs = split(one(job, "outputs"));
  load.input_initial_val = values_of(job);
  load.input_is_nchw = !one(job, "nchw").empty();
  RK_TRY(kit.load(all(job, "file"), one(job, "format"), load));
  toolkit::BuildOptions build;
  build.do_quantization = one(job, "mode") == "int8";
  build.dataset = one(job, "dataset");
  RK_TRY(kit.build(build));
  RK_ASSIGN(std::vector<uint8_t> image, kit.rknn_bytes());
  auto context = std::make_shared<Context>();
  RK_TRY(check(
      rknn_init(&context->handle, image.data(), static_cast<uint32_t>(image.size()), 0, nullptr),
      "rknn_init"));
  return Step([context](const Tensors& inputs) { return run_once(context->handle, inputs); });
}

// Element `index` of the first axis.
Result<Tensor> part_of(const Tensor& from, int64_t index) {
  RK_ASSIGN(const Shape shape, Shape::make(from.shape().dims().subspan(1)));
  const size_t size = from.size_bytes() / static_cast<size_t>(from.shape()[0]);
  return Tensor::from_bytes({from.dtype(), shape},
                            from.bytes().subspan(static_cast<size_t>(index) * size, size));
}

Result<Tensors> run_sequence(const Job& job, const Step& step, const Tensors& arrays) {
  std::map<size_t, size_t> fed_back;
  for (const std::string& text : all(job, "state")) {
    const auto [input, output] = numbered(text);
    fed_back[input] = std::stoul(output);
  }
  const int64_t runs = arrays.at(0).shape()[0];
  Tensors state = arrays;
  std::vector<std::vector<float>> found;
  for (int64_t run = 0; run < runs; ++run) {
    Tensors inputs;
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (fed_back.contains(i)) {
        inputs.push_back(state[i]);
      } else {
        RK_ASSIGN(Tensor part, part_of(arrays[i], run));
        inputs.push_back(std::move(part));
      }
      if (const std::string samples = one(job, "samples"); !samples.empty()) {
        RK_TRY(write_tensor(str(samples, run, "_", i, ".npy"), inputs.back()));
      }
    }
    RK_ASSIGN(const Tensors outputs, step(inputs));
    for (const auto& [input, output] : fed_back) {
      RK_ASSIGN(state[input], Tensor::from_bytes(arrays[input].type(), outputs.at(output).bytes()));
    }
    found.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto values = outputs[i].to_f32();
      found[i].insert(found[i].end(), values.begin(), values.end());
    }
  }
  Tensors out;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto is_this = [i](const auto& pair) { return pair.second == i; };
    if (std::ranges::any_of(fed_back, is_this)) continue;
    out.push_back(Tensor::f32({static_cast<int64_t>(found[i].size())}, found[i]));
  }
  return out;
}

Status run(const Job& job, Seen& seen) {
  Tensors inputs;
  for (const std::string& path : all(job, "input")) {
    RK_ASSIGN(Tensor tensor, quant::load_npy_tensor(path));
    if (tensor.dtype() == DType::kF64 || tensor.dtype() == DType::kF16) {
      tensor = tensor.cast(DType::kF32);
    }
    inputs.push_back(std::move(tensor));
  }
  RK_ASSIGN(const Step step, one(job, "mode") == "graph" ? open_graph(job, seen) : open_built(job));
  RK_ASSIGN(const Tensors outputs,
            job.contains("state") ? run_sequence(job, step, inputs) : step(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    RK_TRY(write_tensor(str(one(job, "out"), i, ".npy"), outputs[i]));
  }
  return ok_status();
}

}  // namespace
}  // namespace rk

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: frontend_run JOBS.txt\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  rk::Job job;
  std::string line;
  bool more = true;
  while (more) {
    more = static_cast<bool>(std::getline(in, line));
    if (more && !line.empty()) {
      const size_t space = line.find(' ');
      job[line.substr(0, space)].push_back(line.substr(space + 1));
      continue;
    }
    if (job.empty()) continue;
    const std::string name = rk::one(job, "name");
    rk::Seen seen;
    const rk::Status status = rk::run(job, seen);
    std::cout << (status.ok() ? "OK " + name : "FAIL " + name + ": " + status.message())
              << std::endl;
    if (!seen.operators.empty()) std::cout << "OPS " << name << seen.operators << std::endl;
    if (!seen.outputs.empty()) std::cout << "OUTPUTS " << name << seen.outputs << std::endl;
    job.clear();
  }
  return 0;
}
