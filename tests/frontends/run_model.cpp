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
// After the verdict of mode graph: "OPS N op=count ..." and "OUTPUTS N<tab>name<tab>name...".
#include <fstream>
#include <iostream>
#include <map>
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

Status run_graph(const Job& job, const std::vector<Tensor>& inputs, Seen& seen) {
  frontends::ImportOptions options;
  options.input_shapes = shapes_of(job);
  options.inputs = split(one(job, "inputs"));
  options.outputs = split(one(job, "outputs"));
  options.input_is_nchw = !one(job, "nchw").empty();
  RK_ASSIGN(frontends::Imported model, frontends::import_model(all(job, "file"), one(job, "format"),
                                                               options, ops::registry()));
  RK_TRY(quant::float_borders(model.graph));
  std::map<std::string, int> counts;
  for (const Node* node : model.graph.nodes()) ++counts[std::string(node->op())];
  for (const auto& [op, count] : counts) seen.operators += str(" ", op, "=", count);
  for (const Value* output : model.graph.outputs()) seen.outputs += "\t" + output->name();
  RK_ASSIGN(const auto outputs, evaluator::evaluate(model.graph, inputs, {}));
  for (size_t i = 0; i < outputs.size(); ++i) {
    RK_TRY(write_tensor(str(one(job, "out"), i, ".npy"), outputs[i]));
  }
  return ok_status();
}

struct Context {
  rknn_context handle = 0;
  ~Context() {
    if (handle != 0) rknn_destroy(handle);
  }
};

Status run_built(const Job& job, const std::vector<Tensor>& inputs) {
  toolkit::Toolkit kit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  RK_TRY(kit.config(std::move(config)));
  toolkit::LoadOptions load;
  load.input_size_list = shapes_of(job);
  load.inputs = split(one(job, "inputs"));
  load.outputs = split(one(job, "outputs"));
  load.input_is_nchw = !one(job, "nchw").empty();
  RK_TRY(kit.load(all(job, "file"), one(job, "format"), load));
  toolkit::BuildOptions build;
  build.do_quantization = one(job, "mode") == "int8";
  build.dataset = one(job, "dataset");
  RK_TRY(kit.build(build));
  RK_ASSIGN(std::vector<uint8_t> image, kit.rknn_bytes());
  Context context;
  RK_TRY(check(rknn_init(&context.handle, image.data(), static_cast<uint32_t>(image.size()), 0,
                         nullptr), "rknn_init"));
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
  RK_TRY(check(rknn_inputs_set(context.handle, static_cast<uint32_t>(feeds.size()), feeds.data()),
               "rknn_inputs_set"));
  RK_TRY(check(rknn_run(context.handle, nullptr), "rknn_run"));
  rknn_input_output_num count{};
  RK_TRY(check(rknn_query(context.handle, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count),
               "rknn_query"));
  std::vector<rknn_output> outputs(count.n_output);
  for (uint32_t i = 0; i < count.n_output; ++i) {
    outputs[i].index = i;
    outputs[i].want_float = 1;
  }
  RK_TRY(check(rknn_outputs_get(context.handle, count.n_output, outputs.data(), nullptr),
               "rknn_outputs_get"));
  Status status;
  for (uint32_t i = 0; i < count.n_output && status.ok(); ++i) {
    const auto elements = static_cast<int64_t>(outputs[i].size / sizeof(float));
    auto tensor = Tensor::from_bytes({DType::kF32, {elements}},
                                     {static_cast<const uint8_t*>(outputs[i].buf), outputs[i].size});
    status = tensor.ok() ? write_tensor(str(one(job, "out"), i, ".npy"), *tensor) : tensor.status();
  }
  rknn_outputs_release(context.handle, count.n_output, outputs.data());
  return status;
}

Status run(const Job& job, Seen& seen) {
  std::vector<Tensor> inputs;
  for (const std::string& path : all(job, "input")) {
    RK_ASSIGN(Tensor tensor, quant::load_npy_tensor(path));
    if (tensor.dtype() == DType::kF64 || tensor.dtype() == DType::kF16) {
      tensor = tensor.cast(DType::kF32);
    }
    inputs.push_back(std::move(tensor));
  }
  return one(job, "mode") == "graph" ? run_graph(job, inputs, seen) : run_built(job, inputs);
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
