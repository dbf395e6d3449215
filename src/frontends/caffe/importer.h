// SPDX-License-Identifier: Apache-2.0
// Caffe -> Graph: one walk over the layers; each type has one row in layers.cpp and one function. Blobs that a layer
// overwrites (top = bottom) are new values under the same name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontends/caffe/net.h"
#include "frontends/channel_order.h"
#include "frontends/graph_import.h"

namespace rk::frontends::caffe {

class Importer {
 public:
  // `net` outlives the importer.
  Importer(const Net& net, const ImportOptions& options, const OpRegistry& registry)
      : net_(net), import_(options, registry) {}
  Result<Imported> run();

 private:
  friend class LayerImport;
  Status add_inputs();
  Status import_layer(const Layer& layer);
  Status add_outputs();
  void bind(const std::string& top, Value* value);

  const Net& net_;
  GraphImport import_;
  std::map<std::string, Value*> values_;            // blob -> its newest value
  std::map<std::string, std::string> unavailable_;  // blob -> why
  std::vector<std::string> outputs_;                // blobs that no layer reads, in order
  std::vector<std::string> extra_outputs_;          // bottoms of layers that were cut off
};

// One layer on its way into the graph.
class LayerImport {
 public:
  LayerImport(Importer& importer, const Layer& layer) : importer_(importer), layer_(layer) {}

  const Layer& layer() const { return layer_; }
  const Message& params(std::string_view field) const { return layer_.params(field); }
  GraphBuilder& builder() { return importer_.import_.builder(); }
  size_t bottoms() const { return layer_.bottoms.size(); }
  size_t tops() const { return layer_.tops.size(); }
  Result<Value*> bottom(size_t i);
  Result<Value*> picture(size_t i);  // of rank 4
  // Weights; kInvalidModel when the .caffemodel has none for this layer. `elements` -1: any.
  Result<Value*> blob(size_t i, const std::vector<int64_t>& dims, std::string_view suffix);
  bool has_blob(size_t i) const { return i < layer_.blobs.size(); }
  Result<int64_t> axis(int64_t axis, int64_t rank) const;

  Result<Value*> emit(std::string_view op, std::string_view suffix, std::vector<Value*> inputs,
                      AttrMap attrs = {});
  Value* scalar(std::string_view suffix, float value);
  Value* ints(std::string_view suffix, const std::vector<int64_t>& values);
  Value* floats(std::string_view suffix, const Shape& shape, const std::vector<float>& values);
  Status bind(size_t i, Value* value);
  void note(std::string text) { importer_.import_.note(std::move(text)); }
  // The layer is left out, its bottoms become outputs.
  void cut_off();

 private:
  Importer& importer_;
  const Layer& layer_;
};

using LayerFunction = Status (*)(LayerImport& layer);
LayerFunction find_layer(const std::string& type);

Status convolution(LayerImport& layer);
Status deconvolution(LayerImport& layer);
Status pooling(LayerImport& layer);
Status inner_product(LayerImport& layer);
Status batch_norm(LayerImport& layer);
Status scale(LayerImport& layer);
Status bias(LayerImport& layer);
Status lrn(LayerImport& layer);
Status normalize(LayerImport& layer);
Status mvn(LayerImport& layer);
Status interp(LayerImport& layer);
Status upsample(LayerImport& layer);
Status roi_pooling(LayerImport& layer);
Status prior_box(LayerImport& layer);
Status detection_output(LayerImport& layer);

Status unary(LayerImport& layer, std::string_view op);
Status relu(LayerImport& layer);
Status relu6(LayerImport& layer);
Status prelu(LayerImport& layer);
Status elu(LayerImport& layer);
Status power(LayerImport& layer);
Status exponential(LayerImport& layer);
Status logarithm(LayerImport& layer);
Status swish(LayerImport& layer);
Status threshold(LayerImport& layer);
Status eltwise(LayerImport& layer);
Status axpy(LayerImport& layer);
Status softmax(LayerImport& layer);
Status reduction(LayerImport& layer);
Status arg_max(LayerImport& layer);

Status pass(LayerImport& layer);
Status split(LayerImport& layer);
Status silence(LayerImport& layer);
Status concat(LayerImport& layer);
Status slice(LayerImport& layer);
Status crop(LayerImport& layer);
Status permute(LayerImport& layer);
Status flatten(LayerImport& layer);
Status reshape(LayerImport& layer);
Status tile(LayerImport& layer);
Status shuffle_channel(LayerImport& layer);
Status reorg(LayerImport& layer);

}  // namespace rk::frontends::caffe
