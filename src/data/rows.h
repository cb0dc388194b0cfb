// Graphs as rows of strings: JSON lines, and through the Python helper Parquet, as data sets are shared.
//
// The columns: uid, name, then a file of the graph folder each (model.py is column model_py).
#pragma once

#include <functional>

#include "data/graph_files.h"

namespace passnet::data {

struct GraphRow {
  std::string name;  // a relative path without `..`
  GraphFiles files;
};

std::string print_row(const GraphRow& row);
// An error where the line is no object of strings, has no model_py, or a name that leads out of the folder.
Result<GraphRow> parse_row(std::string_view line);

// Calls `row` for every line of a file of any size; a bad line is an error of its own.
Result<std::monostate> read_rows(const std::string& path,
                                 const std::function<void(std::size_t line, Result<GraphRow>)>& row);

// By python/parquet.py. The error says what to install.
Result<std::monostate> rows_to_parquet(const std::string& rows, const std::string& parquet);
Result<std::monostate> parquet_to_rows(const std::string& parquet, const std::string& rows);

}  // namespace passnet::data
