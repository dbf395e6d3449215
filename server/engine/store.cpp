// SPDX-License-Identifier: Apache-2.0
#include "server/engine/store.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/log.h"

namespace rk::server {
namespace {

namespace fs = std::filesystem;

Result<std::string> unguessable_name() {
  std::array<uint8_t, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Status(Code::kUnavailable, "the system has no random numbers");
  std::string out;
  for (const uint8_t byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

Status no_model(const std::string& name) {
  return {Code::kInvalidContext, str("there is no model '", name, "'")};
}

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Store::Store(std::shared_ptr<const Library> library, const Limits& limits)
    : library_(std::move(library)),
      limits_(limits),
      contexts_(std::make_shared<Budget>(limits.max_contexts)),
      bytes_(limits.max_bytes_in_flight) {}

uint32_t Store::instances() const {
  return limits_.instances != 0 ? limits_.instances
                                : std::max(1u, std::thread::hardware_concurrency());
}

Status Store::open_folder(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".rknn") continue;
    const std::string name = it->path().stem().string();
    public_[name] = {it->path().string(), nullptr, "unloaded"};
    names.push_back(name);
  }
  if (error) return io_error(str("--models '", folder, "': ", error.message()));
  for (const std::string& name : names) {
    if (const Status status = load_public(name); !status.ok())
      log(LogLevel::kError, str("model '", name, "': ", status.message()));
  }
  return ok_status();
}

Status Store::load_public(const std::string& name) {
  std::string path;
  {
    const std::lock_guard lock(mutex_);
    const auto it = public_.find(name);
    if (it == public_.end()) return no_model(name);
    if (it->second.model != nullptr) return ok_status();
    path = it->second.path;
  }
  const auto loaded = [&]() -> Result<std::shared_ptr<Model>> {
    RK_ASSIGN(const std::vector<uint8_t> file, read_file(path, limits_.max_model_bytes));
    return Model::load(library_, text_of(file), {.instances = instances()}, contexts_);
  }();
  const std::lock_guard lock(mutex_);
  Public& entry = public_[name];
  entry.reason = loaded.status().message();
  if (loaded.ok()) entry.model = *loaded;
  return loaded.status();
}

Status Store::unload_public(const std::string& name) {
  std::shared_ptr<Model> last;  // ends outside the lock
  const std::lock_guard lock(mutex_);
  const auto it = public_.find(name);
  if (it == public_.end()) return no_model(name);
  last = std::move(it->second.model);
  it->second.model = nullptr;
  it->second.reason = "unloaded";
  return ok_status();
}

Result<std::string> Store::open_session(std::function<void()> end) {
  RK_ASSIGN(std::string name, unguessable_name());
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= limits_.max_sessions) {
    return out_of_memory(
        str("all ", limits_.max_sessions,
            " sessions of the server are in use: try again later or raise --max-sessions"));
  }
  Session& session = sessions_[name];
  session.last_call = Clock::now();
  session.end = std::move(end);
  return name;
}

void Store::close_session(const std::string& session) {
  std::map<std::string, std::shared_ptr<Model>> models;  // end outside the lock
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  models = std::move(it->second.models);
  sessions_.erase(it);
}

void Store::end_idle_sessions() {
  if (limits_.idle_s == 0) return;
  const std::lock_guard lock(mutex_);
  const auto oldest = Clock::now() - std::chrono::seconds(limits_.idle_s);
  for (auto& [name, session] : sessions_) {
    if (session.ended || session.last_call > oldest) continue;
    session.ended = true;
    session.end();
  }
}

Result<Store::Session*> Store::find_session(const std::string& session) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) {
    return Status(Code::kInvalidContext,
                  "the session is unknown or has ended: open another one and load the model again");
  }
  it->second.last_call = Clock::now();
  return &it->second;
}

Result<std::shared_ptr<Model>> Store::find(const std::string& session, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!session.empty()) {
    RK_ASSIGN(Session* const own, find_session(session));
    if (const auto it = own->models.find(name); it != own->models.end()) return it->second;
  }
  const auto it = public_.find(name);
  if (it == public_.end() || it->second.model == nullptr) return no_model(name);
  return it->second.model;
}

// With the lock held.
Status Store::may_add(const std::string& session, const std::string& name) {
  RK_ASSIGN(const Session* const own, find_session(session));
  if (own->models.contains(name))
    return invalid_argument(str("the session has a model '", name, "' already: unload it first"));
  if (own->models.size() >= limits_.max_models_per_session) {
    return out_of_memory(
        str("the session has ", own->models.size(), " models, the most that one may: unload some"));
  }
  return ok_status();
}

Result<std::shared_ptr<Model>> Store::load(const std::string& session, const std::string& name,
                                           std::string_view file, const ModelOptions& options) {
  {
    const std::lock_guard lock(mutex_);
    RK_TRY(may_add(session, name));
  }
  ModelOptions with = options;
  with.instances = instances();
  RK_ASSIGN(std::shared_ptr<Model> model, Model::load(library_, file, with, contexts_));
  const std::lock_guard lock(mutex_);
  RK_TRY(may_add(session, name));  // another call of the session may have been faster
  sessions_.at(session).models[name] = model;
  return model;
}

Status Store::unload(const std::string& session, const std::string& name) {
  std::shared_ptr<Model> last;  // ends outside the lock
  const std::lock_guard lock(mutex_);
  RK_ASSIGN(Session* const own, find_session(session));
  const auto it = own->models.find(name);
  if (it == own->models.end()) return no_model(name);
  last = std::move(it->second);
  own->models.erase(it);
  return ok_status();
}

Result<std::vector<Store::Entry>> Store::index(const std::string& session) {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> out;
  if (!session.empty()) {
    RK_ASSIGN(Session* const own, find_session(session));
    for (const auto& [name, model] : own->models) out.push_back({name, ""});
  }
  for (const auto& [name, entry] : public_)
    out.push_back({name, entry.model == nullptr ? entry.reason : ""});
  return out;
}

uint32_t Store::session_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(sessions_.size());
}

uint32_t Store::model_count() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [name, session] : sessions_) count += session.models.size();
  for (const auto& [name, entry] : public_) count += entry.model != nullptr;
  return static_cast<uint32_t>(count);
}

}  // namespace rk::server
