// The on-disk cache: a folder of whole files named by content, shared by many processes at once. A file comes in by
// rename, so a reader sees all of it or nothing; the least recently used go when the folder is over its size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace passnet {

// The folder, made on first use: $PASSNET_CACHE, else passnet/kernels in $XDG_CACHE_HOME or ~/.cache, else, for who has
// no home, /tmp/passnet-kernels-UID. What lies in it is loaded into the process, so it must be ours alone.
Result<std::string> cache_folder();
// The same without making it: for who only wants to know.
Result<std::string> cache_folder_seen();

// A folder in a place where others may write too, made if it is not there: refused unless it is no link, ours and 0700.
Result<std::string> private_folder(const std::string& path);

// Where something built came from.
enum class Origin : std::uint8_t { memory, disk, compiled };

// The bytes of an entry that is there and whole; its time of use becomes now.
std::optional<std::string> cache_read(const std::string& name);
// Seals the file at `path` (inside a CacheWorkplace) with its size and hash, and moves it in under `name`.
Result<std::monostate> cache_add(const std::string& path, const std::string& name);
Result<std::monostate> cache_add_text(const std::string& text, const std::string& name);

// Keeps a file for people to look at: failed/NAME. Gives its path.
std::string cache_keep_failed(const std::string& path, const std::string& name);

// A folder for the files of one compilation, removed with what is left in it.
class CacheWorkplace {
 public:
  static Result<CacheWorkplace> make();
  CacheWorkplace(CacheWorkplace&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  CacheWorkplace& operator=(CacheWorkplace&&) = delete;
  ~CacheWorkplace();
  const std::string& path() const { return path_; }

 private:
  explicit CacheWorkplace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Removes the least recently used entries until the folder is within `limit` bytes, and workplaces that a killed
// process left. `cache_add` calls it once a minute with the limit of the settings ($PASSNET_CACHE_MB, default 1024).
void cache_evict(std::int64_t limit);

}  // namespace passnet
