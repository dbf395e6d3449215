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
#include <set>

#include "base/file.h"
#include "tests/vendor/node_check.h"

namespace rk::vendor {
namespace {

namespace fs = std::filesystem;

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

// Other operators are derived on this chip: their lifted steps do not have its constants.
Tally moved_and_convolved(const Report& report) {
  Tally sum;
  for (const auto& [kind, t] : report.kinds) {
    const std::string node = kind.substr(kind.rfind(' ') + 1);
    const bool taken = node.starts_with("Conv") || node == "MaxPool" || node == "Concat" ||
                       node == "Split" || node == "Resize";
    if (!taken) continue;
    sum.nodes += t.nodes;
    sum.bytes += t.bytes;
    sum.different += t.different;
    sum.floats += t.floats;
    sum.far_floats += t.far_floats;
  }
  return sum;
}

void print(const Report& report) {
  std::printf("%-30s %6s %8s %8s %6s %6s %9s %9s %9s\n", "chip, type, node", "tasks", "executed",
              "compared", "nodes", "equal", "bytes off", "far half", "largest");
  for (const auto& [kind, t] : report.kinds) {
    std::printf("%-30s %6zu %8zu %8zu %6zu %6zu %9llu %9llu %9.2g\n", kind.c_str(), t.tasks,
                t.executed, t.compared, t.nodes, t.equal_nodes,
                static_cast<unsigned long long>(t.different),
                static_cast<unsigned long long>(t.far_floats), t.worst);
  }
  for (const auto& [reason, count] : report.not_modeled)
    std::printf("not modeled: %zu tasks: %s\n", count, reason.c_str());
  for (const auto& [reason, count] : report.not_compared)
    std::printf("not compared: %zu: %s\n", count, reason.c_str());
  for (const std::string& difference : report.differences)
    std::printf("different: %s\n", difference.c_str());
}

int check(const fs::path& folder, const std::string& only) {
  Report report, rk3566, rk3562, rk3576, rv1106;
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
    const bool lite = (kind.starts_with("rk3566") || kind.starts_with("rk3568"));
    const bool last = kind.starts_with("rk3576") || kind.starts_with("rv1126b");
    const bool tiny = kind.starts_with("rv1106 ") || kind.starts_with("rv1103 ");
    const bool later = last || tiny || kind.starts_with("rk3562");
    Report& to = lite ? rk3566 : last ? rk3576 : tiny ? rv1106 : later ? rk3562 : report;
    const Status status = check_nodes(name, kind, *file, to);
    if (lite || later) continue;
    if (status.ok()) {
      ++emulated;
    } else {
      ++report.not_compared[kind + ": " + status.message().substr(0, 100)];
    }
  }
  print(report);
  print(rk3566);
  print(rk3562);
  print(rk3576);
  print(rv1106);
  const std::pair<const char*, const Report*> others[] = {{"RK3566 and RK3568", &rk3566},
                                                          {"RK3562", &rk3562},
                                                          {"RK3576 and RV1126B", &rk3576},
                                                          {"RV1103 and RV1106", &rv1106}};
  for (const auto& [chip, other] : others) {
    const Tally moved = moved_and_convolved(*other);
    figure(str("emulator, ", chip, ": bytes of ", moved.nodes,
               " convolutions, poolings and moves unlike the lifted steps; float16 numbers farther "
               "off "
               "than their bar"),
           moved.different + moved.far_floats == 0 && (moved.bytes != 0 || !only.empty()),
           str(moved.different, " of ", moved.bytes, "; ", moved.far_floats, " of ", moved.floats),
           "0; 0");
  }
  const Tally& t = report.total;
  figure(str("emulator: ", emulated, " of ", files.size(), " files, ", t.compared, " tasks of ",
             t.nodes, " results, integer bytes unlike the lifted steps"),
         t.different == 0 && t.bytes != 0, str(t.different, " of ", t.bytes), "0");
  figure("emulator: results of float stages farther off than their bar", t.far_floats == 0,
         str(t.far_floats, " of ", t.floats), "0");
  figure("emulator: tasks of RK3588 executed from their registers",
         t.tasks != 0 && t.executed * 100 >= t.tasks * 95,
         str(t.executed, " of ", t.tasks, " (", percent(t.executed, t.tasks), ")"), ">= 95 %");
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
