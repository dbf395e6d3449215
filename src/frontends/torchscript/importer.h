// SPDX-License-Identifier: Apache-2.0
// TorchScript -> Graph: forward() is executed once at import. Tensors are values of the graph; numbers, lists and shapes
// are known, so conditions and loops that depend on them only are decided here and leave nothing behind. Each operator
// has one row (operators.h) and one function; what those functions share is Call.
//
// Attributes that forward() sets are state. A tensor among them that is read before it is set must be named as an input,
// and its last value becomes an output. Numbers among them are taken as they are after the first call.
//
// Quantized tensors are real numbers in the graph, rounded by QuantizeLinear and DequantizeLinear where they are computed;
// the item keeps the parameters. quint8 becomes int8, data and zero point both less 128.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontends/graph_import.h"
#include "frontends/torchscript/answer.h"

namespace rk::frontends::torchscript {

// Parameters of a quantized tensor that is computed: one scale. The zero point is that of int8 (or of int32).
struct QuantScale {
  double scale = 1;
  int64_t zero_point = 0;
  bool operator==(const QuantScale&) const = default;
};

// What a TorchScript value is at import.
struct Item {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kDouble,
    kText,
    kTensor,
    kList,
    kTuple,
    kDict,
    kLayer,
    kLost
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double real = 0;
  std::string text;  // kText; kLost: why there is no value
  Value* value = nullptr;
  std::optional<QuantScale> quant;
  uint32_t storage = 0;                      // tensors with the same number share their elements
  std::shared_ptr<std::vector<Item>> items;  // lists are shared, as they are in TorchScript
  std::shared_ptr<std::vector<Item>> keys;   // kDict: of the items, in their order
  uint32_t depth = 0, weight = 1;            // lists in lists, and items in all
  std::shared_ptr<const PackedLayer> layer;
  std::shared_ptr<const StoredTensor> stored;  // of a tensor that is a constant of the file

  static Item none() { return {}; }
  static Item of_bool(bool flag);
  static Item of_int(int64_t number);
  static Item of_double(double number);
  static Item of_text(std::string text);
  static Item of_tensor(Value* value);
  // kLost where lists would be nested too deeply or hold too much in all.
  static Item of_items(Kind kind, std::vector<Item> items);
  static Item of_ints(std::span<const int64_t> numbers);
  static Item lost(std::string why);

  bool is_none() const { return kind == Kind::kNone; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_list() const {
    return kind == Kind::kList || kind == Kind::kTuple || kind == Kind::kDict;
  }
  bool is_number() const {
    return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kDouble;
  }
  double as_double() const { return kind == Kind::kDouble ? real : static_cast<double>(integer); }
};

class Importer {
 public:
  // `program` outlives the importer. `numbers`: attributes that begin with these, not with what the file says.
  Importer(const TorchProgram& program, const ImportOptions& options, const OpRegistry& registry,
           std::map<std::string, Item> numbers)
      : program_(program), import_(options, registry), numbers_(std::move(numbers)) {}

  Result<Imported> run();
  // Attributes that forward() read and then set to another number.
  std::map<std::string, Item> changed_numbers() const;

 private:
  friend class Call;
  // An attribute that forward() sets.
  struct Attribute {
    Item start, now;
    bool is_input = false;
    bool is_read = false, is_set = false;  // read before it was set; set
    // Its next value is an output.
    bool is_kept() const { return is_input && is_set && !start.value->is_constant(); }
  };
  static std::string next_name(const std::string& path);  // of that output
  void gather_attributes(const TorchBlock& block);
  Result<Attribute*> attribute(const TorchNode& node);
  Status add_attribute_input(const std::string& path, const Datum& datum, size_t index);
  Status add_number(const NamedValue& input, size_t index);
  // State that is no input is refused.
  Status check_attributes();
  void number_uses(const TorchBlock& block, bool in_loop);
  Status add_inputs();
  Status add_input(const NamedValue& input, size_t index);
  Status run_block(const TorchBlock& block);
  Status run_node(const TorchNode& node);
  Status run_if(const TorchNode& node);
  Status run_loop(const TorchNode& node);
  // Makes the node's outputs unavailable, and those of blocks that were not run.
  void lose(const TorchNode& node, const std::string& why);
  Status change_in_place(const TorchNode& node, const Item& before);
  Status add_outputs();
  Status flatten(const Item& item, std::vector<Item>& tensors) const;

  Result<Item> item_of(const Datum& datum, const std::string& name);
  Result<Value*> constant(const StoredTensor& stored, const std::string& name);
  // What weights and activations of a quantized model lose by the way they were quantized.
  void note_ranges();
  // `storage`: whose elements the tensors in it share; 0: each has its own.
  void bind(const NamedValue& to, Item item, uint32_t storage = 0);
  static std::string label(const TorchNode& node);

  const TorchProgram& program_;
  GraphImport import_;
  std::map<std::string, Item> numbers_;
  std::map<std::string, const Datum*> attribute_data_;
  std::map<std::string, Attribute> attributes_;
  std::map<uint32_t, Item> items_;
  std::map<std::string, Item> by_name_;  // tensors, for options.outputs
  std::set<std::string> cuts_;           // inner tensors that are inputs
  std::map<uint32_t, size_t> last_use_;  // value id -> position of the node that reads it last
  std::map<const TorchNode*, size_t> position_;
  std::map<uint32_t, std::vector<uint32_t>> by_storage_;  // values that hold such a tensor
  std::set<const Value*> named_;                          // have the name of a TorchScript value
  bool has_weights_ = false, has_asymmetric_weights_ = false;
  std::set<int64_t> zero_points_;  // of computed quint8 tensors
  size_t executed_ = 0, visited_ = 0;
  uint32_t next_storage_ = 1;
};

// One operator on its way into the graph; arguments are counted as in its schema.
class Call {
 public:
  Call(Importer& importer, const TorchNode& node) : importer_(importer), node_(node) {}

  const TorchNode& node() const { return node_; }
  GraphBuilder& builder() { return importer_.import_.builder(); }
  void note(std::string text) { importer_.import_.note(std::move(text)); }

  size_t count() const { return node_.inputs.size(); }
  bool has(size_t i) const { return i < count() && !arg(i).is_none(); }
  const Item& arg(size_t i) const;  // none where there are fewer

  // A tensor; numbers become constants.
  Result<Value*> tensor(size_t i);
  Result<Value*> tensor_of(const Item& item);
  // Two operands of one type, as torch promotes them.
  Result<std::pair<Value*, Value*>> operands(size_t a, size_t b);
  Result<std::vector<Value*>> tensors(size_t i);  // a list of them, of one type
  Result<int64_t> integer(size_t i, std::string_view what);
  Result<int64_t> integer_of(const Item& item, std::string_view what) const;
  Result<double> real(size_t i, std::string_view what);
  Result<double> real_of(const Item& item, std::string_view what) const;
  Result<bool> flag(size_t i, std::string_view what);
  // A list of integers; one number stands for `repeat` of them.
  Result<std::vector<int64_t>> ints(size_t i, std::string_view what, size_t repeat = 0);
  Result<int64_t> axis(size_t i, int rank);
  Result<int64_t> axis_of(int64_t axis, int rank) const;
  bool flag_or(size_t i, bool fallback) const;
  int64_t integer_or(size_t i, int64_t fallback) const;
  double real_or(size_t i, double fallback) const;

  Result<Value*> emit(std::string_view op, std::string_view suffix, std::vector<Value*> inputs,
                      AttrMap attrs = {});
  Result<std::vector<Value*>> emit_many(std::string_view op, std::vector<Value*> inputs,
                                        size_t outputs, AttrMap attrs = {});
  Value* ints_value(std::string_view suffix, const std::vector<int64_t>& values);
  Value* scalar(std::string_view suffix, double value, DType dtype = DType::kF32);
  Result<Value*> cast(Value* value, DType dtype);
  Result<Value*> reshaped(Value* value, const std::vector<int64_t>& dims,
                          std::string_view suffix = "/shape");
  Result<Value*> transposed(Value* value, const std::vector<int64_t>& perm,
                            std::string_view suffix = "/transpose");
  // Rounded to a scale of int8 and back to real numbers.
  Result<Value*> rounded(Value* value, const QuantScale& scale);
  Result<Value*> constant(const StoredTensor& stored, std::string_view suffix);

  std::string name() const;  // of the first result
  Status give(Item item, size_t output = 0);
  Status give_constant();  // the node's own
  Status give_state();     // an attribute as it is now
  Status set_state();
  Status give(Value* value) { return give(Item::of_tensor(value)); }
  // Computed from argument 0: where that is quantized, so is the result, rounded on the same scale.
  Status give_like(Value* value);
  // Elements of argument 0 that were only moved.
  Status give_moved(Value* value);
  Status give_cast(DType dtype);
  // For the note about how weights were quantized.
  void count_weights(const Affine& affine);
  // Quantized on another scale.
  Status give_rounded(Value* value, const QuantScale& scale);

 private:
  Importer& importer_;
  const TorchNode& node_;
};

using OpFunction = Status (*)(Call& call);
// Null for operators that are not imported. Those that change their argument ("relu_") are found under the name without
// the last underscore.
OpFunction find_operator(std::string_view kind);
// Results that may share elements with argument 0.
bool is_view(std::string_view kind);

}  // namespace rk::frontends::torchscript
