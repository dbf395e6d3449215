// SPDX-License-Identifier: Apache-2.0
// How a node of the file reads its attributes and binds its tensors.
#include <algorithm>

#include "frontends/tensorflow/importer.h"

namespace rk::frontends::tensorflow {

NodeImport::NodeImport(Importer& importer, const NodeDef& node) : importer_(importer), node_(node) {
  for (const std::string& input : node.input()) {
    if (!input.starts_with("^")) inputs_.push_back(parse_id(input));
  }
}

size_t NodeImport::output_count() const {
  // Beyond any extent that a tensor of the file has: refused where it does not match.
  constexpr int64_t kMost = 1 << 16;
  if (op() == "Split" || op() == "SplitV" || op() == "Unpack" || op() == "Unstack") {
    const int64_t count = attr_int(op().starts_with("Split") ? "num_split" : "num", 0);
    return count < 0 || count > kMost ? 0 : static_cast<size_t>(count);
  }
  if (op() == "TopKV2" || op() == "TopK") return 2;
  return 1;
}

std::string NodeImport::output_name(size_t i) const {
  return to_string(TensorId{node_.name(), static_cast<int>(i)});
}

Result<Held*> NodeImport::held(size_t i) {
  if (!has(i)) return invalid_model(str("input ", i, " is not there"));
  return importer_.held(inputs_[i]);
}

Status NodeImport::bind_held(size_t i, Held held) {
  importer_.held_[{node_.name(), static_cast<int>(i)}] = held;
  return ok_status();
}

Status NodeImport::bind_rounded(size_t i, Value* value, Order order, Rounding) {
  Graph& graph = builder().graph();
  const std::string name = output_name(i);
  if (value->producer() != nullptr && value->name() != name && graph.find(name) == nullptr) {
    graph.rename(value, name);
  }
  return bind_held(
      i, order == Order::kFirst ? Held::channels_first(value) : Held::in_file_order(value));
}

const AttrValue* NodeImport::attr(const std::string& name) const {
  const auto it = node_.attr().find(name);
  return it == node_.attr().end() ? nullptr : &it->second;
}

int64_t NodeImport::attr_int(const std::string& name, int64_t fallback) const {
  const AttrValue* const value = attr(name);
  return value != nullptr && value->value_case() == AttrValue::kI ? value->i() : fallback;
}

float NodeImport::attr_float(const std::string& name, float fallback) const {
  const AttrValue* const value = attr(name);
  return value != nullptr && value->value_case() == AttrValue::kF ? value->f() : fallback;
}

bool NodeImport::attr_bool(const std::string& name) const {
  const AttrValue* const value = attr(name);
  return value != nullptr && value->b();
}

std::string NodeImport::attr_string(const std::string& name, std::string fallback) const {
  const AttrValue* const value = attr(name);
  return value != nullptr && value->value_case() == AttrValue::kS ? value->s() : fallback;
}

std::vector<int64_t> NodeImport::attr_ints(const std::string& name) const {
  const AttrValue* const value = attr(name);
  if (value == nullptr) return {};
  return {value->list().i().begin(), value->list().i().end()};
}

Result<DType> NodeImport::attr_dtype(const std::string& name, DType fallback) const {
  const AttrValue* const value = attr(name);
  if (value == nullptr || value->value_case() != AttrValue::kType) return fallback;
  const DType dtype = dtype_of(value->type());
  if (dtype != DType::kUndefined) return dtype;
  return unsupported(str("type ", dtype_name(value->type()), " is not taken"));
}

Result<NodeImport::Picture> NodeImport::picture(size_t i, int spatial) {
  RK_ASSIGN(const Held* const input, held(i));
  if (input->shape().rank() != spatial + 2) {
    return invalid_model(str("input '", input_name(i), "' is ", rk::to_string(input->shape()),
                             "; a picture of rank ", spatial + 2, " is expected"));
  }
  if (channels_first()) {
    RK_ASSIGN(Value* const value, last(i));
    return Picture{value, Order::kFile};
  }
  RK_ASSIGN(Value* const value, first(i));
  return Picture{value, Order::kFirst};
}

Result<Value*> NodeImport::filter(size_t i, const std::vector<int64_t>& perm) {
  RK_ASSIGN(Value* const value, last(i));
  if (value->shape().rank() != static_cast<int>(perm.size())) {
    return invalid_model(str("the filter '", input_name(i), "' is ", rk::to_string(value->shape()),
                             "; rank ", perm.size(), " is expected"));
  }
  const Node* const real = value->producer();
  if (real == nullptr || real->op() != "DequantizeLinear" || !real->input(0).is_constant()) {
    return transposed(builder(), value, perm, "/moved");
  }
  std::vector<Value*> inputs = real->inputs();
  RK_ASSIGN(inputs[0], transposed(builder(), inputs[0], perm, "/moved"));
  AttrMap attrs;
  if (inputs[1]->shape().rank() == 1) {
    const auto axis = std::ranges::find(perm, real->i64("axis"));
    attrs["axis"] = static_cast<int64_t>(axis - perm.begin());
  }
  return emit("DequantizeLinear", "/filter", std::move(inputs), std::move(attrs));
}

Result<std::vector<float>> NodeImport::floats(size_t i, std::string_view what) {
  RK_ASSIGN(const Value* const value, last(i));
  if (!value->is_constant()) {
    return unsupported(
        str(what, " '", input_name(i), "' is computed at run time; it must be a constant"));
  }
  std::vector<float> out;
  for (int64_t k = 0; k < value->constant().elements(); ++k) {
    out.push_back(static_cast<float>(value->constant().at_f64(k)));
  }
  return out;
}

const Dilated* NodeImport::dilation() const {
  const auto it = importer_.dilated_.find(node_.name());
  return it == importer_.dilated_.end() ? nullptr : &it->second;
}

const NodeDef* NodeImport::only_reader(const NodeDef& node) const {
  const auto is_end = [&](const TensorId& id) { return id.node == node.name(); };
  if (std::ranges::any_of(importer_.outputs_, is_end)) return nullptr;
  const auto it = importer_.readers_.find(node.name());
  if (it == importer_.readers_.end() || it->second.size() != 1) return nullptr;
  const NodeDef* const reader = it->second[0];
  const bool is_main = reader->input_size() > 0 && parse_id(reader->input(0)).node == node.name();
  const auto is_cut = [&](const TensorId& id) { return id.node == reader->name(); };
  return is_main && !std::ranges::any_of(importer_.inputs_, is_cut) ? reader : nullptr;
}

Result<std::vector<int64_t>> NodeImport::constant_ints(const std::string& input) const {
  const auto it = importer_.nodes_.find(parse_id(input).node);
  if (it == importer_.nodes_.end() || it->second->op() != "Const" ||
      !it->second->attr().contains("value")) {
    return unsupported("not a Const");
  }
  RK_ASSIGN(const Tensor tensor,
            tensor_of(it->second->attr().at("value").tensor(), importer_.import_.builder()));
  if (!is_integer(tensor.dtype())) return unsupported("not integers");
  return tensor.to_i64();
}

// SpaceToBatchND, a VALID convolution of stride 1, anything per channel, BatchToSpaceND with the
// same blocks: a dilated convolution whose border is what the first adds less what the last takes
// away.
bool NodeImport::replaced_by_dilation() {
  const NodeDef* const convolution = only_reader(node_);
  if (convolution == nullptr ||
      (convolution->op() != "Conv2D" && convolution->op() != "DepthwiseConv2dNative")) {
    return false;
  }
  const NodeImport inner(importer_, *convolution);
  const auto is_one = [](int64_t n) { return n == 1; };
  if (inner.channels_first() || inner.attr_string("padding", "") != "VALID" ||
      !std::ranges::all_of(inner.attr_ints("strides"), is_one) ||
      !std::ranges::all_of(inner.attr_ints("dilations"), is_one)) {
    return false;
  }
  static const std::set<std::string> per_channel = {
      "BiasAdd",          "Relu",    "Relu6", "Elu", "LeakyRelu", "FusedBatchNorm",
      "FusedBatchNormV3", "Identity"};
  const NodeDef* back = only_reader(*convolution);
  for (int steps = 0; back != nullptr && per_channel.contains(back->op()) && steps < 4; ++steps) {
    back = only_reader(*back);
  }
  if (back == nullptr || back->op() != "BatchToSpaceND" || back->input_size() < 3) return false;
  const auto blocks = layers::blocks_of(*this, "paddings");
  const auto back_block = constant_ints(back->input(1));
  const auto crops = constant_ints(back->input(2));
  if (!blocks.ok() || !back_block.ok() || !crops.ok() || crops->size() != 4 ||
      *back_block != std::vector<int64_t>{blocks->h, blocks->w}) {
    return false;
  }
  Dilated out{blocks->h, blocks->w, {}};
  for (size_t i = 0; i < 4; ++i) {
    if ((*crops)[i] < 0 || (*crops)[i] > blocks->border[i]) return false;
  }
  for (size_t i = 0; i < 4; i += 2) {
    out.border.push_back(
        {blocks->border[i] - (*crops)[i], blocks->border[i + 1] - (*crops)[i + 1]});
  }
  importer_.dilated_[convolution->name()] = out;
  importer_.passed_.insert(node_.name());
  importer_.passed_.insert(back->name());
  return true;
}

}  // namespace rk::frontends::tensorflow
