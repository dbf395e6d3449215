// SPDX-License-Identifier: Apache-2.0
// The flags that say which model to build and how: the rows of toolkit/option_table.h, for the
// commands that build a model.
#pragma once

#include "rknn/arguments.h"
#include "rknn/commands.h"
#include "toolkit/option_table.h"

namespace rk::tools {

// A flag per option of S.
template <typename S>
std::vector<OptionDef> flags_for();

// The flags of config, load_onnx and build (or hybrid_quantization_step1), then those of the
// command, then --help.
enum class ModelFlags { kBuild, kHybrid };
std::vector<OptionDef> with_model_options(const std::vector<OptionDef>& own,
                                          ModelFlags flags = ModelFlags::kBuild);

// Only what was given is changed.
template <typename S>
Status read_flags(const Arguments& args, S& out);

// The free words are the files of the model; config, load and build flags.
Status read_model_options(const Arguments& args, ConvertRequest& request);

}  // namespace rk::tools
