// SPDX-License-Identifier: Apache-2.0
// Builds the trailer from the model's own tables, so the two cannot disagree. Members are added in
// sorted order.
#include "format/trailer.h"

#include "base/json.h"

namespace rk::format {
namespace {

// "1.6.2-source_code(compiler version: ...)" -> "1.6.2-source_code"
std::string toolkit_version(const FileModel& model) {
  return model.compiler.substr(0, model.compiler.find('('));
}

Json norm_tensor(const FileTensor& tensor, int id) {
  // Viewers accept a fixed list of type names or nothing; vendor files name the type of quantized
  // tensors only.
  return Json::object({
      {"dim_num", tensor.shape.size()},
      {"dtype", Json::object({{"qnt_method", tensor.quant_method},
                              {"qnt_type", tensor.quant_type},
                              {"vx_type", tensor.quant_type}})},
      {"size", Json::array_of(tensor.shape)},
      {"tensor_id", id},
      {"url", tensor.name},
  });
}

Json connection(const char* side, int index, int id) {
  return Json::object({
      {"left", side},
      {"left_tensor_id", index},
      {"node_id", 0},
      {"right_tensor", Json::object({{"tensor_id", id}, {"type", "norm_tensor"}})},
  });
}

Json graph_edge(const char* side, int index, int id) {
  return Json::object({{"left", side},
                       {"left_tensor_id", index},
                       {"right", "norm_tensor"},
                       {"right_tensor_id", id}});
}

Json whole_graph_node(size_t input_num, size_t output_num) {
  constexpr const char* kOp = "RKNN_OP_NNBG";
  return Json::object({
      {"input_num", input_num},
      {"lid", "npu_network_bin_graph"},
      {"name", "nnbg"},
      {"nn", Json::object({{"nbg", Json::object({{"type", kOp}})}})},
      {"op", kOp},
      {"output_num", output_num},
      {"uid", 0},
  });
}

}  // namespace

std::string make_trailer(const FileModel& model) {
  static const FileGraph kNoGraph;
  const FileGraph& graph = model.graphs.empty() ? kNoGraph : model.graphs.front();
  Json connections = Json::array(), edges = Json::array(), tensors = Json::array();
  int id = 0;
  const auto add_side = [&](const char* side, const std::vector<int32_t>& indices) {
    for (size_t i = 0; i < indices.size(); ++i, ++id) {
      connections.push(connection(side, static_cast<int>(i), id));
      edges.push(graph_edge(side, static_cast<int>(i), id));
      tensors.push(norm_tensor(graph.tensors[static_cast<size_t>(indices[i])], id));
    }
  };
  add_side("input", graph.inputs);
  add_side("output", graph.outputs);
  return write_json(Json::object({
      {"connection", std::move(connections)},
      {"const_tensor", Json::array()},
      {"graph", std::move(edges)},
      {"input_num", graph.inputs.size()},
      {"name", "rknn model"},
      {"network_platform", model.source},
      {"node_num", 1},
      {"nodes", Json::array({whole_graph_node(graph.inputs.size(), graph.outputs.size())})},
      {"norm_tensor", std::move(tensors)},
      {"norm_tensor_num", id},
      {"ori_network_platform", model.source},
      {"output_num", graph.outputs.size()},
      {"target_platform", Json::array({model.platform})},
      {"version", toolkit_version(model)},
      {"virtual_tensor", Json::array()},
  }));
}

}  // namespace rk::format
