#include "bench/run_index.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.h"
#include "base/hash.h"
#include "bench/journal.h"

namespace passnet {

namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 3;  // of the tables; another one means: make them again
constexpr int kBusyMilliseconds = 30'000;
constexpr std::size_t kPrintBytes = 4096;

constexpr const char* kTables = R"(
DROP TABLE IF EXISTS state;
DROP TABLE IF EXISTS records;
CREATE TABLE state(indexed INTEGER NOT NULL, print TEXT NOT NULL, bad_lines INTEGER NOT NULL);
INSERT INTO state VALUES(0, '', 0);
CREATE TABLE records(
  offset INTEGER PRIMARY KEY, size INTEGER NOT NULL,
  task TEXT NOT NULL, graph TEXT NOT NULL, candidate TEXT NOT NULL, attempt INTEGER NOT NULL,
  status TEXT NOT NULL, class TEXT NOT NULL, right INTEGER NOT NULL, speedup REAL, finished INTEGER NOT NULL);
CREATE INDEX who ON records(task, graph, candidate, attempt, offset);
)";

// What SQLite answered, thrown inside this file.
struct Trouble {
  int code;
  std::string message;
  bool damaged() const { return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR; }
};

[[noreturn]] void trouble(sqlite3* database) { throw Trouble{sqlite3_errcode(database), sqlite3_errmsg(database)}; }

void execute(sqlite3* database, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) trouble(database);
}

class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql) : database_(database) {
    if (sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &handle_, nullptr) != SQLITE_OK)
      trouble(database);
  }
  ~Statement() { sqlite3_finalize(handle_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int i, std::string_view text) {
    if (sqlite3_bind_text64(handle_, i, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK)
      trouble(database_);
  }
  void bind(int i, std::int64_t value) {
    if (sqlite3_bind_int64(handle_, i, value) != SQLITE_OK) trouble(database_);
  }
  void bind(int i, std::optional<double> value) {
    if ((value ? sqlite3_bind_double(handle_, i, *value) : sqlite3_bind_null(handle_, i)) != SQLITE_OK)
      trouble(database_);
  }
  bool step() {
    const int code = sqlite3_step(handle_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) trouble(database_);
    return code == SQLITE_ROW;
  }
  void reset() { sqlite3_reset(handle_); }
  std::int64_t integer(int column) { return sqlite3_column_int64(handle_, column); }
  std::string text(int column) {
    const unsigned char* bytes = sqlite3_column_text(handle_, column);
    if (bytes == nullptr) return "";
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
  }
  std::optional<double> real(int column) {
    if (sqlite3_column_type(handle_, column) == SQLITE_NULL) return std::nullopt;
    return sqlite3_column_double(handle_, column);
  }

 private:
  sqlite3* database_;
  sqlite3_stmt* handle_ = nullptr;
};

// A transaction that writes; undone unless kept.
class Change {
 public:
  explicit Change(sqlite3* database) : database_(database) { execute(database, "BEGIN IMMEDIATE"); }
  ~Change() {
    if (database_ != nullptr) sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  void keep() {
    execute(database_, "COMMIT");
    database_ = nullptr;
  }

 private:
  sqlite3* database_;
};

// What tells another file, or one that was rewritten, from ours: its beginning and what stands before `end`.
std::string print_of(const std::string& path, std::uint64_t end) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::min<std::uint64_t>(kPrintBytes, end), '\0');
  std::string out;
  for (const std::uint64_t at : {std::uint64_t{0}, end - text.size()}) {
    in.seekg(static_cast<std::streamoff>(at));
    if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) return "unreadable";
    out += fmt::format("{:016x}", hash64(text));
  }
  return out;
}

template <class F>
auto doors(F&& body) -> Result<std::invoke_result_t<F>> {
  try {
    return body();
  } catch (const Trouble& t) {
    return Error{Code::environment, {}, "the run's index: " + t.message, {}};
  } catch (Failure& failure) {
    return std::move(failure.error);
  }
}

}  // namespace

RunIndex::~RunIndex() { close(); }

void RunIndex::close() {
  sqlite3_close(database_);
  database_ = nullptr;
}

void RunIndex::open_database(const std::string& path) {
  const int code = sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  if (code != SQLITE_OK) {
    const Trouble what{code, database_ == nullptr ? "no memory" : sqlite3_errmsg(database_)};
    close();
    throw what;
  }
  sqlite3_busy_timeout(database_, kBusyMilliseconds);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);  // the file may come from elsewhere
  // Losing power may damage the file; then it is made again.
  execute(database_, "PRAGMA trusted_schema = OFF; PRAGMA synchronous = OFF");
  make_tables();
  take_in();
}

void RunIndex::make_tables() {
  Change change(database_);
  {
    Statement version(database_, "PRAGMA user_version");
    if (version.step() && version.integer(0) == kVersion) return;
  }
  execute(database_, kTables);
  execute(database_, fmt::format("PRAGMA user_version = {}", kVersion).c_str());
  change.keep();
}

void RunIndex::take_in() {
  Change change(database_);
  std::uint64_t indexed = 0;
  std::int64_t bad_lines = 0;
  {
    Statement state(database_, "SELECT indexed, print, bad_lines FROM state");
    if (!state.step()) throw Trouble{SQLITE_CORRUPT, "no state"};
    indexed = static_cast<std::uint64_t>(state.integer(0));
    std::error_code error;
    const std::uintmax_t size = fs::file_size(records_, error);
    if (indexed > 0 && (error || indexed > size || state.text(1) != print_of(records_, indexed))) indexed = 0;
    if (!error && indexed > 0 && indexed == size) return;
    if (indexed > 0) bad_lines = state.integer(2);
  }
  if (indexed == 0) execute(database_, "DELETE FROM records");
  Statement insert(database_, "INSERT INTO records VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const auto end = journal_scan(records_, indexed, [&](JournalLine&& line) {
    ++lines_;
    if (!line.record) {
      ++bad_lines;
      return;
    }
    const Record& r = *line.record;
    const ScoreRow row = score_row(r);
    insert.reset();
    insert.bind(1, static_cast<std::int64_t>(line.offset));
    insert.bind(2, static_cast<std::int64_t>(line.size));
    insert.bind(3, r.task);
    insert.bind(4, r.graph);
    insert.bind(5, r.candidate);
    insert.bind(6, std::int64_t{r.attempt});
    insert.bind(7, status_name(r.status));
    insert.bind(8, status_name(row.status));
    insert.bind(9, static_cast<std::int64_t>(row.right.to_ullong()));
    insert.bind(10, row.speedup);
    insert.bind(11, r.finished);
    insert.step();
  });
  if (!end) fail(end.error());
  Statement state(database_, "UPDATE state SET indexed = ?, print = ?, bad_lines = ?");
  state.bind(1, static_cast<std::int64_t>(*end));
  state.bind(2, *end == 0 ? std::string() : print_of(records_, *end));
  state.bind(3, bad_lines);
  state.step();
  change.keep();
}

std::vector<IndexRow> RunIndex::select(std::string_view where, const std::vector<std::string>& values) {
  Statement rows(database_, fmt::format("SELECT offset, size, task, graph, candidate, attempt, status, class, right, "
                                        "speedup, finished FROM records {} "
                                        "ORDER BY task, graph, candidate, attempt, offset",
                                        where));
  for (std::size_t i = 0; i < values.size(); ++i) rows.bind(static_cast<int>(i) + 1, values[i]);
  std::vector<IndexRow> out;
  std::map<RecordKey, std::size_t> at;
  while (rows.step()) {
    IndexRow row;
    row.offset = static_cast<std::uint64_t>(rows.integer(0));
    row.size = static_cast<std::uint64_t>(rows.integer(1));
    row.task = rows.text(2);
    row.graph = rows.text(3);
    row.candidate = rows.text(4);
    row.attempt = static_cast<int>(rows.integer(5));
    row.status = status_from_name(rows.text(6)).value_or(Status::runtime_fail);
    row.score.status = status_from_name(rows.text(7)).value_or(Status::runtime_fail);
    row.score.right = RightAt(static_cast<std::uint64_t>(rows.integer(8)));
    row.score.speedup = rows.real(9);
    row.finished = rows.integer(10);
    const auto [place, fresh] = at.try_emplace(record_key(row.task, row.graph, row.candidate), out.size());
    if (fresh)
      out.push_back(std::move(row));
    else if (IndexRow& known = out[place->second];  // of another attempt
             std::tie(row.attempt, row.offset) > std::tie(known.attempt, known.offset))
      known = std::move(row);
  }
  return out;
}

Result<std::unique_ptr<RunIndex>> RunIndex::open(const std::string& folder) {
  std::unique_ptr<RunIndex> out(new RunIndex);
  out->records_ = (fs::path(folder) / kRecordsFile).string();
  const std::string path = (fs::path(folder) / kIndexFile).string();
  // As it is; else made again; else in memory. Behind a link it would be another's.
  for (const bool again : {false, true}) {
    if (file_is_link(path)) break;
    if (again) {
      std::error_code ignored;
      fs::remove(path, ignored);
      fs::remove(path + "-journal", ignored);
    }
    try {
      out->open_database(path);
      return out;
    } catch (const Trouble& t) {
      out->close();
      if (!t.damaged()) break;
    } catch (const Failure& failure) {  // the records cannot be read
      return failure.error;
    }
  }
  out->in_memory_ = true;
  return doors([&] {
    out->open_database(":memory:");
    return std::move(out);
  });
}

Result<std::monostate> RunIndex::update() {
  return doors([&] {
    take_in();
    return std::monostate{};
  });
}

Result<std::vector<IndexRow>> RunIndex::latest() {
  return doors([&] { return select("", {}); });
}

Result<std::vector<std::string>> RunIndex::problems() {
  return doors([&] {
    Statement state(database_, "SELECT indexed, bad_lines FROM state");
    if (!state.step()) throw Trouble{SQLITE_CORRUPT, "no state"};
    std::vector<std::string> out;
    if (const std::int64_t bad = state.integer(1); bad > 0)
      out.push_back(fmt::format("{}: {} no records, left out", records_,
                                bad == 1 ? "a line is" : fmt::format("{} lines are", bad)));
    std::error_code error;
    const std::uintmax_t size = fs::file_size(records_, error), indexed = static_cast<std::uint64_t>(state.integer(0));
    if (!error && size > indexed) out.push_back(torn_text(records_, size - indexed));
    return out;
  });
}

Result<std::optional<IndexRow>> RunIndex::find(const std::string& task, const std::string& graph,
                                               const std::string& candidate) {
  return doors([&]() -> std::optional<IndexRow> {
    auto rows = select("WHERE task = ? AND graph = ? AND candidate = ?", {task, graph, candidate});
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
  });
}

}  // namespace passnet
