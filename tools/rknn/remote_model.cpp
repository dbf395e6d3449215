// SPDX-License-Identifier: Apache-2.0
#include "rknn/remote_model.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "toolkit/version.h"

namespace rk::tools {
namespace {

constexpr const char* kName = "model";

int64_t number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == nullptr ? 0 : found->as_int().value_or(0);
}

std::vector<rknn_tensor_attr> read_attrs(const Json& model, const char* key) {
  std::vector<rknn_tensor_attr> out;
  const auto list = model.find(key);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& from = *list->at(i);
    rknn_tensor_attr attr{};
    attr.index = static_cast<uint32_t>(i);
    const auto name = from.find("name");
    if (name != nullptr && name->as_string() != nullptr)
      std::snprintf(attr.name, sizeof attr.name, "%s", name->as_string()->c_str());
    const auto dims = from.find("dims");
    attr.n_elems = 1;
    for (size_t d = 0; dims != nullptr && d < dims->size() && d < RKNN_MAX_DIMS; ++d) {
      attr.dims[attr.n_dims++] = static_cast<uint32_t>(dims->at(d)->as_int().value_or(0));
      attr.n_elems *= attr.dims[d];
    }
    attr.size = static_cast<uint32_t>(number(from, "size_bytes"));
    attr.fmt = static_cast<rknn_tensor_format>(number(from, "format"));
    attr.type = static_cast<rknn_tensor_type>(number(from, "type"));
    attr.qnt_type = static_cast<rknn_tensor_qnt_type>(number(from, "quantization"));
    out.push_back(attr);
  }
  return out;
}

}  // namespace

const char* RemoteModel::name() const { return kName; }

Result<std::unique_ptr<RemoteModel>> RemoteModel::open(const std::string& device,
                                                       const std::string& path, uint32_t flags,
                                                       uint32_t core_mask) {
  RK_ASSIGN(const std::vector<uint8_t> file, read_file(path));
  RK_ASSIGN(const remote::Device where, remote::find_device(device));
  auto out = std::make_unique<RemoteModel>();
  RK_ASSIGN(out->client_, remote::Client::open(where, toolkit::kVersionText));
  const std::string warning = remote::version_warning(toolkit::kVersionText, out->client_->hello());
  if (!warning.empty()) std::fprintf(stderr, "rknn: %s\n", warning.c_str());
  RK_ASSIGN(
      const Json model,
      out->client_->load(kName, file, Json::object({{"flags", flags}, {"core_mask", core_mask}})));
  out->inputs_ = read_attrs(model, "inputs");
  out->outputs_ = read_attrs(model, "outputs");
  return out;
}

Result<std::vector<RemoteModel::Output>> RemoteModel::run(std::vector<Feed>& feeds, bool native) {
  std::vector<rknn_remote_tensor> inputs, outputs;
  for (size_t i = 0; i < feeds.size(); ++i) {
    rknn_remote_tensor to{};
    to.name = inputs_[i].name;
    to.type = feeds[i].type;
    to.format = feeds[i].fmt == RKNN_TENSOR_NCHW ? RKNN_TENSOR_NCHW : RKNN_TENSOR_UNDEFINED;
    to.rank = inputs_[i].n_dims;
    const uint32_t* const d = inputs_[i].dims;
    std::copy_n(d, to.rank, to.dims);
    if (to.format == RKNN_TENSOR_NCHW) {
      const int64_t turned[] = {d[0], d[3], d[1], d[2]};
      std::copy_n(turned, 4, to.dims);
    }
    to.data = feeds[i].bytes.data();
    to.size_bytes = feeds[i].bytes.size();
    inputs.push_back(to);
  }
  for (const rknn_tensor_attr& attr : outputs_) {
    rknn_remote_tensor wish{};
    wish.name = attr.name;
    wish.native = native ? 1 : 0;
    outputs.push_back(wish);
  }
  RK_TRY(client_->infer(kName, inputs, outputs));
  if (outputs.size() != outputs_.size())
    return io_error("the server gave another number of outputs");
  std::vector<Output> out;
  for (const rknn_remote_tensor& output : outputs)
    out.push_back({static_cast<const uint8_t*>(output.data), output.size_bytes});
  return out;
}

}  // namespace rk::tools
