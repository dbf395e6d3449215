// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/onnx_structure.h"

#include <array>
#include <limits>

#include "base/status.h"
#include "frontends/onnx/rk_onnx.pb.h"

namespace rk::fuzz {
namespace {

constexpr std::array<int64_t, 20> kIntegers = {0,
                                               1,
                                               -1,
                                               2,
                                               -2,
                                               3,
                                               7,
                                               8,
                                               31,
                                               64,
                                               255,
                                               4096,
                                               65537,
                                               int64_t{1} << 20,
                                               std::numeric_limits<int32_t>::max(),
                                               std::numeric_limits<int32_t>::min(),
                                               int64_t{1} << 40,
                                               std::numeric_limits<int64_t>::max(),
                                               std::numeric_limits<int64_t>::max() - 1,
                                               std::numeric_limits<int64_t>::min()};

constexpr std::array<float, 8> kFloats = {0.0f,
                                          -1.0f,
                                          1e-38f,
                                          1e38f,
                                          std::numeric_limits<float>::infinity(),
                                          -std::numeric_limits<float>::infinity(),
                                          std::numeric_limits<float>::quiet_NaN(),
                                          0.5f};

constexpr std::array<const char*, 16> kAttributes = {
    "axis", "axes",     "kernel_shape", "strides",   "pads", "dilations", "group", "auto_pad",
    "mode", "keepdims", "ceil_mode",    "blocksize", "perm", "to",        "alpha", "num_outputs"};

class Damage {
 public:
  Damage(rk::onnx::ModelProto& model, std::span<const std::string> operators, Random& random)
      : model_(model), graph_(*model.mutable_graph()), operators_(operators), random_(random) {}

  std::string apply() {
    switch (random_.below(12)) {
      case 0:
      case 1:
        return replace_operator();
      case 2:
        return change_attribute();
      case 3:
        return add_attribute();
      case 4:
        return rewire();
      case 5:
        return change_constant_shape();
      case 6:
        return change_constant_data();
      case 7:
        return change_input_shape();
      case 8:
        return drop_or_repeat_node();
      case 9:
        return change_output_name();
      case 10:
        return change_opset();
      default:
        return change_type();
    }
  }

 private:
  int pick(int count) { return static_cast<int>(random_.below(static_cast<uint64_t>(count))); }
  int64_t integer() {
    return random_.below(3) == 0 ? static_cast<int64_t>(random_.below(300)) - 20
                                 : kIntegers[random_.below(kIntegers.size())];
  }
  rk::onnx::NodeProto* node() {
    return graph_.node_size() == 0 ? nullptr : graph_.mutable_node(pick(graph_.node_size()));
  }
  rk::onnx::TensorProto* constant() {
    return graph_.initializer_size() == 0
               ? nullptr
               : graph_.mutable_initializer(pick(graph_.initializer_size()));
  }

  // Any name in use: outputs of nodes, constants, inputs.
  std::string any_name() {
    switch (random_.below(3)) {
      case 0:
        if (const auto* n = node(); n != nullptr && n->output_size() > 0) return n->output(0);
        return "";
      case 1:
        return constant() != nullptr ? constant()->name() : "";
      default:
        return graph_.input_size() > 0 ? graph_.input(0).name() : "nothing";
    }
  }

  std::string replace_operator() {
    auto* const n = node();
    if (n == nullptr || operators_.empty()) return "nothing";
    const std::string& op = operators_[random_.below(operators_.size())];
    const std::string text = str(n->name(), " becomes ", op);
    n->set_op_type(op);
    if (random_.below(2) == 0) n->clear_attribute();
    return text;
  }

  std::string change_attribute() {
    auto* const n = node();
    if (n == nullptr || n->attribute_size() == 0) return "nothing";
    auto* const a = n->mutable_attribute(pick(n->attribute_size()));
    const std::string text = str(n->name(), " attribute ", a->name(), " ");
    if (a->ints_size() > 0) {
      if (random_.below(3) == 0) a->add_ints(integer());
      const int at = pick(a->ints_size());
      a->set_ints(at, integer());
      return str(text, "[", at, "] = ", a->ints(at));
    }
    if (a->has_i()) {
      a->set_i(integer());
      return str(text, "= ", a->i());
    }
    if (a->has_f()) {
      a->set_f(kFloats[random_.below(kFloats.size())]);
      return str(text, "= ", a->f());
    }
    if (a->has_s()) {
      a->set_s(random_.below(2) == 0 ? "" : "SAME_UPPER");
      return text + "text";
    }
    a->set_type(static_cast<int32_t>(random_.below(16)));
    return text + "type";
  }

  std::string add_attribute() {
    auto* const n = node();
    if (n == nullptr) return "nothing";
    auto* const a = n->add_attribute();
    a->set_name(kAttributes[random_.below(kAttributes.size())]);
    if (random_.below(2) == 0) {
      a->set_type(2);
      a->set_i(integer());
    } else {
      a->set_type(7);
      for (uint64_t i = random_.below(6); i > 0; --i) a->add_ints(integer());
    }
    return str(n->name(), " gains ", a->name());
  }

  std::string rewire() {
    auto* const n = node();
    if (n == nullptr) return "nothing";
    if (n->input_size() == 0 || random_.below(4) == 0) {
      n->add_input(any_name());
      return str(n->name(), " gains input ", n->input(n->input_size() - 1));
    }
    const int at = pick(n->input_size());
    n->set_input(at, random_.below(5) == 0 ? "" : any_name());
    return str(n->name(), " reads '", n->input(at), "'");
  }

  std::string change_constant_shape() {
    auto* const t = constant();
    if (t == nullptr) return "nothing";
    if (t->dims_size() == 0 || random_.below(4) == 0) {
      t->add_dims(integer());
    } else if (random_.below(4) == 0) {
      t->mutable_dims()->RemoveLast();
    } else {
      t->set_dims(pick(t->dims_size()), integer());
    }
    return str("shape of constant ", t->name());
  }

  std::string change_constant_data() {
    auto* const t = constant();
    if (t == nullptr || t->raw_data().empty()) return "nothing";
    std::string* const raw = t->mutable_raw_data();
    if (random_.below(3) == 0) {
      raw->resize(random_.below(raw->size()));
      return str("data of constant ", t->name(), " cut");
    }
    const int64_t value = integer();
    const size_t at = random_.below(raw->size() / 8 + 1) * 8;
    if (at + 8 <= raw->size()) raw->replace(at, 8, reinterpret_cast<const char*>(&value), 8);
    return str("data of constant ", t->name(), " at ", at);
  }

  std::string change_input_shape() {
    if (graph_.input_size() == 0) return "nothing";
    auto* const shape =
        graph_.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    if (shape->dim_size() == 0 || random_.below(5) == 0) {
      shape->add_dim()->set_dim_value(integer());
      return "input rank";
    }
    const int at = pick(shape->dim_size());
    shape->mutable_dim(at)->set_dim_value(integer());
    return str("input extent ", at, " = ", shape->dim(at).dim_value());
  }

  std::string drop_or_repeat_node() {
    if (graph_.node_size() == 0) return "nothing";
    const int at = pick(graph_.node_size());
    if (random_.below(2) == 0) {
      const rk::onnx::NodeProto copy = graph_.node(at);
      *graph_.add_node() = copy;
      return str("node ", at, " twice");
    }
    graph_.mutable_node()->DeleteSubrange(at, 1);
    return str("no node ", at);
  }

  std::string change_output_name() {
    auto* const n = node();
    if (n == nullptr || n->output_size() == 0) return "nothing";
    n->set_output(0, any_name());
    return str(n->name(), " writes '", n->output(0), "'");
  }

  std::string change_opset() {
    if (model_.opset_import_size() == 0) return "nothing";
    const int64_t version =
        random_.below(4) == 0 ? integer() : static_cast<int64_t>(random_.below(25));
    model_.mutable_opset_import(0)->set_version(version);
    return str("opset ", version);
  }

  std::string change_type() {
    const auto type = static_cast<int32_t>(random_.below(24));
    if (auto* const t = constant(); t != nullptr && random_.below(2) == 0) {
      t->set_data_type(type);
      return str("type of constant ", t->name(), " = ", type);
    }
    if (graph_.input_size() == 0) return "nothing";
    graph_.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    return str("input type = ", type);
  }

  rk::onnx::ModelProto& model_;
  rk::onnx::GraphProto& graph_;
  std::span<const std::string> operators_;
  Random& random_;
};

}  // namespace

std::string mutate_onnx_structure(std::vector<uint8_t>& file,
                                  std::span<const std::string> operators, Random& random) {
  rk::onnx::ModelProto model;
  RK_ASSERT(model.ParseFromArray(file.data(), static_cast<int>(file.size())), "a readable model");
  std::string out = "structure: ";
  Damage damage(model, operators, random);
  for (uint64_t i = 1 + random.below(3); i > 0; --i) out += damage.apply() + "; ";
  file.resize(model.ByteSizeLong());
  model.SerializeToArray(file.data(), static_cast<int>(file.size()));
  return out;
}

}  // namespace rk::fuzz
