// SPDX-License-Identifier: Apache-2.0
// A recursive-descent parser of the text form. Errors give the line.
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "ir/text.h"

namespace rk {
namespace {

struct Literal {
  enum Kind { kNumber, kString, kList, kTensor } kind = kNumber;
  std::string text;  // of a number, or the string
  std::vector<Literal> items;
  Tensor tensor;
};

class Parser {
 public:
  Parser(std::string_view text, const OpRegistry& registry, const Graph* shared)
      : text_(text), graph_(registry), shared_(shared) {}

  Result<Graph> parse() {
    if (Status status = parse_graph_text(); !status.ok()) {
      return status.with_context(
          str("line ", 1 + std::count(text_.begin(), text_.begin() + at_, '\n')));
    }
    return std::move(graph_);
  }

 private:
  Status parse_graph_text() {
    RK_TRY(expect("graph"));
    RK_ASSIGN(graph_.name, string());
    RK_TRY(expect("{"));
    while (!accept("}")) {
      if (accept_word("input")) {
        RK_TRY(parse_input());
      } else if (accept_word("const")) {
        RK_TRY(parse_constant());
      } else if (accept_word("output")) {
        RK_ASSIGN(Value * value, reference());
        RK_TRY(graph_.add_output(value));
      } else {
        RK_TRY(parse_node());
      }
    }
    return ok_status();
  }

  Status parse_input() {
    RK_ASSIGN(const std::string name, value_name());
    RK_TRY(expect(":"));
    RK_ASSIGN(const TensorType type, tensor_type());
    RK_ASSIGN(Value * value, graph_.add_input(name, type));
    return quant(value->quant);
  }

  Status parse_constant() {
    RK_ASSIGN(const std::string name, value_name());
    RK_TRY(expect(":"));
    RK_ASSIGN(const TensorType type, tensor_type());
    QuantParams params;
    RK_TRY(quant(params));
    RK_TRY(expect("="));
    Result<Tensor> values = peek() == '<' ? left_out(name, type) : tensor_values(type);
    RK_ASSIGN(Tensor tensor, std::move(values));
    graph_.add_constant(name, std::move(tensor))->quant = params;
    return ok_status();
  }

  Status parse_node() {
    NodeSpec spec;
    std::vector<std::optional<TensorType>> types;
    std::vector<QuantParams> quants;
    do {
      RK_ASSIGN(std::string name, value_name());
      spec.outputs.push_back(std::move(name));
      types.emplace_back();
      quants.emplace_back();
      if (accept(":")) {
        RK_ASSIGN(types.back(), tensor_type());
      }
      RK_TRY(quant(quants.back()));
    } while (accept(","));
    RK_TRY(expect("="));
    RK_ASSIGN(spec.op, word());
    RK_TRY(expect("("));
    while (!accept(")")) {
      if (accept_word("_")) {
        spec.inputs.push_back(nullptr);
      } else {
        RK_ASSIGN(Value * value, reference());
        spec.inputs.push_back(value);
      }
      if (peek() != ')') RK_TRY(expect(","));
    }
    if (accept("{")) RK_TRY(parse_attrs(spec));
    if (accept("@")) {
      RK_ASSIGN(spec.name, string());
    }
    RK_ASSIGN(Node * node, graph_.add_node(std::move(spec)));
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] && *types[i] != node->output(i).type()) {
        return invalid_model(str(node->label(), ": output ", i, " is written as ",
                                 to_string(*types[i]), ", inference gives ",
                                 to_string(node->output(i).type())));
      }
      node->output(i).quant = quants[i];
    }
    return ok_status();
  }

  Status parse_attrs(NodeSpec& spec) {
    const OpDef* def = graph_.registry().find(spec.op);
    while (!accept("}")) {
      RK_ASSIGN(const std::string name, word());
      RK_TRY(expect("="));
      RK_ASSIGN(const Literal value, literal());
      const AttrDef* schema = def == nullptr ? nullptr : def->find_attr(name);
      if (schema == nullptr)
        return invalid_model(str("operator '", spec.op, "' has no attribute '", name, "'"));
      RK_ASSIGN(Attr attr, to_attr(value, schema->value.index()));
      spec.attrs.emplace(name, std::move(attr));
      if (peek() != '}') RK_TRY(expect(","));
    }
    return ok_status();
  }

  // The schema decides the kind, so [] and 1 need no mark.
  Result<Attr> to_attr(const Literal& value, size_t kind) {
    const auto mismatch = [&] {
      return invalid_model(str("attribute value does not fit its schema"));
    };
    switch (kind) {
      case 0:
        return value.kind == Literal::kNumber ? Result<Attr>(Attr(to_i64(value.text))) : mismatch();
      case 1:
        return value.kind == Literal::kNumber ? Result<Attr>(Attr(to_f32(value.text))) : mismatch();
      case 2:
        return value.kind == Literal::kString ? Result<Attr>(Attr(value.text)) : mismatch();
      case 6:
        return value.kind == Literal::kTensor ? Result<Attr>(Attr(value.tensor)) : mismatch();
      default:
        break;
    }
    if (value.kind != Literal::kList) return mismatch();
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<std::string> strings;
    for (const Literal& item : value.items) {
      if ((item.kind == Literal::kString) != (kind == 5)) return mismatch();
      if (kind == 3) ints.push_back(to_i64(item.text));
      if (kind == 4) floats.push_back(to_f32(item.text));
      if (kind == 5) strings.push_back(item.text);
    }
    if (kind == 3) return Attr(ints);
    if (kind == 4) return Attr(floats);
    return Attr(strings);
  }

  Result<Literal> literal() {
    if (peek() == '[') return list();
    if (!accept_word("tensor")) return scalar();
    Literal out = {.kind = Literal::kTensor};
    RK_ASSIGN(const TensorType type, tensor_type());
    RK_ASSIGN(out.tensor, tensor_values(type));
    return out;
  }

  Result<Literal> scalar() {
    Literal out;
    if (peek() == '"') {
      out.kind = Literal::kString;
      RK_ASSIGN(out.text, string());
    } else {
      RK_ASSIGN(out.text, number());
    }
    return out;
  }

  // No list holds another, so that no text is deeper than the stack.
  Result<Literal> list() {
    Literal out = {.kind = Literal::kList};
    RK_TRY(expect("["));
    while (!accept("]")) {
      RK_ASSIGN(Literal item, scalar());
      out.items.push_back(std::move(item));
      if (peek() != ']') RK_TRY(expect(","));
    }
    return out;
  }

  Result<TensorType> tensor_type() {
    RK_ASSIGN(const std::string name, word());
    const auto dtype = parse_dtype(name);
    if (!dtype) return invalid_model(str("'", name, "' is not a dtype"));
    RK_ASSIGN(const Literal dims, list());
    std::vector<int64_t> extents;
    for (const Literal& item : dims.items) extents.push_back(to_i64(item.text));
    RK_ASSIGN(const Shape shape, Shape::make(extents));
    return TensorType{*dtype, shape};
  }

  Result<Tensor> left_out(const std::string& name, const TensorType& type) {
    if (shared_ == nullptr)
      return invalid_model("the constant's values were left out of this text");
    const Value* const value = shared_->find(name);
    if (value == nullptr || !value->is_constant() || value->type() != type ||
        !accept(checksum_text(value->constant()))) {
      return invalid_model(str("constant '", name, "' is not the one that the text was made with"));
    }
    return value->constant();
  }

  Result<Tensor> tensor_values(const TensorType& type) {
    if (peek() == '<') return invalid_model("the constant's values were left out of this text");
    Literal values;
    if (peek() == '[') {
      RK_ASSIGN(values, list());
    }
    if (values.kind != Literal::kList ||
        static_cast<int64_t>(values.items.size()) != type.shape.elements()) {
      return invalid_model(
          str("a tensor ", to_string(type), " needs a list of ", type.shape.elements(), " values"));
    }
    RK_ASSIGN(Tensor out, Tensor::try_make(type));
    for (size_t i = 0; i < values.items.size(); ++i) {
      uint8_t* to = out.mutable_data<uint8_t>() + i * byte_size(type.dtype);
      if (is_integer(type.dtype)) {
        const int64_t value =
            type.dtype == DType::kU64
                ? static_cast<int64_t>(std::strtoull(values.items[i].text.c_str(), nullptr, 10))
                : to_i64(values.items[i].text);
        std::memcpy(to, &value, byte_size(type.dtype));
      } else {
        store_unsaturated(type.dtype, to, std::strtod(values.items[i].text.c_str(), nullptr));
      }
    }
    return out;
  }

  Status quant(QuantParams& out) {
    if (!accept_word("q")) return ok_status();
    RK_TRY(expect("("));
    RK_ASSIGN(const std::string name, word());
    const auto dtype = parse_dtype(name);
    if (!dtype) return invalid_model(str("'", name, "' is not a dtype"));
    out.dtype = *dtype;
    while (accept(",")) {
      RK_ASSIGN(const std::string key, word());
      RK_TRY(expect("="));
      RK_ASSIGN(const Literal value, literal());
      if (key == "axis") {
        out.axis = static_cast<int>(to_i64(value.text));
        continue;
      }
      for (const Literal& item : value.items) {
        if (key == "scale") out.scale.push_back(to_f32(item.text));
        if (key == "zp") out.zero_point.push_back(static_cast<int32_t>(to_i64(item.text)));
        if (key == "min") out.min.push_back(to_f32(item.text));
        if (key == "max") out.max.push_back(to_f32(item.text));
      }
    }
    return expect(")");
  }

  Result<Value*> reference() {
    RK_ASSIGN(const std::string name, value_name());
    Value* value = graph_.find(name);
    if (value == nullptr) return invalid_model(str("value '", name, "' is not defined above"));
    return value;
  }

  Result<std::string> value_name() {
    RK_TRY(expect("%"));
    if (at_ < text_.size() && text_[at_] == '"') return string();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
            std::string_view("_./:-").find(text_[at_]) != std::string_view::npos)) {
      ++at_;
    }
    // The colon that introduces the type is not part of a name.
    if (at_ > begin && text_[at_ - 1] == ':') --at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> string() {
    skip();
    if (at_ >= text_.size() || text_[at_] != '"')
      return invalid_model("a quoted string is expected");
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_ - 1] == '\\' && text_[at_] == 'n' ? '\n' : text_[at_];
    }
    if (at_ >= text_.size()) return invalid_model("a string does not end");
    ++at_;
    return out;
  }

  Result<std::string> word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (at_ == begin)
      return invalid_model(str("a word is expected, found '", text_.substr(at_, 10), "'"));
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> number() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
            std::string_view("+-.").find(text_[at_]) != std::string_view::npos)) {
      ++at_;
    }
    if (at_ == begin)
      return invalid_model(str("a number is expected, found '", text_.substr(at_, 10), "'"));
    return std::string(text_.substr(begin, at_ - begin));
  }

  static int64_t to_i64(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }
  static float to_f32(const std::string& text) { return std::strtof(text.c_str(), nullptr); }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool accept_word(std::string_view token) {
    skip();
    const size_t end = at_ + token.size();
    if (text_.substr(at_, token.size()) != token) return false;
    if (end < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      return false;
    at_ = end;
    return true;
  }
  Status expect(std::string_view token) {
    if (accept(token)) return ok_status();
    return invalid_model(str("'", token, "' is expected, found '", text_.substr(at_, 12), "'"));
  }

  std::string_view text_;
  size_t at_ = 0;
  Graph graph_;
  const Graph* shared_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text, const OpRegistry& registry, const Graph* shared) {
  RK_ASSIGN(Graph graph, Parser(text, registry, shared).parse());
  RK_TRY(verify(graph));
  return graph;
}

}  // namespace rk
