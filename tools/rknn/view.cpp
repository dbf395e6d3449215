// SPDX-License-Identifier: Apache-2.0
// rknn view: the pages of rknn report for a folder of models, in this machine's browser. A page is made when it is asked
// for and again when its file changes.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>

#include "rknn/describe.h"
#include "rknn/http_server.h"
#include "toolkit/report.h"

namespace rk::tools {
namespace {

namespace fs = std::filesystem;

const std::vector<OptionDef> kOptions = with_model_options({
    {"--port", "", "N", "of 127.0.0.1; default: any that is free"},
});

constexpr size_t kMostFiles = 2000;
constexpr size_t kMostPages = 16;  // kept in memory
constexpr std::string_view kEndings[] = {".rknn", ".onnx", ".tflite", ".pb", ".pt"};

struct File {
  uint64_t size = 0;
  int64_t changed = 0;
  std::string stamp() const { return str(changed, "-", size); }
};

// Models below a folder by their path in it. Links are not followed, so that nothing outside is shown.
std::map<std::string, File> models_below(const fs::path& folder) {
  std::map<std::string, File> out;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator() && out.size() < kMostFiles;
       it.increment(error)) {
    const fs::path& path = it->path();
    if (path.filename().string().starts_with('.')) {
      it.disable_recursion_pending();
      continue;
    }
    std::error_code failed;
    if (it->is_symlink(failed) || !it->is_regular_file(failed)) continue;
    const std::string ending = path.extension().string();
    if (std::ranges::find(kEndings, ending) == std::end(kEndings)) continue;
    File file;
    file.size = it->file_size(failed);
    file.changed = it->last_write_time(failed).time_since_epoch().count();
    if (!failed) out[fs::relative(path, folder, failed).string()] = file;
  }
  return out;
}

// Reloads when the file has changed. The page's own script knows nothing of servers.
std::string watching(const std::string& page, const std::string& state, const std::string& stamp) {
  const std::string script = str(
      "<script>setInterval(async () => { try { const answer = await fetch('", state,
      "'); if (answer.ok && (await answer.text()).trim() !== '", stamp,
      "') location.reload(); } catch (error) { /* the server has ended */ } }, 2000);</script>");
  const size_t end = page.rfind("</body>");
  return end == std::string::npos ? page + script : page.substr(0, end) + script + page.substr(end);
}

class Folder {
 public:
  Folder(const Arguments& args, std::string folder, std::string token)
      : args_(args), folder_(std::move(folder)), root_("/" + std::move(token) + "/") {}

  HttpAnswer answer(const std::string& path, const std::string& query) {
    // Every byte is compared, so that the time tells nothing of the token.
    unsigned wrong = path.size() < root_.size();
    for (size_t i = 0; i < root_.size() && i < path.size(); ++i) wrong |= path[i] ^ root_[i];
    if (wrong != 0)
      return {404, "There is nothing here; open the address that rknn view printed.\n", kText};
    const std::string what = path.substr(root_.size());
    if (what.empty()) return list();
    const auto name = decode_url(query);
    if (!name.ok() || (what != "model" && what != "state")) return {404, "no such page\n", kText};
    // Only what the list has: a name is never used as a path before that.
    const auto models = models_below(folder_);
    const auto found = models.find(*name);
    if (found == models.end()) return {404, "no such model\n", kText};
    if (what == "state") return {200, found->second.stamp() + "\n", kText};
    return model(*name, found->second);
  }

 private:
  static constexpr std::string_view kText = "text/plain; charset=utf-8";

  HttpAnswer list() const {
    std::string rows;
    for (const auto& [name, file] : models_below(folder_)) {
      rows += str("<tr><td><a href=\"model?", encode_url(name), "\">", escape_html(name),
                  "</a></td><td>", (file.size + 1023) / 1024, " KB</td></tr>");
    }
    if (rows.empty()) rows = "<tr><td>There are no models in this folder.</td></tr>";
    return {
        200,
        str("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Models</title>"
            "<meta name=\"viewport\" content=\"width=device-width\"><style>body{font:16px "
            "sans-serif;"
            "margin:2em auto;max-width:50em;padding:0 1em;color-scheme:light dark}td{padding:.3em "
            "1em .3em 0}"
            "</style></head><body><h1>Models</h1><table>",
            rows, "</table></body></html>\n")};
  }

  HttpAnswer model(const std::string& name, const File& file) {
    const std::lock_guard lock(mutex_);  // one model is built at a time
    const std::string key = str(name, "\n", file.stamp());
    if (const auto kept = pages_.find(key); kept != pages_.end()) return {200, kept->second};
    const auto described = describe_model_file(args_, (fs::path(folder_) / name).string());
    std::string page;
    if (described.ok()) {
      page = toolkit::report_page(std::span(&*described, 1));
    } else {
      page = str("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
                 escape_html(name), "</title></head><body><h1>", escape_html(name), "</h1><p>",
                 escape_html(described.status().message()), "</p></body></html>\n");
    }
    if (pages_.size() >= kMostPages) pages_.clear();
    const std::string whole = watching(page, str("state?", encode_url(name)), file.stamp());
    pages_[key] = whole;
    return {200, whole};
  }

  const Arguments& args_;
  const std::string folder_, root_;
  std::mutex mutex_;
  std::map<std::string, std::string> pages_;
};

std::string fresh_token() {
  std::random_device source;  // the system's, not a computed sequence
  std::string out;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", source());
    out += part;
  }
  return out;
}

}  // namespace

Status view_command(const std::vector<std::string>& words) {
  RK_ASSIGN(const Arguments args, Arguments::parse(words, kOptions));
  if (args.has("--help")) {
    std::printf("usage: rknn view FOLDER [-t CHIP] [options]\n%s", help_text(kOptions).c_str());
    return ok_status();
  }
  if (args.words().size() != 1) return invalid_argument("give one folder; see rknn view --help");
  std::error_code error;
  const fs::path folder = fs::canonical(args.words().front(), error);
  if (error || !fs::is_directory(folder))
    return invalid_argument(
        str("'", args.words().front(), "' is not a folder; give one that holds models"));
  uint16_t port = 0;
  if (args.has("--port")) {
    RK_ASSIGN(const std::vector<int64_t> numbers, parse_ints("--port", args.get("--port")));
    if (numbers.size() != 1 || numbers[0] < 0 || numbers[0] > 65535)
      return invalid_argument(str("--port ", args.get("--port"), ": expected 0 to 65535"));
    port = static_cast<uint16_t>(numbers[0]);
  }
  const std::string token = fresh_token();
  Folder shown(args, folder.string(), token);
  return serve_http(
      port,
      [&](uint16_t taken) {
        std::printf("http://127.0.0.1:%u/%s/\n", taken, token.c_str());
        std::puts("Open this address in a browser of this machine; Ctrl-C ends.");
        std::fflush(stdout);
      },
      [&](const std::string& path, const std::string& query) { return shown.answer(path, query); });
}

}  // namespace rk::tools
