// SPDX-License-Identifier: Apache-2.0
#include "frontends/caffe/importer.h"

#include <algorithm>
#include <set>

namespace rk::frontends {
namespace caffe {

Result<Value*> LayerImport::bottom(size_t i) {
  if (i >= layer_.bottoms.size()) {
    return invalid_model(str("has ", layer_.bottoms.size(), " bottoms, needs ", i + 1));
  }
  const std::string& name = layer_.bottoms[i];
  const auto found = importer_.values_.find(name);
  if (found == importer_.values_.end()) {
    return invalid_model(str("reads '", name, "', which no layer before it computes"));
  }
  return found->second;
}

Result<Value*> LayerImport::picture(size_t i) {
  RK_ASSIGN(Value* const value, bottom(i));
  if (value->shape().rank() == 4) return value;
  return unsupported(str("its bottom '", layer_.bottoms[i], "' is ", to_string(value->shape()),
                         "; rank 4 is taken"));
}

Result<Value*> LayerImport::blob(size_t i, const std::vector<int64_t>& dims,
                                 std::string_view suffix) {
  if (!has_blob(i)) {
    return invalid_model(str("the .caffemodel has ", layer_.blobs.size(), " weight arrays for it, ",
                             i + 1, " are needed. Do .prototxt and .caffemodel belong together?"));
  }
  auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status();
  const Tensor& data = layer_.blobs[i];
  if (data.elements() != shape->elements()) {
    return invalid_model(str("weight array ", i, " is ", to_string(data.shape()),
                             " in the .caffemodel, the "
                             ".prototxt asks for ",
                             to_string(*shape)));
  }
  return builder().constant(layer_.name + std::string(suffix), data.reshaped(*shape));
}

Result<int64_t> LayerImport::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) return invalid_model(str("axis ", axis, " of rank ", rank));
  return axis < 0 ? axis + rank : axis;
}

Result<Value*> LayerImport::emit(std::string_view op, std::string_view suffix,
                                 std::vector<Value*> inputs, AttrMap attrs) {
  NodeDraft draft;
  draft.name = layer_.name;
  return builder().emit(draft, op, suffix, std::move(inputs), std::move(attrs));
}

Value* LayerImport::scalar(std::string_view suffix, float value) {
  return floats(suffix, {}, {value});
}

Value* LayerImport::floats(std::string_view suffix, const Shape& shape,
                           const std::vector<float>& values) {
  return builder().constant(layer_.name + std::string(suffix), Tensor::f32(shape, values));
}

Value* LayerImport::ints(std::string_view suffix, const std::vector<int64_t>& values) {
  NodeDraft draft;
  draft.name = layer_.name;
  return builder().ints(draft, suffix, values);
}

Status LayerImport::bind(size_t i, Value* value) {
  if (i >= layer_.tops.size()) return ok_status();
  importer_.bind(layer_.tops[i], value);
  return ok_status();
}

void LayerImport::cut_off() {
  for (const std::string& bottom : layer_.bottoms) importer_.extra_outputs_.push_back(bottom);
}

void Importer::bind(const std::string& top, Value* value) {
  Graph& graph = import_.graph();
  if (value->producer() != nullptr && value->name() != top && graph.find(top) == nullptr) {
    graph.rename(value, top);
  }
  values_[top] = value;
  unavailable_.erase(top);
}

Status Importer::add_inputs() {
  const ImportOptions& options = import_.options();
  std::vector<std::string> names;
  for (const NetInput& input : net_.inputs) names.push_back(input.name);
  // `inputs` (input_name) says the order.
  RK_TRY(import_.check_names(options.inputs, "input_name", names));
  if (!options.inputs.empty()) {
    if (options.inputs.size() != names.size()) {
      return invalid_argument(str("input_name has ", options.inputs.size(),
                                  " names, the model has ", names.size(), " inputs"));
    }
    names = options.inputs;
  }
  if (names.empty()) {
    return invalid_model(
        "the .prototxt has no input: add an Input layer, or input and input_shape");
  }
  RK_TRY(import_.check_input_count(names));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto input = std::ranges::find(net_.inputs, names[i], &NetInput::name);
    const bool given = i < options.input_shapes.size() && !options.input_shapes[i].empty();
    if (input->dims.empty() && !given) {
      return invalid_argument(
          str("input '", names[i],
              "' has no shape in the .prototxt; replace its data layer by one of "
              "type \"Input\" with input_param { shape { dim: 1 dim: 3 ... } }"));
    }
    RK_ASSIGN(const std::vector<int64_t> dims, import_.input_dims(names[i], i, input->dims));
    RK_ASSIGN(const Shape shape, Shape::make(dims));
    RK_ASSIGN(values_[names[i]], import_.add_input(names[i], i, {DType::kF32, shape}));
  }
  return ok_status();
}

Status Importer::import_layer(const Layer& layer) {
  const std::string label = str("layer '", layer.name, "' (", layer.type, ")");
  const auto give_up = [&](const std::string& why) {
    for (const std::string& top : layer.tops) {
      values_.erase(top);
      unavailable_[top] = why;
    }
  };
  for (const std::string& bottom : layer.bottoms) {
    if (const auto found = unavailable_.find(bottom); found != unavailable_.end()) {
      give_up(found->second);
      return ok_status();
    }
  }
  LayerImport context(*this, layer);
  const LayerFunction function = find_layer(layer.type);
  const Status status =
      function == nullptr ? unsupported("this type is not taken") : function(context);
  if (status.ok()) return status;
  if (status.code() != Code::kUnsupported) return status.with_context(label);
  const std::string why = str(label, ": ", status.message());
  import_.add_unsupported(why);
  give_up(why);
  return ok_status();
}

Status Importer::add_outputs() {
  std::vector<std::string> wanted = import_.options().outputs;
  if (wanted.empty()) {
    // Tops that nobody reads afterwards, in the order of their layers.
    std::set<std::string> seen;
    for (size_t i = 0; i < net_.layers.size(); ++i) {
      for (const std::string& top : net_.layers[i].tops) {
        bool is_read = false;
        for (size_t later = i + 1; later < net_.layers.size() && !is_read; ++later) {
          const Layer& reader = net_.layers[later];
          if (reader.type == "Accuracy") continue;  // it judges the result, it does not use it
          is_read = std::ranges::find(reader.bottoms, top) != reader.bottoms.end();
        }
        const bool exists = values_.contains(top) || unavailable_.contains(top);
        if (!is_read && exists && seen.insert(top).second) wanted.push_back(top);
      }
    }
    for (const std::string& bottom : extra_outputs_) {
      if (seen.insert(bottom).second) wanted.push_back(bottom);
    }
  } else {
    std::vector<std::string> all;
    for (const Layer& layer : net_.layers)
      all.insert(all.end(), layer.tops.begin(), layer.tops.end());
    RK_TRY(import_.check_names(wanted, "outputs", all));
  }
  for (const std::string& name : wanted) {
    if (!values_.contains(name)) return import_.unsupported_error();
  }
  std::vector<std::pair<std::string, Value*>> found;
  for (const std::string& name : wanted) {
    Value* const value = values_.at(name);
    if (import_.graph().is_input(*value)) continue;  // nothing was computed
    found.emplace_back(name, value);
  }
  for (const auto& [name, value] : found) RK_TRY(import_.add_output(name, value));
  return ok_status();
}

Result<Imported> Importer::run() {
  import_.graph().name = net_.name;
  RK_TRY(add_inputs());
  for (const Layer& layer : net_.layers) RK_TRY(import_layer(layer));
  RK_TRY(add_outputs());
  return import_.finish();
}

}  // namespace caffe

Result<Imported> import_caffe_files(std::span<const ModelFile> files, const ImportOptions& options,
                                    const OpRegistry& registry) {
  RK_ASSIGN(const caffe::Net net, caffe::read_net(files[0].bytes, files[1].bytes));
  return caffe::Importer(net, options, registry).run();
}

}  // namespace rk::frontends
