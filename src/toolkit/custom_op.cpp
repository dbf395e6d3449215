// SPDX-License-Identifier: Apache-2.0
#include "toolkit/custom_op.h"

#include <utility>

#include "base/json.h"

namespace rk::toolkit {
namespace {

thread_local std::string t_answer;

// A tensor attribute as nested numbers would lose its type.
Json tensor_json(const Tensor& tensor) {
  Json values = Json::array();
  if (is_float(tensor.dtype())) {
    const Tensor wide = tensor.cast(DType::kF32);
    for (const float value : wide.span<float>()) values.push(static_cast<double>(value));
  } else {
    const Tensor wide = tensor.cast(DType::kI64);
    for (const int64_t value : wide.span<int64_t>()) values.push(value);
  }
  return Json::object({{"dtype", static_cast<int>(tensor.dtype())},
                       {"dims", Json::array_of(tensor.shape().dims())},
                       {"values", std::move(values)}});
}

Json attr_json(const Attr& attr) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          return tensor_json(value);
        } else if constexpr (std::is_same_v<T, float>) {
          return static_cast<double>(value);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          return Json::array_of(std::vector<double>(value.begin(), value.end()));
        } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, std::string>) {
          return value;
        } else {
          return Json::array_of(value);
        }
      },
      attr);
}

std::string node_json(const Node& node) {
  const auto names = [](const std::vector<Value*>& values) {
    Json out = Json::array();
    for (const Value* value : values) out.push(value == nullptr ? "" : value->name());
    return out;
  };
  Json attributes = Json::object();
  for (const auto& [name, attr] : node.attrs()) attributes.set(name, attr_json(attr));
  return write_json(Json::object({{"name", node.name()},
                                  {"op_type", std::string(user_name(node.op()))},
                                  {"input", names(node.inputs())},
                                  {"output", names(node.outputs())},
                                  {"attributes", std::move(attributes)}}));
}

// Arrays for a callback. The shapes live here.
class Arrays {
 public:
  // An absent input has dtype 0.
  void add(const TensorType* type, const void* data, uint64_t size_bytes) {
    shapes_.push_back(type == nullptr ? std::vector<int64_t>()
                                      : std::vector<int64_t>(type->shape.dims().begin(),
                                                             type->shape.dims().end()));
    arrays_.push_back({const_cast<void*>(data), size_bytes, nullptr,
                       static_cast<int32_t>(shapes_.back().size()),
                       type == nullptr ? 0 : static_cast<int32_t>(type->dtype)});
  }
  const rknn_toolkit_array* data() {
    for (size_t i = 0; i < arrays_.size(); ++i) arrays_[i].shape = shapes_[i].data();
    return arrays_.data();
  }
  uint32_t size() const { return static_cast<uint32_t>(arrays_.size()); }

 private:
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<rknn_toolkit_array> arrays_;
};

template <typename Call>
Result<std::string> answer_of(const std::string& type, const char* function, Call call) {
  t_answer.clear();
  const int32_t code = call();
  std::string answer = std::exchange(t_answer, {});
  if (code == 0) return answer;
  return Status(Code::kInvalidArgument, str(function, " of the custom operator '", type, "': ",
                                            answer.empty() ? str("returned ", code) : answer));
}

// {"shapes": [[1, 8]], "dtypes": [1]}
Result<std::vector<TensorType>> read_types(const std::string& type, const std::string& text) {
  const auto wrong = [&] {
    return invalid_argument(str("shape_infer of the custom operator '", type, "' gave '",
                                text.substr(0, 200), "', expected shapes and dtypes"));
  };
  const auto parsed = parse_json(text);
  if (!parsed.ok()) return wrong();
  const Json* const shapes = parsed->find("shapes");
  const Json* const dtypes = parsed->find("dtypes");
  if (shapes == nullptr || dtypes == nullptr || shapes->size() != dtypes->size()) return wrong();
  std::vector<TensorType> out;
  for (size_t i = 0; i < shapes->size(); ++i) {
    const auto dtype = dtype_from_onnx(dtypes->at(i)->as_int().value_or(0));
    std::vector<int64_t> dims;
    for (size_t k = 0; k < shapes->at(i)->size(); ++k) {
      const auto extent = shapes->at(i)->at(k)->as_int();
      if (!extent) return wrong();
      dims.push_back(*extent);
    }
    if (!dtype) return wrong();
    RK_ASSIGN(const Shape shape, Shape::make(dims));
    // Graphs compute in float32, whatever float the model says.
    out.push_back({is_float(*dtype) ? DType::kF32 : *dtype, shape});
  }
  return out;
}

}  // namespace

void set_answer(const char* text) { t_answer = text == nullptr ? "" : text; }

Result<ops::CustomOp> custom_op(const rknn_toolkit_custom_op& described) {
  ops::CustomOp out;
  if (described.op_type == nullptr || *described.op_type == '\0')
    return invalid_argument(
        "custom_op needs the attribute op_type, a text that names the operator");
  out.type = described.op_type;
  const rknn_toolkit_custom_op op = described;
  const std::string type = out.type;
  if (op.infer != nullptr) {
    out.infer = [op, type](const Node& node, size_t outputs) -> Result<std::vector<TensorType>> {
      Arrays inputs;
      for (const Value* input : node.inputs())
        inputs.add(input == nullptr ? nullptr : &input->type(), nullptr, 0);
      const std::string about = node_json(node);
      RK_ASSIGN(const std::string text, answer_of(type, "shape_infer", [&] {
                  return op.infer(op.user, about.c_str(), inputs.data(), inputs.size(),
                                  static_cast<uint32_t>(outputs));
                }));
      return read_types(type, text);
    };
  }
  if (op.compute != nullptr) {
    out.compute = [op, type](const EvalCall& call) -> Status {
      Arrays inputs;
      Arrays outputs;
      for (const Tensor* input : call.inputs) {
        const TensorType* const of = input == nullptr ? nullptr : &input->type();
        inputs.add(of, input == nullptr ? nullptr : input->bytes().data(),
                   input == nullptr ? 0 : input->size_bytes());
      }
      for (Tensor& output : call.outputs)
        outputs.add(&output.type(), output.mutable_data<uint8_t>(), output.size_bytes());
      const std::string about = node_json(call.node);
      return answer_of(type, "compute",
                       [&] {
                         return op.compute(op.user, about.c_str(), inputs.data(), inputs.size(),
                                           outputs.data(), outputs.size());
                       })
          .status();
    };
  }
  return out;
}

}  // namespace rk::toolkit
