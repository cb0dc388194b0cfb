// Where graphs go: a folder of graph folders, a pack, JSON lines or Parquet, by the name's ending.
#pragma once

#include "data/rows.h"

namespace passnet::data {

class GraphSink {
 public:
  virtual ~GraphSink() = default;
  virtual bool contains(const std::string& name) const = 0;  // from an earlier run that was killed
  virtual Result<std::monostate> add(const GraphRow& row) = 0;
  virtual Result<std::monostate> finish() = 0;
};
// "x.pack", "x.jsonl", "x.parquet", or a folder.
Result<std::unique_ptr<GraphSink>> open_sink(const std::string& path);

}  // namespace passnet::data
