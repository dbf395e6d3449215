// SPDX-License-Identifier: Apache-2.0
// What happens once per model: inputs, the order of execution, conditions and loops, outputs.
#include "frontends/torchscript/importer.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "frontends/torchscript/helper.h"

namespace rk::frontends::torchscript {
namespace {

// A damaged loop must not run forever; the largest networks at hand have some thousand nodes.
constexpr size_t kMostExecuted = 200'000;
// Lists are looked through when they are given on; one that doubles itself must not take hours.
constexpr size_t kMostVisited = 50'000'000;
constexpr uint32_t kDeepestList = 32, kHeaviestList = 100'000;
constexpr std::string_view kSizeForm =
    "one list per input, as in input_size_list=[[1, 3, 224, 224]]";

bool is_tensor_type(const std::string& type) {
  return type.starts_with("Tensor") && !type.ends_with("[]");
}
bool is_optional_tensor(const std::string& type) {
  return type == "Tensor?" || type == "Optional[Tensor]";
}

// Arguments that are indices, by operator and place: an input that is one holds integers.
bool reads_integers(const TorchNode& node, uint32_t id) {
  static const std::map<std::string_view, size_t> places = {
      {"aten::embedding", 1}, {"aten::index_select", 2}, {"aten::gather", 2},
      {"aten::scatter", 2},   {"aten::scatter_", 2},     {"aten::one_hot", 0}};
  const auto place = places.find(node.kind);
  return place != places.end() && place->second < node.inputs.size() &&
         node.inputs[place->second] == id;
}

// Adds what is made of these values by moving their elements; true where a node takes one of them as indices.
bool holds_integers(const TorchBlock& block, std::set<uint32_t>& ids) {
  for (const TorchNode& node : block.nodes) {
    if (std::ranges::any_of(ids, [&](uint32_t id) { return reads_integers(node, id); }))
      return true;
    const bool moves =
        is_view(node.kind) && node.kind != "aten::to" && node.kind != "aten::type_as";
    if (moves && node.outputs.size() == 1 && !node.inputs.empty() && ids.contains(node.inputs[0])) {
      ids.insert(node.outputs[0].id);
    }
    for (const TorchBlock& inner : node.blocks) {
      if (holds_integers(inner, ids)) return true;
    }
  }
  return false;
}

// Puts its last argument somewhere; one that is lost is then lost there too.
bool stores(const std::string& kind) {
  return kind == "aten::append" || kind == "aten::_set_item" || kind == "state::set";
}

void gather_names(const TorchBlock& block, std::vector<std::string>& names) {
  for (const TorchNode& node : block.nodes) {
    for (const NamedValue& output : node.outputs) names.push_back(output.name);
    for (const TorchBlock& inner : node.blocks) gather_names(inner, names);
  }
}

}  // namespace

Item Item::of_bool(bool flag) {
  Item out;
  out.kind = Kind::kBool;
  out.integer = flag ? 1 : 0;
  return out;
}

Item Item::of_int(int64_t number) {
  Item out;
  out.kind = Kind::kInt;
  out.integer = number;
  return out;
}

Item Item::of_double(double number) {
  Item out;
  out.kind = Kind::kDouble;
  out.real = number;
  return out;
}

Item Item::of_text(std::string text) {
  Item out;
  out.kind = Kind::kText;
  out.text = std::move(text);
  return out;
}

Item Item::of_tensor(Value* value) {
  Item out;
  out.kind = Kind::kTensor;
  out.value = value;
  return out;
}

Item Item::of_items(Kind kind, std::vector<Item> items) {
  Item out;
  out.kind = kind;
  for (const Item& item : items) {
    out.depth = std::max(out.depth, item.depth + 1);
    out.weight += item.weight;
    if (out.depth > kDeepestList || out.weight > kHeaviestList) return lost("a list is too large");
  }
  out.items = std::make_shared<std::vector<Item>>(std::move(items));
  return out;
}

Item Item::of_ints(std::span<const int64_t> numbers) {
  std::vector<Item> items;
  for (const int64_t number : numbers) items.push_back(of_int(number));
  return of_items(Kind::kList, std::move(items));
}

Item Item::lost(std::string why) {
  Item out;
  out.kind = Kind::kLost;
  out.text = std::move(why);
  return out;
}

std::string Importer::label(const TorchNode& node) {
  return node.source.empty() ? node.kind : str(node.kind, " (", node.source, ")");
}

void Importer::number_uses(const TorchBlock& block, bool in_loop) {
  std::vector<uint32_t> read;
  const auto use = [&](uint32_t id) {
    last_use_[id] = position_.size();
    if (in_loop) read.push_back(id);
  };
  for (const TorchNode& node : block.nodes) {
    position_[&node] = position_.size();
    std::ranges::for_each(node.inputs, use);
    const bool is_loop = node.kind == "prim::Loop";
    for (const TorchBlock& inner : node.blocks) number_uses(inner, in_loop || is_loop);
  }
  std::ranges::for_each(block.outputs, use);
  // The next round may read again what this one has read.
  for (const uint32_t id : read) last_use_[id] = position_.size();
}

Status Importer::add_input(const NamedValue& input, size_t index) {
  const ImportOptions& options = import_.options();
  if (options.input_shapes.empty()) {
    return invalid_argument(
        str("input_size_list is not given; TorchScript files hold no shapes of "
            "inputs: pass ",
            kSizeForm));
  }
  RK_ASSIGN(const std::vector<int64_t> dims, import_.input_dims(input.name, index, {}));
  if (dims.empty()) {
    return invalid_argument(
        str("input_size_list has no shape for input '", input.name, "'; pass ", kSizeForm));
  }
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  std::set<uint32_t> ids = {input.id};
  const DType dtype = holds_integers(program_.body, ids) ? DType::kI64 : DType::kF32;
  RK_ASSIGN(Value* const value, import_.add_input(input.name, index, {dtype, shape}));
  bind(input, Item::of_tensor(value));
  return ok_status();
}

Status Importer::add_inputs() {
  const ImportOptions& options = import_.options();
  std::vector<const NamedValue*> tensors;
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const NamedValue& input = program_.inputs[i];
    const bool has_default = program_.defaults[i].has_value();
    const bool is_tensor = is_tensor_type(input.type) && !is_optional_tensor(input.type);
    if (is_tensor || (is_optional_tensor(input.type) && !has_default)) {
      tensors.push_back(&input);
      continue;
    }
    const bool is_named = std::ranges::find(options.inputs, input.name) != options.inputs.end();
    if (!has_default || is_named) {
      if (options.input_initial_values.empty() || (!is_named && !options.inputs.empty())) {
        return unsupported(str("forward() takes '", input.name, "' of type ", input.type,
                               "; only tensors can be inputs. Give it a value with "
                               "input_initial_val, fix it with torch.jit.trace, or give it a "
                               "default before torch.jit.script"));
      }
      tensors.push_back(&input);
      continue;
    }
    RK_ASSIGN(Item item, item_of(*program_.defaults[i], input.name));
    bind(input, std::move(item));
  }
  std::vector<std::string> names = options.inputs;
  if (names.empty()) {
    for (const NamedValue* input : tensors) names.push_back(input->name);
  }
  RK_TRY(import_.check_input_count(names));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto own = std::ranges::find_if(
        tensors, [&](const NamedValue* input) { return input->name == names[i]; });
    const auto state = attribute_data_.find(names[i]);
    if (own != tensors.end() && !is_tensor_type((*own)->type) &&
        !is_optional_tensor((*own)->type)) {
      RK_TRY(add_number(**own, i));
    } else if (own != tensors.end()) {
      RK_TRY(add_input(**own, i));
    } else if (state != attribute_data_.end()) {
      RK_TRY(add_attribute_input(names[i], *state->second, i));
    } else {
      RK_TRY(add_input({~uint32_t{0}, names[i], "Tensor"}, i));
      cuts_.insert(names[i]);
    }
  }
  for (const NamedValue* input : tensors) {
    if (!items_.contains(input->id)) {
      bind(*input, Item::lost(str("input '", input->name, "' of the model is not among inputs")));
    }
  }
  return ok_status();
}

// An argument that is no tensor: its value must be given.
Status Importer::add_number(const NamedValue& input, size_t index) {
  const auto& values = import_.options().input_initial_values;
  if (index >= values.size() || !values[index] || values[index]->elements() != 1) {
    return invalid_argument(str("forward() takes '", input.name, "' of type ", input.type,
                                "; input_initial_val must hold one number for it, as in "
                                "[None, np.array(16000)], and input_size_list an empty shape, as "
                                "in [[1, 512], []]"));
  }
  const double number = values[index]->at_f64(0);
  if (input.type.starts_with("float")) {
    bind(input, Item::of_double(number));
  } else if (input.type.starts_with("bool")) {
    bind(input, Item::of_bool(number != 0));
  } else if (input.type.starts_with("int") && std::abs(number) < 9e15) {
    bind(input, Item::of_int(static_cast<int64_t>(number)));
  } else {
    return unsupported(str("forward() takes '", input.name, "' of type ", input.type,
                           "; tensors and numbers can be given"));
  }
  return ok_status();
}

void Importer::bind(const NamedValue& to, Item item, uint32_t storage) {
  if (cuts_.contains(to.name)) item = by_name_[to.name];
  const std::function<void(Item&)> own = [&](Item& any) {
    ++visited_;
    if (any.is_tensor() && storage != 0) any.storage = storage;
    if (any.is_tensor() && any.storage == 0) any.storage = next_storage_++;
    if (any.is_tensor()) by_storage_[any.storage].push_back(to.id);
    if (any.is_list()) std::ranges::for_each(*any.items, own);
  };
  own(item);
  if (item.is_tensor()) {
    Graph& graph = import_.graph();
    Value* const value = item.value;
    if (value->producer() != nullptr && !named_.contains(value) && !to.name.empty() &&
        graph.find(to.name) == nullptr) {
      graph.rename(value, to.name);
    }
    named_.insert(value);
    by_name_[to.name] = item;
  }
  items_[to.id] = std::move(item);
}

void Importer::lose(const TorchNode& node, const std::string& why) {
  for (const NamedValue& output : node.outputs) bind(output, Item::lost(why));
}

Status Importer::run_block(const TorchBlock& block) {
  for (const TorchNode& node : block.nodes) RK_TRY(run_node(node));
  return ok_status();
}

Status Importer::run_node(const TorchNode& node) {
  if (++executed_ > kMostExecuted || visited_ > kMostVisited) {
    return unsupported(str("forward() executes more than ", kMostExecuted,
                           " nodes; are its loops bounded by constants?"));
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto it = items_.find(node.inputs[i]);
    if (it == items_.end()) {
      return invalid_model(
          str(label(node), " reads value ", node.inputs[i], ", which nothing computes"));
    }
    if (it->second.kind != Item::Kind::kLost) continue;
    if (i + 1 == node.inputs.size() && stores(node.kind)) continue;
    lose(node, it->second.text);
    return ok_status();
  }
  Status status;
  if (node.kind == "prim::If") {
    status = run_if(node);
  } else if (node.kind == "prim::Loop") {
    status = run_loop(node);
  } else {
    const bool in_place = node.kind.ends_with('_') && !node.kind.ends_with("__");
    const std::string_view kind(node.kind.data(), node.kind.size() - (in_place ? 1 : 0));
    if (const auto function = find_operator(kind)) {
      const Item before = in_place && !node.inputs.empty() ? items_[node.inputs[0]] : Item();
      Call call(*this, node);
      status = function(call);
      if (status.ok() && before.is_tensor()) status = change_in_place(node, before);
    } else {
      status = unsupported("is not taken");
    }
  }
  if (status.ok()) return status;
  if (status.code() != Code::kUnsupported) return status.with_context(label(node));
  // One that failed inside a block has its name already.
  const bool has_label = node.kind == "prim::If" || node.kind == "prim::Loop";
  const std::string why =
      has_label && status.message().find("::") != std::string::npos
          ? status.message()
          : str(label(node), status.message() == "is not taken" ? " " : ": ", status.message());
  if (node.outputs.empty()) return unsupported(why);  // what it does cannot be left out
  // It may have changed the list it was given.
  const Item* const first = node.inputs.empty() ? nullptr : &items_[node.inputs[0]];
  if (first != nullptr && first->kind == Item::Kind::kList)
    first->items->assign(1, Item::lost(why));
  import_.add_unsupported(why);
  lose(node, why);
  return ok_status();
}

Status Importer::run_if(const TorchNode& node) {
  if (node.inputs.size() != 1 || node.blocks.size() != 2) {
    return invalid_model("has no condition or no two blocks");
  }
  Call call(*this, node);
  RK_ASSIGN(const bool holds, call.flag(0, "the condition"));
  const TorchBlock& block = node.blocks[holds ? 0 : 1];
  RK_TRY(run_block(block));
  if (block.outputs.size() != node.outputs.size()) {
    return invalid_model("has another number of results than its block");
  }
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const auto it = items_.find(block.outputs[i]);
    if (it == items_.end()) return invalid_model("its block returns what nothing computes");
    bind(node.outputs[i], Item(it->second));
  }
  return ok_status();
}

// Arguments: the most rounds, the first condition, what is carried. The block takes the round and what is carried, and
// returns the next condition and what is carried.
Status Importer::run_loop(const TorchNode& node) {
  const size_t carried = node.outputs.size();
  if (node.inputs.size() != carried + 2 || node.blocks.size() != 1 ||
      node.blocks[0].inputs.size() != carried + 1 || node.blocks[0].outputs.size() != carried + 1) {
    return invalid_model("has other numbers of values than its block");
  }
  const TorchBlock& block = node.blocks[0];
  Call call(*this, node);
  RK_ASSIGN(const int64_t rounds, call.integer(0, "the number of rounds"));
  RK_ASSIGN(bool goes_on, call.flag(1, "the condition"));
  std::vector<Item> state;
  for (size_t i = 0; i < carried; ++i) state.push_back(call.arg(i + 2));
  for (int64_t round = 0; round < rounds && goes_on; ++round) {
    if (++executed_ > kMostExecuted) return unsupported("runs for too many rounds");
    bind(block.inputs[0], Item::of_int(round));
    for (size_t i = 0; i < carried; ++i) bind(block.inputs[i + 1], state[i]);
    RK_TRY(run_block(block));
    for (size_t i = 0; i <= carried; ++i) {
      const auto it = items_.find(block.outputs[i]);
      if (it == items_.end()) return invalid_model("its block returns what nothing computes");
      if (i > 0) {
        state[i - 1] = it->second;
      } else if (it->second.kind == Item::Kind::kLost) {
        return unsupported(it->second.text);
      } else if (it->second.is_number()) {
        goes_on = it->second.as_double() != 0;
      } else {
        return unsupported("runs as long as a tensor says, which is known at run time only");
      }
    }
  }
  for (size_t i = 0; i < carried; ++i) bind(node.outputs[i], std::move(state[i]));
  return ok_status();
}

// Other names of the changed tensor now mean the result. A view of it that is read later would have to change with it,
// which is not done.
Status Importer::change_in_place(const TorchNode& node, const Item& before) {
  const auto result = items_.find(node.outputs.empty() ? node.inputs[0] : node.outputs[0].id);
  if (result == items_.end() || !result->second.is_tensor()) return ok_status();
  Item after = result->second;
  after.storage = before.storage;
  const size_t now = position_[&node];
  bool changes_view = false;
  const std::function<void(Item&, bool)> change = [&](Item& item, bool is_live) {
    if (item.is_list()) {
      for (Item& inner : *item.items) change(inner, is_live);
    } else if (item.is_tensor() && item.storage == before.storage) {
      if (item.value == before.value) {
        item = after;
      } else if (item.value != after.value && is_live) {
        changes_view = true;
      }
    }
  };
  std::vector<uint32_t>& names = by_storage_[before.storage];
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const uint32_t id : names) {
    const auto use = last_use_.find(id);
    change(items_[id], use != last_use_.end() && use->second > now);
  }
  for (auto& [path, attribute] : attributes_) {
    const Value* const value = attribute.now.value;
    change(attribute.now, true);
    attribute.is_set = attribute.is_set || attribute.now.value != value;
  }
  if (!node.outputs.empty()) {
    items_[node.outputs[0].id] = after;
    names.push_back(node.outputs[0].id);
  }
  if (!changes_view) return ok_status();
  const std::string why =
      "changes a part of a tensor that is read later; write it without assigning to "
      "slices, as with torch.cat or torch.where";
  // Nothing that shares these elements is right any more.
  for (const uint32_t id : names) items_[id] = Item::lost(str(label(node), ": ", why));
  return unsupported(why);
}

Result<Item> Importer::item_of(const Datum& datum, const std::string& name) {
  switch (datum.kind) {
    case Datum::Kind::kNone:
      return Item::none();
    case Datum::Kind::kBool:
      return Item::of_bool(datum.integer != 0);
    case Datum::Kind::kInt:
      return Item::of_int(datum.integer);
    case Datum::Kind::kDouble:
      return Item::of_double(datum.real);
    case Datum::Kind::kText:
      return Item::of_text(datum.text);
    case Datum::Kind::kOther:
      return Item::lost(str("a value of kind ", datum.text, " is not taken"));
    case Datum::Kind::kTensor: {
      RK_ASSIGN(Value* const value, constant(*datum.tensor, name));
      Item out = Item::of_tensor(value);
      out.stored = datum.tensor;
      if (datum.tensor->affine.scale.size() == 1) {
        const int64_t shift = datum.tensor->dtype == DType::kU8 ? 128 : 0;
        out.quant = {datum.tensor->affine.scale[0], datum.tensor->affine.zero_point[0] - shift};
      }
      return out;
    }
    case Datum::Kind::kList:
    case Datum::Kind::kTuple: {
      std::vector<Item> items;
      for (const Datum& inner : datum.items) {
        RK_ASSIGN(Item item, item_of(inner, name));
        items.push_back(std::move(item));
      }
      return Item::of_items(
          datum.kind == Datum::Kind::kList ? Item::Kind::kList : Item::Kind::kTuple,
          std::move(items));
    }
    case Datum::Kind::kDict: {
      std::vector<Item> keys, items;
      for (size_t i = 0; i < datum.items.size(); ++i) {
        RK_ASSIGN(Item item, item_of(datum.items[i], name));
        (i % 2 == 0 ? keys : items).push_back(std::move(item));
      }
      Item out = Item::of_items(Item::Kind::kDict, std::move(items));
      out.keys = std::make_shared<std::vector<Item>>(std::move(keys));
      return out;
    }
    case Datum::Kind::kConv:
    case Datum::Kind::kLinear: {
      Item out;
      out.kind = Item::Kind::kLayer;
      out.layer = datum.layer;
      return out;
    }
  }
  return Item::none();
}

// Real numbers: float16 and double become float32 here, integers with scales stay integers before a DequantizeLinear.
Result<Value*> Importer::constant(const StoredTensor& stored, const std::string& name) {
  RK_ASSIGN(const Shape shape, Shape::make(stored.dims));
  RK_ASSIGN(Tensor data, Tensor::from_bytes({stored.dtype, shape}, stored.data));
  GraphBuilder& builder = import_.builder();
  const Affine& affine = stored.affine;
  if (affine.scale.empty()) {
    const DType dtype = computing_dtype(stored.dtype);
    return builder.constant(name, dtype == stored.dtype ? std::move(data) : data.cast(dtype));
  }
  const bool per_channel = affine.axis >= 0;
  const auto channels = static_cast<int64_t>(affine.scale.size());
  if (per_channel ? affine.axis >= shape.rank() || shape[static_cast<int>(affine.axis)] != channels
                  : channels != 1) {
    return invalid_model(str("'", name, "' has ", channels, " scales along axis ", affine.axis,
                             " of ", to_string(shape)));
  }
  int64_t shift = 0;
  if (stored.dtype == DType::kU8) {
    shift = 128;
    Tensor shifted = Tensor::make({DType::kI8, shape});
    for (int64_t i = 0; i < shape.elements(); ++i) {
      shifted.mutable_data<int8_t>()[i] = static_cast<int8_t>(data.data<uint8_t>()[i] - 128);
    }
    data = std::move(shifted);
  } else if (stored.dtype != DType::kI8) {
    return unsupported(str("'", name, "' is quantized to ", to_string(stored.dtype),
                           "; qint8 and quint8 are taken"));
  }
  std::vector<float> scales;
  std::vector<int64_t> points;
  for (size_t i = 0; i < affine.scale.size(); ++i) {
    scales.push_back(static_cast<float>(affine.scale[i]));
    if (affine.zero_point[i] < shift - 128 || affine.zero_point[i] > shift + 127) {
      return invalid_model(str("'", name, "' has zero point ", affine.zero_point[i],
                               ", which its type cannot hold"));
    }
    points.push_back(affine.zero_point[i] - shift);
  }
  const Shape list = per_channel ? Shape{channels} : Shape{};
  NodeDraft draft;
  draft.name = name;
  AttrMap attrs;
  if (per_channel) attrs["axis"] = affine.axis;
  return builder.emit(
      draft, "DequantizeLinear", "/real",
      {builder.constant(name, std::move(data)),
       builder.constant(name + "/scale", Tensor::f32(list, scales)),
       builder.constant(name + "/zero_point", Tensor::i64(list, points).cast(DType::kI8))},
      std::move(attrs));
}

Status Importer::flatten(const Item& item, std::vector<Item>& tensors) const {
  if (item.kind == Item::Kind::kLost) {
    return import_.has_unsupported() ? import_.unsupported_error() : unsupported(item.text);
  }
  if (item.is_tensor()) tensors.push_back(item);
  if (!item.is_list()) return ok_status();
  for (const Item& inner : *item.items) RK_TRY(flatten(inner, tensors));
  return ok_status();
}

Status Importer::add_outputs() {
  const ImportOptions& options = import_.options();
  std::vector<std::pair<std::string, Value*>> found;
  for (const std::string& name : options.outputs) {
    const auto it = by_name_.find(name);
    if (it == by_name_.end()) {
      if (import_.has_unsupported()) return import_.unsupported_error();
      return invalid_argument(str("'outputs' names '", name,
                                  "', which is no tensor, or in a branch that is not taken"));
    }
    found.emplace_back(name, it->second.value);
  }
  if (options.outputs.empty()) {
    std::vector<Item> tensors;
    for (const uint32_t id : program_.body.outputs) {
      const auto it = items_.find(id);
      if (it == items_.end()) return invalid_model("forward() returns what nothing computes");
      RK_TRY(flatten(it->second, tensors));
    }
    for (const Item& item : tensors) {
      const bool is_own =
          item.value->producer() != nullptr && !import_.graph().is_output(*item.value);
      const auto same = [&](const auto& one) { return one.second == item.value; };
      const bool is_new = is_own && std::ranges::none_of(found, same);
      found.emplace_back(is_new ? item.value->name() : str("output_", found.size()), item.value);
    }
    for (const auto& [path, state] : attributes_) {
      if (state.is_kept()) found.emplace_back(next_name(path), state.now.value);
    }
  }
  if (found.empty()) return unsupported("forward() returns no tensor");
  for (const auto& [name, value] : found) RK_TRY(import_.add_output(name, value));
  return ok_status();
}

Result<Imported> Importer::run() {
  const ImportOptions& options = import_.options();
  std::vector<std::string> all;
  for (const NamedValue& input : program_.inputs) all.push_back(input.name);
  gather_names(program_.body, all);
  gather_attributes(program_.body);
  for (const auto& [path, datum] : attribute_data_) {
    all.push_back(path);
    all.push_back(next_name(path));
  }
  RK_TRY(import_.check_names(options.inputs, "inputs", all));
  RK_TRY(import_.check_names(options.outputs, "outputs", all));
  number_uses(program_.body, false);
  RK_TRY(add_inputs());
  if (const Status status = run_block(program_.body); !status.ok()) {
    if (status.code() != Code::kUnsupported || !import_.has_unsupported()) return status;
    import_.add_unsupported(status.message());
    return import_.unsupported_error();
  }
  RK_TRY(check_attributes());
  RK_TRY(add_outputs());
  note_ranges();
  return import_.finish();
}

}  // namespace rk::frontends::torchscript

namespace rk::frontends {

ImportFunction import_torchscript_files;

Result<Imported> import_torchscript_files(std::span<const ModelFile> files,
                                          const ImportOptions& options,
                                          const OpRegistry& registry) {
  const ByteSpan bytes = files[0].bytes;
  const bool is_answer = torchscript::is_answer(bytes);
  std::vector<uint8_t> answer;
  if (!is_answer) {
    RK_TRY(torchscript::check_archive(bytes));
    RK_ASSIGN(answer, torchscript::ask_helper(bytes));
  }
  RK_ASSIGN(const torchscript::TorchProgram program,
            torchscript::read_answer(is_answer ? bytes : ByteSpan(answer)));
  // Numbers that forward() sets: as the first call finds them, then as it leaves them.
  std::map<std::string, torchscript::Item> numbers;
  for (int call = 0; call < 2; ++call) {
    torchscript::Importer importer(program, options, registry, numbers);
    auto imported = importer.run();
    const auto changed = importer.changed_numbers();
    if (!imported.ok() || changed.empty()) return imported;
    for (const auto& [path, number] : changed) numbers[path] = number;
  }
  return unsupported(str("forward() sets '", numbers.begin()->first,
                         "' to another number at every call; make it a tensor, or an argument"));
}

}  // namespace rk::frontends
