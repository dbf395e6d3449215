// SPDX-License-Identifier: Apache-2.0
// The door for model formats: a table with one row per format, and the calls that go through it. Everything outside
// this folder names a format by its word ("onnx", "tflite", ...) and knows nothing else of it. Adding a format is a
// folder and a row; docs/adding-a-frontend.md tells how.
//
// The graph that comes back speaks the newest ONNX vocabulary, has static shapes only, has been verified, and holds
// nothing of the file. Constant sub-graphs are folded. Rank-4 inputs are NCHW, whatever the file's order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "ir/graph.h"

namespace rk::frontends {

// The lists stand for the arguments `inputs`, `input_size_list`, `input_initial_val` and `outputs` of the load_...
// calls; messages use those names.
struct ImportOptions {
  // Tensors to cut the graph at; any tensor of the main graph. Empty: the model's own inputs.
  std::vector<std::string> inputs;
  // One per input, in the order of `inputs` or else of the model, in the file's own layout. Empty list: as the model
  // says; an empty entry: this input as the model says.
  std::vector<std::vector<int64_t>> input_shapes;
  // Tensors to end at; empty: the model's own outputs.
  std::vector<std::string> outputs;
  // One per input; an input with a value becomes a constant. Another dtype is converted.
  std::vector<std::optional<Tensor>> input_initial_values;
  // Inputs of sequence or optional type: the types of the elements they hold. Each element of a sequence becomes an
  // input of its own, "<name>_<index>"; an optional without an element is absent.
  std::map<std::string, std::vector<TensorType>> container_inputs;
  // Formats whose pictures are NHWC: the rank-4 inputs of this file are NCHW already.
  bool input_is_nchw = false;
};

// One file of a model. `path` is for messages and for what lies beside the file; empty: nothing may lie beside it.
struct ModelFile {
  std::string path;
  ByteSpan bytes;
};

struct Imported {
  Graph graph;
  std::vector<std::string> notes;  // what a user should know; the caller logs them as warnings
};

// Every importer has this form. The files are as many as the row says, in its order.
// kInvalidModel when the bytes are wrong, kInvalidArgument when an option is, kUnsupported when the model needs what
// is not offered.
using ImportFunction = Result<Imported>(std::span<const ModelFile> files,
                                        const ImportOptions& options, const OpRegistry& registry);

// A file that a format consists of, as the load_... call names it.
struct FilePart {
  std::string_view argument;                     // "model"
  std::string_view ending;                       // ".cfg"
  std::string_view yml_key = "model_file_path";  // of an rknn_convert file
};

struct ModelSource {
  std::string_view
      format;  // the word in load(path, format), in load_<format> and in a yml file's `platform`
  std::string_view title;   // "a TFLite model"
  std::string_view option;  // the build option that switches it
  std::vector<FilePart> parts;
  // Whether bytes can only be the first (or a later) file of this format; used to name the right call. False when in
  // doubt. Also there when the importer is not.
  bool (*recognize)(ByteSpan bytes, std::string_view file_name);
  ImportFunction* import;  // null: switched off when this library was built
};

std::span<const ModelSource> model_sources();
// kInvalidArgument names the formats there are.
Result<const ModelSource*> find_source(std::string_view format);
// The format of a file by its bytes and, where they leave it open, by its ending. kInvalidArgument says what the file is
// instead, where that is known.
Result<const ModelSource*> recognize_source(ByteSpan bytes, std::string_view file_name);
// What a file is that was given to the importer of `format`, and which call takes it, as the end of a sentence; empty
// when nothing speaks against it.
std::string recognize_other(ByteSpan bytes, std::string_view file_name, std::string_view format);

// `format` empty: recognized. kIo when a file cannot be read; else as ImportFunction.
Result<Imported> import_model(const std::vector<std::string>& paths, std::string_view format,
                              const ImportOptions& options, const OpRegistry& registry);
// The same for files in memory.
Result<Imported> import_files(std::span<const ModelFile> files, std::string_view format,
                              const ImportOptions& options, const OpRegistry& registry);

}  // namespace rk::frontends
