// SPDX-License-Identifier: Apache-2.0
// The operators that an application, or a plug-in library, has added to a context.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capi/api.h"
#include "ir/flat_attr.h"
#include "runtime/session/session.h"

namespace rk::capi {

inline constexpr uint32_t kMaxCustomOps = 1024;  // in one call

struct CustomInstance;  // one node with its operator

class CustomOps {
 public:
  CustomOps();
  ~CustomOps();  // calls the destroy callbacks
  CustomOps(const CustomOps&) = delete;
  CustomOps& operator=(const CustomOps&) = delete;

  // All or none: where a callback fails, those of this call are destroyed again. A type that is added twice is
  // kInvalidArgument, unless a plug-in brought it.
  Status add(runtime::Session& session, std::span<const rknn_custom_op> operators);
  // What the plug-in folders offer of the types that the model needs. Failures are logged and leave the type missing.
  void add_plugins(runtime::Session& session);
  // The session has other shapes: nodes are destroyed and made anew.
  Status renew(runtime::Session& session);
  // Ends every node, in the reverse order. Inside rknn_destroy.
  void clear();

 private:
  struct Operator {
    rknn_custom_op op;
    std::string source;  // of a GPU operator, read and copied
    bool plugin = false;
  };
  Status attach(runtime::Session& session, const Operator& one,
                std::vector<std::unique_ptr<CustomInstance>>& made);
  void remove(runtime::Session& session, std::string_view type);

  std::vector<Operator> operators_;
  std::vector<std::unique_ptr<CustomInstance>> instances_;
};

// One life of a node outside a context: init, prepare, compute, destroy.
Status compute_once(const rknn_custom_op& op, std::shared_ptr<runtime::CustomNode> node,
                    std::vector<std::pair<std::string, FlatAttr>> attrs);
// Inside `infer`, rknn_custom_op_get_op_attr answers these attributes.
int infer_once(const rknn_custom_op& op, std::shared_ptr<runtime::CustomNode> node,
               std::vector<std::pair<std::string, FlatAttr>> attrs,
               const std::function<int(rknn_custom_op_context*)>& infer);

struct Plugin {
  rknn_custom_op op;
  openrknn_infer_shapes_func infer_shapes;  // null: the plug-in has none
};

// Operators of all librkcst_*.so in RKNN_OP_PLUGIN_DIR (folders with ':' between them) and the vendor's folder, in the
// order of folders and names; each library is loaded once per process. What cannot be used is logged once.
std::vector<Plugin> plugin_operators();

}  // namespace rk::capi
