#include "agent/workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace passnet::agent {

namespace {

namespace fs = std::filesystem;
constexpr std::size_t kPathLimit = 1024;
constexpr std::size_t kNameLimit = 200;
constexpr std::size_t kReadLimit = std::size_t{16} << 20;
constexpr const char* kGraphFiles[] = {"model.py", "weight_meta.py", "input_meta.py"};

struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Error io_error(const std::string& path, int number) {
  return {Code::io, {}, fmt::format("{}: {}", path, std::strerror(number)), {}};
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> out;
  for (const std::string_view part : text_split(path, '/'))
    if (!part.empty() && part != ".") out.emplace_back(part);
  return out;
}

Error not_writable(const std::string& path) {
  return {
      Code::usage, {}, fmt::format("'{}' is part of the task: only files in {}/ may be changed", path, kPassDir), {}};
}

}  // namespace

bool is_pass_path(std::string_view path) {
  const auto parts = text_split(path, '/');
  return parts.size() > 1 && parts[0] == kPassDir && std::find(parts.begin(), parts.end(), "..") == parts.end();
}

std::vector<std::string> graph_names(const Task& task) {
  std::vector<std::string> out;
  for (const std::string& graph : task.graphs) {
    const std::string name = fs::path(graph).lexically_normal().filename().string();
    std::string unique = name.empty() || name == "." || name == ".." ? "graph" : name;
    for (int i = 2; std::find(out.begin(), out.end(), unique) != out.end(); ++i) unique = fmt::format("{}_{}", name, i);
    out.push_back(std::move(unique));
  }
  return out;
}

Result<std::unique_ptr<Workspace>> Workspace::make(const std::string& folder, const Task& task) {
  std::unique_ptr<Workspace> out(new Workspace);
  std::error_code error;
  fs::create_directories(fs::path(folder) / kPassDir, error);
  const fs::path full = error ? fs::path() : fs::canonical(folder, error);
  if (error) return Error{Code::environment, {}, fmt::format("cannot make '{}': {}", folder, error.message()), {}};
  out->root_ = full.string();
  out->fd_ = ::open(out->root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (out->fd_ < 0) return io_error(folder, errno);
  std::string list;
  const std::vector<std::string> names = graph_names(task);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const fs::path target = full / "graphs" / names[i];
    fs::create_directories(target, error);
    for (const char* file : kGraphFiles)
      if (auto text = file_read(task.graphs[i] + "/" + file, kReadLimit))
        if (auto written = file_write((target / file).string(), *text); !written) return std::move(written.error());
    list += "graphs/" + names[i] + "\n";
  }
  if (auto written = file_write(out->root_ + "/graph_list.txt", list); !written) return std::move(written.error());
  return out;
}

Workspace::~Workspace() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string> Workspace::inside(std::string_view path) const {
  const std::string shown = text_printable(path.substr(0, kNameLimit));
  if (path.size() > kPathLimit || path.find('\0') != std::string_view::npos)
    return Error{Code::usage, {}, fmt::format("'{}' is no path", shown), {}};
  const Error outside = {
      Code::usage,
      {},
      fmt::format("The path {} is outside of the task's folder. Please provide a path inside, such as {}/MyPass.py.",
                  shown, kPassDir),
      {}};
  std::string_view rest = path;
  if (rest.starts_with('/')) {
    const bool ours = rest.starts_with(root_) && (rest.size() == root_.size() || rest[root_.size()] == '/');
    if (!ours) return outside;
    rest.remove_prefix(root_.size());
  }
  std::vector<std::string> kept;
  for (std::string& part : parts_of(rest)) {
    if (part.size() > kNameLimit) return Error{Code::usage, {}, fmt::format("'{}' is no path", shown), {}};
    if (part != "..") {
      kept.push_back(std::move(part));
    } else {
      if (kept.empty()) return outside;
      kept.pop_back();
    }
  }
  return text_join(kept, "/");
}

int Workspace::open_parent(const std::string& path, bool create, std::string& name) const {
  std::vector<std::string> parts = parts_of(path);
  if (parts.empty()) return ::dup(fd_);
  name = parts.back();
  parts.pop_back();
  int at = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  for (const std::string& part : parts) {
    if (create) ::mkdirat(at, part.c_str(), 0755);
    const int next = ::openat(at, part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int number = errno;
    ::close(at);
    if (next < 0) {
      errno = number;
      return -1;
    }
    at = next;
  }
  return at;
}

int Workspace::open_at(const std::string& path, int flags) const {
  std::string name;
  const Descriptor parent(open_parent(path, false, name));
  if (parent.fd < 0) return -1;
  return ::openat(parent.fd, name.empty() ? "." : name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

Workspace::Kind Workspace::kind(const std::string& path) const {
  const Descriptor file(open_at(path, O_PATH));
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return Kind::missing;
  if (S_ISREG(info.st_mode)) return Kind::file;
  return S_ISDIR(info.st_mode) ? Kind::folder : Kind::other;
}

Result<std::string> Workspace::read(const std::string& path) const {
  const Descriptor file(open_at(path, O_RDONLY));
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return io_error(path, errno);
  if (!S_ISREG(info.st_mode)) return Error{Code::io, {}, path + ": not a regular file", {}};
  if (static_cast<std::size_t>(info.st_size) > kReadLimit) return Error{Code::limit, {}, path + ": too large", {}};
  std::string out(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t n = ::pread(file.fd, out.data(), out.size(), 0);
  if (n < 0) return io_error(path, errno);
  out.resize(static_cast<std::size_t>(n));
  return out;
}

Result<std::vector<std::string>> Workspace::list(const std::string& path, int depth) const {
  const int fd = open_at(path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return io_error(path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd), ::closedir);
  std::vector<std::string> names, out;
  while (const dirent* entry = ::readdir(folder.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string full = path.empty() ? name : path + "/" + name;
    const Kind what = kind(full);
    if (what == Kind::file) out.push_back(full);
    if (what != Kind::folder) continue;
    out.push_back(full + "/");
    if (depth <= 1) continue;
    if (auto below = list(full, depth - 1)) out.insert(out.end(), below->begin(), below->end());
  }
  return out;
}

Result<std::monostate> Workspace::write(const std::string& path, std::string_view text) {
  if (!is_pass_path(path)) return not_writable(path);
  if (text.size() > kEditLimit)
    return Error{Code::limit, {}, fmt::format("a file of {} bytes; the limit is {}", text.size(), kEditLimit), {}};
  if (kind(path) == Kind::missing && passes().size() >= kPassFiles)
    return Error{Code::limit, {}, fmt::format("{}/ has {} files already", kPassDir, kPassFiles), {}};
  std::string name;
  const Descriptor parent(open_parent(path, true, name));
  if (parent.fd < 0) return io_error(path, errno);
  // A reader sees the old text or the new one; what stands there, even a link, is replaced and not followed.
  const std::string temporary = ".new";
  const Descriptor file(
      ::openat(parent.fd, temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.fd < 0) return io_error(path, errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file.fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return io_error(path, n == 0 ? ENOSPC : errno);
    done += static_cast<std::size_t>(n);
  }
  if (::renameat(parent.fd, temporary.c_str(), parent.fd, name.c_str()) != 0) return io_error(path, errno);
  return std::monostate{};
}

Result<std::monostate> Workspace::remove(const std::string& path) {
  if (!is_pass_path(path)) return not_writable(path);
  std::string name;
  const Descriptor parent(open_parent(path, false, name));
  if (parent.fd < 0 || ::unlinkat(parent.fd, name.c_str(), 0) != 0) return io_error(path, errno);
  return std::monostate{};
}

Files Workspace::passes() const {
  Files out;
  if (const auto names = list(kPassDir, 8))
    for (const std::string& name : *names)
      if (!name.ends_with('/'))
        if (auto text = read(name)) out[name] = std::move(*text);
  return out;
}

Result<std::monostate> Workspace::set_passes(const Files& files) {
  for (const auto& [path, text] : passes())
    if (!files.contains(path))
      if (auto removed = remove(path); !removed) return removed;
  for (const auto& [path, text] : files)
    if (auto written = write(path, text); !written) return written;
  return std::monostate{};
}

}  // namespace passnet::agent
