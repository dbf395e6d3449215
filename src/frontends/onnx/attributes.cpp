// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/attributes.h"

#include "frontends/onnx/tensor_data.h"

namespace rk::frontends {
namespace {

// AttributeProto.type
enum Kind {
  kUnsaid = 0,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kSparseTensor = 11
};

// Files of before IR version 2 do not say the kind; the field that is there tells it.
int kind_of(const onnx::AttributeProto& proto) {
  if (proto.type() != kUnsaid) return proto.type();
  if (proto.has_f()) return kFloat;
  if (proto.has_i()) return kInt;
  if (proto.has_s()) return kString;
  if (proto.has_t()) return kTensor;
  if (proto.has_g()) return kGraph;
  if (proto.floats_size() != 0) return kFloats;
  if (proto.ints_size() != 0) return kInts;
  if (proto.strings_size() != 0) return kStrings;
  return kUnsaid;
}

Result<Attr> import_attribute(const onnx::AttributeProto& proto, const std::string& base_dir,
                              const std::string& what) {
  switch (kind_of(proto)) {
    case kFloat:
      return Attr(proto.f());
    case kInt:
      return Attr(int64_t{proto.i()});
    case kString:
      return Attr(proto.s());
    case kTensor: {
      RK_ASSIGN(Tensor tensor, import_tensor(proto.t(), base_dir, what));
      return Attr(std::move(tensor));
    }
    case kSparseTensor: {
      RK_ASSIGN(Tensor tensor, import_sparse_tensor(proto.sparse_tensor(), base_dir, what));
      return Attr(std::move(tensor));
    }
    case kFloats:
      return Attr(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case kInts:
      return Attr(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case kStrings:
      return Attr(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case kUnsaid:
      return invalid_model(str(what, " has neither kind nor value"));
    default:
      return unsupported(str(what, " is of kind ", proto.type(),
                             " (type or list of tensors or graphs), which is not supported"));
  }
}

}  // namespace

const onnx::AttributeProto* resolve(const onnx::AttributeProto& attribute,
                                    const AttrBindings& bindings) {
  if (attribute.ref_attr_name().empty()) return &attribute;
  const auto it = bindings.find(attribute.ref_attr_name());
  return it == bindings.end() ? nullptr : it->second;
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name,
                                           const AttrBindings& bindings) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return resolve(attribute, bindings);
  }
  return nullptr;
}

Result<AttrMap> import_attributes(const onnx::NodeProto& node, const AttrBindings& bindings,
                                  const std::string& base_dir, const std::string& what) {
  AttrMap out;
  for (const auto& named : node.attribute()) {
    const onnx::AttributeProto* attribute = resolve(named, bindings);
    if (attribute == nullptr || kind_of(*attribute) == kGraph) continue;
    const std::string label = str(what, ": attribute '", named.name(), "'");
    RK_ASSIGN(Attr value, import_attribute(*attribute, base_dir, label));
    if (!out.emplace(named.name(), std::move(value)).second) {
      return invalid_model(str(label, " is given twice"));
    }
  }
  return out;
}

}  // namespace rk::frontends
