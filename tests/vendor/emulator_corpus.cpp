// SPDX-License-Identifier: Apache-2.0
// Every task of a corpus of vendor files, executed from its registers, against the same node executed as a Program:
//
//   vendor_emulator FOLDER [--only TEXT]      FOLDER/CHIP/int8|fp16/MODEL/model.rknn
//
// Each node starts from the Program's own values of its operands, so a node of the CPU or one that is not modeled does
// not end the comparison. Prints, per chip, type and node, how many tasks were executed, which nodes were compared and
// what is missing, then FIGURE lines with their bars.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "base/file.h"
#include "emulator/emulator.h"
#include "tests/vendor/session_run.h"

namespace rk::vendor {
namespace {

namespace fs = std::filesystem;
using emulator::Core;
using emulator::Emulator;
using emulator::TaskResult;
using format::FileGraph;
using format::FileNode;
using format::FileTensor;
using format::Task;

struct Tally {
  size_t tasks = 0, executed = 0, compared = 0;  // compared: tasks of nodes whose results were
  size_t nodes = 0, equal_nodes = 0;
  uint64_t bytes = 0, different = 0;
};

struct Report {
  std::map<std::string, Tally> kinds;          // "rk3588 int8 ConvRelu"
  std::map<std::string, size_t> not_modeled;  // tasks by reason
  std::map<std::string, size_t> not_compared;  // nodes by reason
  std::vector<std::string> differences;
  Tally total;
};

// Stored elements of a model input: any int8; for float16 numbers between -2 and 2.
std::vector<uint8_t> random_elements(const FileTensor& tensor, std::mt19937& random) {
  size_t count = 1;
  for (const int32_t extent : tensor.shape) count *= static_cast<size_t>(std::max(extent, 1));
  std::vector<uint8_t> out(count * byte_size(tensor.dtype));
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random());
  if (tensor.dtype == DType::kF16) {
    for (size_t i = 0; i < out.size(); i += 2) {
      const auto half = static_cast<uint16_t>((random() & 0x83ff) | (random() % 8 + 8) << 10);
      std::memcpy(out.data() + i, &half, sizeof half);
    }
  }
  return out;
}

class FileCheck {
 public:
  FileCheck(std::string name, std::string kind, const std::vector<uint8_t>& file, Report& report)
      : name_(std::move(name)), kind_(std::move(kind)), file_(file), report_(report) {}

  Status run() {
    RK_ASSIGN(model_, format::read_model(ByteSpan(file_)));
    RK_ASSIGN(Emulator made, Emulator::create(model_, TieRule::kEven));
    if (made.lists().schedules().empty()) return unsupported("it has no register lists");
    const FileGraph& graph = model_.graphs.front();
    std::mt19937 random(7);
    std::vector<std::vector<uint8_t>> inputs;
    for (const int32_t i : graph.inputs) {
      inputs.push_back(random_elements(graph.tensors[static_cast<size_t>(i)], random));
      values_[i] = inputs.back();
    }
    RunResult ran;
    const Status status = run_with_tensors(file_, inputs, ran);
    if (!status.ok())
      ++report_.not_compared[kind_ + ": the file does not run: " + status.message().substr(0, 80)];
    for (const auto& [tensor, stored] : ran.tensors) {
      const ByteSpan bytes = stored.bytes();
      values_[tensor].assign(bytes.begin(), bytes.end());
    }
    return walk(made, graph);
  }

 private:
  Status walk(Emulator& emulator, const FileGraph& graph) {
    const format::Lane& lane = emulator.lists().schedules().front().lanes.front();
    const std::vector<Task>& tasks = emulator.lists().tasks();
    Core core;
    size_t at = lane.first_task;
    const size_t end = std::min(tasks.size(), lane.first_task + lane.task_count);
    while (at < end) {
      const size_t node = tasks[at].node;
      size_t last = at;
      while (last < end && tasks[last].node == node) ++last;
      if (node >= graph.nodes.size()) return invalid_model("a task of a node that does not exist");
      run_node(emulator, core, graph.nodes[node],
               std::span<const Task>(tasks).subspan(at, last - at));
      at = last;
    }
    return ok_status();
  }

  void run_node(Emulator& emulator, Core& core, const FileNode& node, std::span<const Task> tasks) {
    Tally& tally = report_.kinds[kind_ + " " + node.type];
    for (const int32_t input : node.inputs) {
      const auto known = values_.find(input);
      // A tensor of another layout stays as the tasks left it.
      if (known != values_.end()) (void)emulator.store(input, known->second);
    }
    size_t executed = 0, done = 0;
    for (const Task& task : tasks) {
      const auto result = emulator.run(task, core);
      executed += result.ok();
      done += result.ok() && *result == TaskResult::kDone;
      if (!result.ok())
        ++report_.not_modeled[kind_ + " " + node.type + ": " + result.status().message()];
    }
    for (Tally* sum : {&tally, &report_.total}) {
      sum->tasks += tasks.size();
      sum->executed += executed;
    }
    if (executed == tasks.size() && done != 0) compare(emulator, node, tasks.size(), tally);
  }

  void compare(Emulator& emulator, const FileNode& node, size_t tasks, Tally& tally) {
    for (const int32_t output : node.outputs) {
      const auto wanted = values_.find(output);
      const auto got = output < 0 ? Result<std::vector<uint8_t>>(unsupported("no output"))
                                  : emulator.load(output);
      if (wanted == values_.end() || !got.ok() || got->size() != wanted->second.size()) {
        const std::string why = wanted == values_.end() ? std::string("no step computes its result")
                                : got.ok()              ? std::string("another size")
                                           : std::string("its result is not a feature");
        ++report_.not_compared[kind_ + " " + node.type + ": " + why];
        return;
      }
      uint64_t different = 0;
      for (size_t i = 0; i < got->size(); ++i) different += (*got)[i] != wanted->second[i];
      for (Tally* sum : {&tally, &report_.total}) {
        sum->bytes += got->size();
        sum->different += different;
        ++sum->nodes;
        sum->equal_nodes += different == 0;
      }
      if (different != 0) {
        report_.differences.push_back(str(name_, ": ", node.name, " (", node.type, "): ", different,
                                          " of ", got->size(), " bytes"));
      }
    }
    for (Tally* sum : {&tally, &report_.total}) sum->compared += tasks;
  }

  std::string name_, kind_;
  const std::vector<uint8_t>& file_;
  Report& report_;
  format::FileModel model_;
  std::map<int32_t, std::vector<uint8_t>> values_;
};

std::string percent(size_t part, size_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

void figure(const std::string& name, bool holds, const std::string& value, const std::string& bar) {
  std::printf("FIGURE %s | %s | %s | %s\n", name.c_str(), value.c_str(), bar.c_str(),
              holds ? "ok" : "SHORT");
}

void print(const Report& report) {
  std::printf("%-34s %7s %8s %8s %6s %6s %10s\n", "chip, type, node", "tasks", "executed",
              "compared", "nodes", "equal", "differing");
  for (const auto& [kind, t] : report.kinds) {
    std::printf("%-34s %7zu %8zu %8zu %6zu %6zu %10llu\n", kind.c_str(), t.tasks, t.executed,
                t.compared, t.nodes, t.equal_nodes, static_cast<unsigned long long>(t.different));
  }
  for (const auto& [reason, count] : report.not_modeled)
    std::printf("not modeled: %zu tasks: %s\n", count, reason.c_str());
  for (const auto& [reason, count] : report.not_compared)
    std::printf("not compared: %zu: %s\n", count, reason.c_str());
  for (const std::string& difference : report.differences)
    std::printf("different: %s\n", difference.c_str());
}

int check(const fs::path& folder, const std::string& only) {
  Report report;
  std::set<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "model.rknn" &&
        entry.path().string().find(only) != std::string::npos)
      files.insert(entry.path());
  }
  size_t emulated = 0;
  for (const fs::path& path : files) {
    const auto file = read_file(path.string());
    if (!file.ok()) continue;
    const fs::path model = path.parent_path(), type = model.parent_path();
    const std::string kind =
        type.parent_path().filename().string() + " " + type.filename().string();
    const std::string name = fs::relative(model, folder).string();
    const Status status = FileCheck(name, kind, *file, report).run();
    if (status.ok()) {
      ++emulated;
    } else {
      ++report.not_compared[kind + ": " + status.message().substr(0, 100)];
    }
  }
  print(report);
  const Tally& t = report.total;
  figure(str("emulator: ", emulated, " of ", files.size(), " files, ", t.compared,
                        " tasks of ", t.nodes, " results, bytes unlike the lifted steps"),
                    t.different == 0 && t.bytes != 0, str(t.different, " of ", t.bytes), "0");
  figure("emulator: tasks executed from their registers",
                    t.tasks != 0 && t.executed * 100 >= t.tasks * 95,
                    str(t.executed, " of ", t.tasks, " (", percent(t.executed, t.tasks), ")"),
                    ">= 95 %");
  return t.different == 0 && t.bytes != 0 ? 0 : 1;
}

}  // namespace
}  // namespace rk::vendor

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool filtered = words.size() == 3 && words[1] == "--only";
  if (words.size() != 1 && !filtered) {
    std::cerr << "usage: vendor_emulator FOLDER [--only TEXT]\n";
    return 2;
  }
  if (!std::filesystem::is_directory(words[0])) {
    std::cerr << "'" << words[0] << "' is not a folder of vendor files\n";
    return 2;
  }
  return rk::vendor::check(words[0], filtered ? words[2] : "");
}
