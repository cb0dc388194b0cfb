// Lists and dicts of a pattern while it is traced: Python shares them by reference, a graph's Values are plain data.
// A list is the Value of its items whose text is its name here, a dict a constant that is its name.
#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace passnet {

class TracedObjects {
 public:
  using Dict = std::vector<std::pair<Value, Value>>;

  Value make_list(std::vector<Value> items);
  Value make_dict(Dict items);
  // What the value names; null for any other.
  std::vector<Value>* items(const Value& v);
  Dict* dict(const Value& v);
  bool has_dict(const Value& v) const;

  // With the items that its lists have now.
  Value current(Value v) const;
  // And without their names: what a node holds.
  Value plain(Value v) const;

  // An item, or a slice; nothing where that is a node's to say, or there is none.
  std::optional<Value> item(const Value& object, const Value& index) const;
  // False where the object is no list or dict of the pattern's own, has no such item, or is put into itself.
  bool set_item(const Value& object, const Value& index, const Value& v);
  // A method's result; nothing where it is not known, or its arguments do not fit.
  std::optional<Value> method(const Value& object, std::string_view name, const std::vector<Value>& args,
                              const std::vector<Kwarg>& kwargs);

 private:
  std::optional<Value> list_method(std::vector<Value>& items, const Value& list, std::string_view name,
                                   const std::vector<Value>& args);
  std::optional<Value> dict_method(Dict& dict, const Value& object, std::string_view name,
                                   const std::vector<Value>& args, const std::vector<Kwarg>& kwargs);
  bool reaches(const Value& v, const Value& object) const;

  std::deque<std::vector<Value>> lists_;
  std::deque<Dict> dicts_;
};

}  // namespace passnet
