// Reading and writing whole files, with the limits that untrusted input needs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace passnet {

inline constexpr std::size_t kFileLimit = std::size_t{256} << 20;

bool file_exists(const std::string& path);
bool file_is_link(const std::string& path);
// The bytes of a regular file; a folder, a device or a file over the limit is an error.
Result<std::string> file_read(const std::string& path, std::size_t limit = kFileLimit);
// Writes a temporary sibling and renames it, so that a reader sees the old bytes or the new ones.
Result<std::monostate> file_write(const std::string& path, std::string_view bytes);
// Makes the folder and those above it where they are missing.
Result<std::monostate> folder_make(const std::string& path);
// The entries of a list file: one a line, trimmed; blank lines and `#` comments are skipped.
Result<std::vector<std::string>> file_read_list(const std::string& path);

// A place in a file together with its line's text, where the file can be read: for messages, off the fast path.
Where where_in_file(const std::string& path, std::uint32_t line, std::uint32_t column);

}  // namespace passnet
