// One file that holds many folders of small files: compressed in blocks, indexed, checksummed.
//
// A path that goes through a pack is read like any other: file_read("corpus.pack/a/b/model.py"). Blocks carry their
// own list of folders, so that a pack whose writing was killed is continued from its last whole block.
//
//   header | block ... | index (sorted) | names | footer
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace passnet {

struct PackedFile {
  std::string name;
  std::string bytes;
};
using PackedFolder = std::vector<PackedFile>;

class Pack {
 public:
  virtual ~Pack() = default;
  virtual std::size_t size() const = 0;                        // folders
  virtual std::string_view name(std::size_t index) const = 0;  // sorted
  virtual Result<PackedFolder> read(std::size_t index) = 0;    // from several threads, too
  virtual std::optional<std::size_t> find(std::string_view folder) const = 0;
};
// Checks footer and index; a block's own checksum is checked when it is read.
Result<std::unique_ptr<Pack>> pack_open(const std::string& path);

// Writes `path`.part and moves it into place at the end. Not for two threads at once.
class PackWriter {
 public:
  virtual ~PackWriter() = default;
  virtual bool contains(const std::string& folder) const = 0;
  virtual Result<std::monostate> add(const std::string& folder, const PackedFolder& files) = 0;
  virtual Result<std::monostate> finish() = 0;
};
// Continues where an earlier writer was killed.
Result<std::unique_ptr<PackWriter>> pack_create(const std::string& path);

bool is_pack(const std::string& path);
// For paths that lead through a pack; nothing where no part of the path is one. The pack stays open for the next call.
std::optional<Result<std::string>> pack_read_file(const std::string& path, std::size_t limit);
bool pack_has_file(const std::string& path);
// The folders in a pack, or below a folder of it, as paths; empty where the path leads into no pack.
Result<std::vector<std::string>> pack_folders(const std::string& path);

}  // namespace passnet
