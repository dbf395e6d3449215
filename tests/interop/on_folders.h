// SPDX-License-Identifier: Apache-2.0
// The command line of programs that walk folders of vendor files.
#pragma once

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace rk::interop {

inline int run_on_folders(int argc, char** argv, int (*run)(const std::vector<std::string>&)) {
  const std::vector<std::string> folders(argv + 1, argv + argc);
  for (const std::string& folder : folders) {
    if (std::filesystem::is_directory(folder)) continue;
    std::cerr << "'" << folder << "' is not a folder of vendor files\n";
    return 2;
  }
  if (!folders.empty()) return run(folders);
  std::cerr << "usage: " << argv[0] << " FOLDER ...\n";
  return 2;
}

}  // namespace rk::interop
