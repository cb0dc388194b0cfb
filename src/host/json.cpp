// json.dumps and json.loads, of what has an answer there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "host/machine.h"

namespace passnet {

using Kind = HostValue::Kind;

struct HostMachine::JsonText {
  struct Style {
    std::string between, colon, indent;
    bool indented = false, sorted = false, ascii = true;
    const HostValue* otherwise = nullptr;
  };

  static std::string key_of(HostMachine& m, const HostValue& key, py::Place place) {
    if (key.is(Kind::string)) return key.text;
    if (!key.is_number() && !key.is(Kind::none))
      m.raise("TypeError", fmt::format("keys must be str, int, float, bool or None, not {}", host_type_name(key)),
              place);
    return text_of(m, key, {}, place, 0);
  }

  static std::string text_of(HostMachine& m, const HostValue& v, const Style& style, py::Place place, int depth) {
    m.step(place);
    m.check_depth(depth, place);
    const auto list = [&](std::string_view brackets, const std::vector<HostValue>& items, const HostValue* dict) {
      std::string out(1, brackets[0]);
      const auto line = [&](int times) {
        out += '\n';
        for (int i = 0; i < times; ++i) out += style.indent;
      };
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += style.between;
        if (style.indented) line(depth + 1);
        if (dict != nullptr) out += quoted(key_of(m, items[i], place), style.ascii) + style.colon;
        out += text_of(m, dict == nullptr ? items[i] : m.get_item(*dict, items[i], place), style, place, depth + 1);
        m.check_length(out, place);
      }
      if (style.indented && !items.empty()) line(depth);
      return out + brackets[1];
    };
    switch (v.kind) {
      case Kind::none: return "null";
      case Kind::boolean: return v.integer != 0 ? "true" : "false";
      case Kind::integer: return v.integer.text();
      case Kind::real:
        return std::isnan(v.real)   ? "NaN"
               : std::isinf(v.real) ? (v.real < 0 ? "-Infinity" : "Infinity")
                                    : python_float(v.real);
      case Kind::string: return quoted(v.text, style.ascii);
      case Kind::tuple:
      case Kind::list: return list("[]", m.iterate(v, place), nullptr);
      case Kind::dict: {
        std::vector<HostValue> keys = m.iterate(v, place);
        if (style.sorted) m.sort(keys, {}, place);
        return list("{}", keys, &v);
      }
      default: break;
    }
    if (style.otherwise != nullptr)
      return text_of(m, m.call(*style.otherwise, {v}, {}, place), style, place, depth + 1);
    m.raise("TypeError", fmt::format("Object of type {} is not JSON serializable", host_type_name(v)), place);
  }
  static std::string quoted(const std::string& text, bool ascii) {
    return Json(text).dump(-1, ' ', ascii, Json::error_handler_t::replace);
  }

  static HostValue dumps(HostMachine& m, const HostCall& c) {
    Style style{", ", ": ", {}};
    const auto given = [&](std::string_view name) {
      const HostValue* v = keyword(c.kwargs, name);
      return v == nullptr || v->is(Kind::none) ? nullptr : v;
    };
    if (const HostValue* v = given("indent")) {
      style.indented = true;
      style.between = ",";
      const std::int64_t most = 100;
      style.indent =
          v->is(Kind::string)
              ? v->text.get()
              : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(m.integer(*v, c.place), 0, most)), ' ');
    }
    if (const HostValue* v = given("separators")) {
      const std::vector<HostValue> two = m.iterate(*v, c.place);
      if (two.size() != 2) m.raise("ValueError", "separators are two strings", c.place);
      style.between = m.string_of(two[0], c.place);
      style.colon = m.string_of(two[1], c.place);
    }
    if (const HostValue* v = given("sort_keys")) style.sorted = m.truth(*v, c.place);
    if (const HostValue* v = keyword(c.kwargs, "ensure_ascii")) style.ascii = m.truth(*v, c.place);
    style.otherwise = given("default");
    return HostValue::string(text_of(m, c.args[0], style, c.place, 0));
  }

  static HostValue value_of(HostMachine& m, const Json& json, py::Place place) {
    m.step(place);
    if (json.is_boolean()) return HostValue::boolean(json.get<bool>());
    if (json.is_number_unsigned()) return HostValue::of(Integer(json.get<std::uint64_t>()));
    if (json.is_number_integer()) return HostValue::of(json.get<std::int64_t>());
    if (json.is_number()) return HostValue::of(json.get<double>());
    if (json.is_string()) return HostValue::string(json.get<std::string>());
    HostValue out = json.is_array() ? HostValue::sequence(Kind::list, {}) : HostValue{};
    if (json.is_array())
      for (const Json& item : json) out.items->values.push_back(value_of(m, item, place));
    if (json.is_object()) out = HostValue::sequence(Kind::dict, {});
    for (const auto& [key, value] : json.items())
      if (json.is_object()) m.set_item(out, HostValue::string(key), value_of(m, value, place), place);
    return out;
  }

  static HostValue loads(HostMachine& m, const HostCall& c) {
    const Json json = json_read(m.string_of(c.args[0], c.place));
    if (json.is_discarded()) m.raise("ValueError", "this is no JSON", c.place);
    return value_of(m, json, c.place);
  }
};

std::optional<HostValue> HostMachine::call_json(std::string_view path, HostArgs& args, HostKwargs& kwargs,
                                                py::Place place) {
  if (path != "json.dumps" && path != "json.loads") return std::nullopt;
  if (args.empty()) raise("TypeError", fmt::format("{}() needs an argument", path), place);
  const HostCall call{path, args, kwargs, place};
  return path == "json.dumps" ? JsonText::dumps(*this, call) : JsonText::loads(*this, call);
}

}  // namespace passnet
