// SPDX-License-Identifier: Apache-2.0
// AttributeProto -> Attr. Graph attributes stay behind: the importer expands them itself.
#pragma once

#include <map>
#include <string>

#include "frontends/onnx/rk_onnx.pb.h"
#include "ir/attr.h"

namespace rk::frontends {

// What a call of a model-local function gives to the `ref_attr_name`s of its body.
using AttrBindings = std::map<std::string, const onnx::AttributeProto*, std::less<>>;

// The attribute after following its reference; null when the caller left it out.
const onnx::AttributeProto* resolve(const onnx::AttributeProto& attribute,
                                    const AttrBindings& bindings);

// Null when there is none, or when it refers to an attribute the caller left out.
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name,
                                           const AttrBindings& bindings);

// Every attribute but graphs. `what` names the node.
Result<AttrMap> import_attributes(const onnx::NodeProto& node, const AttrBindings& bindings,
                                  const std::string& base_dir, const std::string& what);

}  // namespace rk::frontends
