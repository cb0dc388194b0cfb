#include "base/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace passnet {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kDefaultMegabytes = 1024;
constexpr std::int64_t kEvictEvery = 60;       // seconds
constexpr std::int64_t kWorkplaceLife = 3600;  // seconds after which a workplace was left by a killed process
constexpr char kSealMark[8] = {'P', 'A', 'S', 'S', 'N', 'E', 'T', '1'};

// Behind the last byte of every entry. A cut or changed shared object must not reach dlopen, which may crash on it.
struct Seal {
  char mark[8];
  std::uint64_t size;
  std::uint64_t hash;
};

Error environment(std::string message, std::string note) {
  return {Code::environment, {}, std::move(message), {std::move(note)}};
}

std::string homeless_folder() { return fmt::format("/tmp/passnet-kernels-{}", ::getuid()); }

std::string wanted_folder() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string own = set("PASSNET_CACHE"); !own.empty()) return fs::absolute(own).lexically_normal();
  if (std::string xdg = set("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/passnet/kernels";
  if (std::string home = set("HOME"); home.starts_with('/')) return home + "/.cache/passnet/kernels";
  if (const passwd* entry = ::getpwuid(::getuid()); entry != nullptr && entry->pw_dir[0] == '/')
    return std::string(entry->pw_dir) + "/.cache/passnet/kernels";
  return homeless_folder();
}

constexpr const char* kNote = "set PASSNET_CACHE to a folder of your own";

// Whoever was first in /tmp may have made it for us.
Result<std::string> checked_private(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return environment(fmt::format("the kernel cache {} is no folder", path), kNote);
  if (info.st_uid != ::getuid() || (info.st_mode & 07777) != 0700)
    return environment(fmt::format("the kernel cache {} is not ours alone, and its files are executed", path), kNote);
  return path;
}

Result<std::string> checked_folder(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return environment(fmt::format("the kernel cache {} is no folder", path), kNote);
  if ((info.st_uid != ::getuid() && info.st_uid != 0) || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return environment(fmt::format("others may write to the kernel cache {}, and its files are executed", path),
                       fmt::format("take the right away (chmod go-w), or {}", kNote));
  return path;
}

Result<std::string> open_folder() {
  const std::string path = wanted_folder();
  if (path == homeless_folder()) return private_folder(path);
  std::error_code code;
  const bool made = fs::create_directories(path, code);
  if (code) return environment(fmt::format("cannot make the kernel cache {}: {}", path, code.message()), kNote);
  if (made) ::chmod(path.c_str(), 0700);
  return checked_folder(path);
}

std::int64_t size_limit() {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const char* text = std::getenv("PASSNET_CACHE_MB");
  std::int64_t megabytes = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), megabytes).ec != std::errc())
    megabytes = kDefaultMegabytes;
  return std::clamp<std::int64_t>(megabytes, 1, kMost) << 20;
}

std::int64_t age(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::int64_t>(::time(nullptr)) - info.st_mtime : -1;
}

// At most one process a minute, and none that waits for another.
void evict_now_and_then(const std::string& folder) {
  const std::string stamp = folder + "/evicted";
  if (const std::int64_t old = age(stamp); old >= 0 && old < kEvictEvery) return;
  const int fd = ::open(stamp.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
    ::futimens(fd, nullptr);
    cache_evict(size_limit());
  }
  ::close(fd);
}

}  // namespace

Result<std::string> cache_folder() {
  static const Result<std::string> folder = open_folder();
  return folder;
}

Result<std::string> cache_folder_seen() {
  const std::string path = wanted_folder();
  if (!file_exists(path)) return path;
  return path == homeless_folder() ? checked_private(path) : checked_folder(path);
}

Result<std::string> private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return environment(fmt::format("cannot make the kernel cache {}: {}", path, std::strerror(errno)), kNote);
  return checked_private(path);
}

std::optional<std::string> cache_read(const std::string& name) {
  const auto folder = cache_folder();
  if (!folder) return std::nullopt;
  const std::string path = *folder + "/" + name;
  auto bytes = file_read(path);
  Seal seal{};
  if (!bytes || bytes->size() < sizeof seal) return std::nullopt;
  const std::size_t size = bytes->size() - sizeof seal;
  std::memcpy(&seal, bytes->data() + size, sizeof seal);
  bytes->resize(size);
  if (std::memcmp(seal.mark, kSealMark, sizeof kSealMark) != 0 || seal.size != size || seal.hash != hash64(*bytes))
    return std::nullopt;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return std::move(*bytes);
}

Result<std::monostate> cache_add(const std::string& path, const std::string& name) {
  auto folder = cache_folder();
  if (!folder) return std::move(folder.error());
  auto bytes = file_read(path);
  if (!bytes) return std::move(bytes.error());
  Seal seal{{}, bytes->size(), hash64(*bytes)};
  std::memcpy(seal.mark, kSealMark, sizeof kSealMark);
  {
    std::ofstream out(path, std::ios::binary | std::ios::app);
    out.write(reinterpret_cast<const char*>(&seal), sizeof seal);
    out.flush();
    if (!out) return environment(fmt::format("cannot write to the kernel cache {}", *folder), "is the disk full?");
  }
  const std::string entry = *folder + "/" + name;
  std::error_code code;
  fs::rename(path, entry, code);
  if (std::error_code ignored; code && fs::is_directory(entry, ignored)) {  // whoever made one in our folder
    fs::remove_all(entry, code);
    fs::rename(path, entry, code);
  }
  if (code)
    return environment(fmt::format("cannot write to the kernel cache {}: {}", *folder, code.message()),
                       "set PASSNET_CACHE to a folder of your own");
  evict_now_and_then(*folder);
  return std::monostate{};
}

Result<std::monostate> cache_add_text(const std::string& text, const std::string& name) {
  auto place = CacheWorkplace::make();
  if (!place) return std::move(place.error());
  const std::string path = place->path() + "/text";
  if (auto done = file_write(path, text); !done) return std::move(done.error());
  return cache_add(path, name);
}

std::string cache_keep_failed(const std::string& path, const std::string& name) {
  const auto folder = cache_folder();
  if (!folder) return path;
  std::error_code ignored;
  fs::create_directories(*folder + "/failed", ignored);
  std::string kept = *folder + "/failed/" + name;
  fs::copy_file(path, kept, fs::copy_options::overwrite_existing, ignored);
  return kept;
}

Result<CacheWorkplace> CacheWorkplace::make() {
  auto folder = cache_folder();
  if (!folder) return std::move(folder.error());
  std::string path = *folder + "/work";
  std::error_code code;
  fs::create_directories(path, code);
  path += "/XXXXXX";
  if (!code && ::mkdtemp(path.data()) == nullptr) code = {errno, std::generic_category()};
  if (code)
    return environment(fmt::format("cannot write to the kernel cache {}: {}", *folder, code.message()),
                       "set PASSNET_CACHE to a folder of your own, or is the disk full?");
  return CacheWorkplace(std::move(path));
}

CacheWorkplace::~CacheWorkplace() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void cache_evict(std::int64_t limit) {
  const auto folder = cache_folder();
  if (!folder) return;
  struct Entry {
    std::int64_t used, size;
    std::string path;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code code;
  const auto listed = [&](const std::string& place) {  // at once: other processes change the folder meanwhile
    std::vector<fs::path> out;
    for (fs::directory_iterator it(place, code), end; !code && it != end; it.increment(code)) out.push_back(it->path());
    return out;
  };
  for (const std::string& place : std::array{*folder, *folder + "/failed"})
    for (const fs::path& file : listed(place)) {
      struct stat info {};
      if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || file.filename() == "evicted") continue;
      entries.push_back({static_cast<std::int64_t>(info.st_mtime), info.st_blocks * 512, file});
      total += entries.back().size;
    }
  for (const fs::path& left : listed(*folder + "/work"))
    if (age(left) > kWorkplaceLife) fs::remove_all(left, code);
  if (total <= limit) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= limit - limit / 10) break;  // some room, so that the next file does not start this again
    if (::unlink(e.path.c_str()) == 0) total -= e.size;
  }
}

}  // namespace passnet
