// Runs the model on its saved inputs, or on those of the command line, and says whether it agrees with the simulator.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "model_info.h"
#include "process.h"
#include "rknn_app.h"

namespace {

struct Arguments {
  std::string folder;  // of the program, with a slash
  std::string model;
  std::string save;
  int loops = 10;
  std::vector<std::string> inputs;
};

int usage(const char* program) {
  fprintf(stderr, "usage: %s [--model FILE] [--loops N] [--save FOLDER] [INPUT ...]\n", program);
  return 2;
}

bool read_arguments(int argc, char** argv, Arguments* out) {
  const std::string program = argv[0];
  const size_t slash = program.rfind('/');
  out->folder = slash == std::string::npos ? "./" : program.substr(0, slash + 1);
  out->model = out->folder + kModelFile;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.compare(0, 2, "--") != 0) {
      out->inputs.push_back(word);
      continue;
    }
    if (i + 1 == argc) return false;
    const char* const value = argv[++i];
    if (word == "--model")
      out->model = value;
    else if (word == "--save")
      out->save = value;
    else if (word == "--loops")
      out->loops = atoi(value);
    else
      return false;
  }
  return out->loops > 0;
}

bool load_inputs(const Arguments& arguments, const RknnApp& app, std::vector<NpyArray>* arrays) {
  std::vector<std::string> files = arguments.inputs;
  if (files.empty()) {
    for (const char* const* file = kInputFiles; *file != nullptr; ++file) {
      files.push_back(arguments.folder + *file);
    }
  }
  if (files.empty()) {
    printf("no inputs: made-up ones show the times\n");
    for (const rknn_tensor_attr& attr : app.inputs()) arrays->push_back(make_input(attr));
    return true;
  }
  if (files.size() != app.inputs().size()) {
    fprintf(stderr, "%zu input files, the model has %zu inputs\n", files.size(),
            app.inputs().size());
    return false;
  }
  for (size_t i = 0; i < files.size(); ++i) {
    NpyArray array;
    if (!load_input(files[i], app.inputs()[i], &array)) return false;
    arrays->push_back(array);
  }
  return true;
}

// 0: every output agrees. 1: one does not.
int compare_with_simulator(const Arguments& arguments, const RknnApp& app,
                           const std::vector<NpyArray>& outputs) {
  size_t agree = 0, same = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    NpyArray saved;
    if (!read_npy(arguments.folder + kSimulatorFiles[i], &saved)) return 1;
    const Difference difference = compare(outputs[i], saved);
    const bool ok = difference.comparable && difference.cosine >= kCosine;
    agree += ok;
    same += difference.same_bytes;
    printf("output %zu '%s': cosine %.6f, largest difference %g: %s\n", i, app.outputs()[i].name,
           difference.cosine, difference.largest,
           !difference.comparable ? "OTHER TYPE OR SHAPE"
           : ok                   ? "agrees"
                                  : "DIFFERS");
  }
  const bool ok = agree == outputs.size();
  printf("%s with the simulator: %zu of %zu outputs, %zu with equal bytes\n",
         ok ? "agrees" : "DISAGREES", agree, outputs.size(), same);
  return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, &arguments)) return usage(argv[0]);
  RknnApp app;
  std::vector<NpyArray> inputs;
  if (!app.init(arguments.model) || !load_inputs(arguments, app, &inputs) ||
      (kSeveralShapes && !app.choose_shapes(inputs))) {
    return 1;
  }
  app.print_attributes();
  if (!app.bind(inputs)) return 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!app.set_input(i, inputs[i])) return 1;
  }
  for (int loop = 0; loop < arguments.loops; ++loop) {
    if (!app.run()) return 1;
  }
  std::vector<NpyArray> outputs(app.outputs().size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!app.get_output(i, &outputs[i])) return 1;
    print_largest(outputs[i], app.outputs()[i].name, 5);
    if (arguments.save.empty()) continue;
    const std::string file = arguments.save + "/output_" + std::to_string(i) + ".npy";
    if (!write_npy(file, outputs[i])) return 1;
  }
  app.print_times();
  if (!arguments.inputs.empty() || kSimulatorFiles[0] == nullptr) {
    printf("not compared with the simulator: its outputs are for the saved inputs only\n");
    return 0;
  }
  return compare_with_simulator(arguments, app, outputs);
}
