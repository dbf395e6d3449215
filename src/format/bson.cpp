// SPDX-License-Identifier: Apache-2.0
// BSON, as much of it as attributes use. Nesting is fixed at three levels (document, attribute,
// array), so hostile input cannot recurse.
#include "format/bson.h"

#include <limits>
#include <optional>

#include "base/json.h"

namespace rk::format {
namespace {

enum class Element : uint8_t {
  kEnd = 0x00,
  kDouble = 0x01,
  kString = 0x02,
  kDocument = 0x03,
  kArray = 0x04,
  kBool = 0x08,
  kInt32 = 0x10,
  kInt64 = 0x12,
};

using Scalar = std::variant<int64_t, double, std::string>;

Result<std::string> read_cstring(ByteReader& in) {
  std::string out;
  for (;;) {
    RK_ASSIGN(const uint8_t byte, in.read<uint8_t>());
    if (byte == 0) return out;
    out.push_back(static_cast<char>(byte));
  }
}

// The bytes of a document after its size word, without the closing zero.
Result<ByteSpan> read_document(ByteReader& in) {
  RK_ASSIGN(const int32_t size_bytes, in.read<int32_t>());
  if (size_bytes < 5)
    return invalid_model(str("BSON document of ", size_bytes, " bytes; the smallest has 5"));
  RK_ASSIGN(const ByteSpan body, in.take(static_cast<uint64_t>(size_bytes) - 4));
  if (body.back() != 0) return invalid_model("BSON document without its closing zero byte");
  return body.first(body.size() - 1);
}

Result<Scalar> read_scalar(ByteReader& in, Element type) {
  switch (type) {
    case Element::kDouble: {
      RK_ASSIGN(const double value, in.read<double>());
      return Scalar(value);
    }
    case Element::kString: {
      RK_ASSIGN(const int32_t size_bytes, in.read<int32_t>());
      if (size_bytes < 1)
        return invalid_model(str("BSON string of ", size_bytes, " bytes; the smallest has 1"));
      RK_ASSIGN(const ByteSpan text, in.take(static_cast<uint64_t>(size_bytes)));
      return Scalar(std::string(text.begin(), text.end() - 1));
    }
    case Element::kBool: {
      RK_ASSIGN(const uint8_t value, in.read<uint8_t>());
      return Scalar(int64_t{value != 0});
    }
    case Element::kInt32: {
      RK_ASSIGN(const int32_t value, in.read<int32_t>());
      return Scalar(int64_t{value});
    }
    case Element::kInt64: {
      RK_ASSIGN(const int64_t value, in.read<int64_t>());
      return Scalar(value);
    }
    default:
      return invalid_model(
          str("BSON element type ", static_cast<int>(type), " is not used by attributes"));
  }
}

template <typename T>
Result<Attribute::Value> collect(std::vector<Scalar> elements) {
  std::vector<T> out;
  out.reserve(elements.size());
  for (Scalar& element : elements) {
    T* const value = std::get_if<T>(&element);
    if (value == nullptr) return invalid_model("BSON array mixes element types");
    out.push_back(std::move(*value));
  }
  return Attribute::Value(std::move(out));
}

Result<Attribute::Value> read_array(ByteReader& in) {
  RK_ASSIGN(const ByteSpan body, read_document(in));
  ByteReader array(body);
  std::vector<Scalar> elements;
  while (!array.at_end()) {
    RK_ASSIGN(const uint8_t type, array.read<uint8_t>());
    RK_TRY(read_cstring(array).status());  // "0", "1", ...: the position says the same
    RK_ASSIGN(Scalar element, read_scalar(array, static_cast<Element>(type)));
    elements.push_back(std::move(element));
  }
  if (elements.empty() || std::holds_alternative<int64_t>(elements[0]))
    return collect<int64_t>(std::move(elements));
  if (std::holds_alternative<double>(elements[0])) return collect<double>(std::move(elements));
  return collect<std::string>(std::move(elements));
}

// {dtype: string, value: ...}; dtype repeats what the value's own type says and is ignored.
Result<Attribute::Value> read_value(ByteReader& in) {
  RK_ASSIGN(const ByteSpan body, read_document(in));
  ByteReader members(body);
  std::optional<Attribute::Value> out;
  while (!members.at_end()) {
    RK_ASSIGN(const uint8_t type, members.read<uint8_t>());
    RK_ASSIGN(const std::string key, read_cstring(members));
    Attribute::Value value;
    if (static_cast<Element>(type) == Element::kArray) {
      RK_ASSIGN(value, read_array(members));
    } else {
      RK_ASSIGN(Scalar scalar, read_scalar(members, static_cast<Element>(type)));
      std::visit([&](auto&& inner) { value = std::move(inner); }, std::move(scalar));
    }
    if (key == "value") out = std::move(value);
  }
  if (!out) return invalid_model("BSON attribute without a member 'value'");
  return std::move(*out);
}

class DocumentWriter {
 public:
  DocumentWriter() { out_.write(int32_t{0}); }

  void header(Element type, std::string_view key) {
    out_.write(type);
    out_.write_bytes({reinterpret_cast<const uint8_t*>(key.data()), key.size()});
    out_.write(uint8_t{0});
  }
  void add(std::string_view key, int64_t value) {
    if (value >= std::numeric_limits<int32_t>::min() &&
        value <= std::numeric_limits<int32_t>::max()) {
      header(Element::kInt32, key);
      out_.write(static_cast<int32_t>(value));
    } else {
      header(Element::kInt64, key);
      out_.write(value);
    }
  }
  void add(std::string_view key, double value) {
    header(Element::kDouble, key);
    out_.write(value);
  }
  void add(std::string_view key, const std::string& value) {
    header(Element::kString, key);
    out_.write(static_cast<int32_t>(value.size() + 1));
    out_.write_bytes({reinterpret_cast<const uint8_t*>(value.c_str()), value.size() + 1});
  }
  template <typename T>
  void add(std::string_view key, const std::vector<T>& values) {
    DocumentWriter array;
    for (size_t i = 0; i < values.size(); ++i) array.add(std::to_string(i), values[i]);
    add_document(Element::kArray, key, std::move(array));
  }
  void add_document(Element type, std::string_view key, DocumentWriter&& inner) {
    header(type, key);
    out_.write_bytes(std::move(inner).finish());
  }
  std::vector<uint8_t> finish() && {
    out_.write(Element::kEnd);
    std::vector<uint8_t> bytes = out_.release();
    const auto size_bytes = static_cast<int32_t>(bytes.size());
    std::memcpy(bytes.data(), &size_bytes, sizeof(size_bytes));
    return bytes;
  }

 private:
  ByteWriter out_;
};

std::string dtype_of(const Attribute::Value& value) {
  static constexpr const char* kNames[] = {"i", "f", "s", "is", "fs", "ss"};
  return kNames[value.index()];
}

}  // namespace

Result<std::vector<Attribute>> read_attributes(ByteSpan bson) {
  std::vector<Attribute> out;
  if (bson.empty() || (bson.size() == 1 && bson[0] == 0)) return out;
  ByteReader in(bson);
  RK_ASSIGN(const ByteSpan body, read_document(in));
  ByteReader members(body);
  while (!members.at_end()) {
    RK_ASSIGN(const uint8_t type, members.read<uint8_t>());
    RK_ASSIGN(std::string name, read_cstring(members));
    if (static_cast<Element>(type) != Element::kDocument) {
      return invalid_model(
          str("attribute '", name, "' has BSON type ", int{type}, ", expected a sub-document"));
    }
    Result<Attribute::Value> value = read_value(members);
    if (!value.ok()) return value.status().with_context(str("attribute '", name, "'"));
    out.push_back({std::move(name), std::move(*value)});
  }
  return out;
}

namespace {

std::optional<Attribute::Value> value_of(const Json& json) {
  if (const auto number = json.as_int()) return *number;
  if (const auto number = json.as_double()) return *number;
  if (const std::string* const text = json.as_string()) return *text;
  const Json::Array* const elements = json.as_array();
  if (elements == nullptr) return std::nullopt;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  for (const Json& element : *elements) {
    if (const auto number = element.as_int()) integers.push_back(*number);
    if (const auto number = element.as_double()) reals.push_back(*number);
    if (const std::string* const text = element.as_string()) texts.push_back(*text);
  }
  if (integers.size() == elements->size()) return integers;
  if (reals.size() == elements->size()) return reals;
  if (texts.size() == elements->size()) return texts;
  return std::nullopt;
}

}  // namespace

Result<std::vector<Attribute>> read_json_attributes(ByteSpan text) {
  const auto* const from = reinterpret_cast<const char*>(text.data());
  std::string_view json(from, text.size());
  while (!json.empty() && json.back() == '\0') json.remove_suffix(1);
  if (json.empty()) return std::vector<Attribute>();
  const Result<Json> document = parse_json(json);
  if (!document.ok() || !document->is_object()) {
    return invalid_model(
        str("attributes of ", text.size(), " bytes are not the JSON object that was expected"));
  }
  std::vector<Attribute> out;
  for (const Json::Member& member : *document->as_object()) {
    const Json* const value = member.value.find("value");
    const auto decoded = value != nullptr ? value_of(*value) : std::nullopt;
    if (!decoded) return invalid_model(str("attribute '", member.key, "' has no value"));
    out.push_back({member.key, *decoded});
  }
  return out;
}

std::vector<uint8_t> write_json_attributes(const std::vector<Attribute>& attributes) {
  if (attributes.empty()) return {};
  Json out = Json::object();
  for (const Attribute& attribute : attributes) {
    Json inner = Json::object();
    inner.set("dtype", dtype_of(attribute.value));
    std::visit(
        [&](const auto& value) {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>) {
            inner.set("value", value);
          } else {
            inner.set("value", Json::array_of(value));
          }
        },
        attribute.value);
    out.set(attribute.name, std::move(inner));
  }
  const std::string text = write_json(out);
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.push_back(0);
  return bytes;
}

std::vector<uint8_t> write_attributes(const std::vector<Attribute>& attributes) {
  if (attributes.empty()) return {};
  DocumentWriter out;
  for (const Attribute& attribute : attributes) {
    DocumentWriter inner;
    inner.add("dtype", dtype_of(attribute.value));
    std::visit([&](const auto& value) { inner.add("value", value); }, attribute.value);
    out.add_document(Element::kDocument, attribute.name, std::move(inner));
  }
  return std::move(out).finish();
}

}  // namespace rk::format
