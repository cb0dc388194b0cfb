// What asks which packages are there, and of what version: packaging.version, importlib.metadata, importlib.util. The
// answers are tables; nothing is looked up.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>

#include "base/text.h"
#include "host/machine.h"
#include "host/policy.h"

namespace passnet {

using Kind = HostValue::Kind;

namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
constexpr std::pair<std::string_view, std::string_view> kPackages[] = {{"torch", "2.13.0"}, {"triton", "3.7.1"}};

HostValue whole(std::int64_t n) { return HostValue::of(n); }
HostValue tuple(std::vector<HostValue> items) { return HostValue::sequence(Kind::tuple, std::move(items)); }
// A digit string of any length that fits.
std::optional<std::int64_t> number(const std::string& digits) {
  if (digits.size() > 18) return std::nullopt;
  return digits.empty() ? 0 : std::stoll(digits);
}

// A version as PEP 440 writes it, in the parts that order it.
struct Parts {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> release;
  std::string pre;  // "a", "b", "rc", or empty
  std::int64_t pre_number = 0;
  std::optional<std::int64_t> post, dev;
  std::string local;
};

std::optional<Parts> parse(const std::string& given) {
  static const std::regex kForm(
      R"(\s*v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]*))?)"
      R"((?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]*))?(?:[-_.]?(dev)[-_.]?([0-9]*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*)");
  if (given.size() > 200) return std::nullopt;
  const std::string text = text_lower(given);
  std::smatch m;
  if (!std::regex_match(text, m, kForm)) return std::nullopt;
  Parts out;
  bool fits = true;
  const auto part = [&](std::size_t i) {
    const auto n = number(m[i].str());
    fits = fits && n;
    return n.value_or(0);
  };
  out.epoch = part(1);
  const std::string release = m[2].str();
  for (const std::string_view piece : text_split(release, '.')) {
    const auto n = number(std::string(piece));
    fits = fits && n;
    out.release.push_back(n.value_or(0));
  }
  if (m[3].matched) {
    const std::string word = m[3].str();
    out.pre = word[0] == 'a' || word[0] == 'b' ? word.substr(0, 1) : "rc";
    out.pre_number = part(4);
  }
  if (m[5].matched) out.post = part(5);
  if (m[6].matched) out.post = part(7);
  if (m[8].matched) out.dev = part(9);
  out.local = m[10].str();
  std::replace_if(
      out.local.begin(), out.local.end(), [](char c) { return c == '-' || c == '_'; }, '.');
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

// What versions are compared by. A development release lies before its pre-releases, these before the release itself,
// and zeros at the end say nothing.
HostValue key_of(const Parts& v) {
  std::vector<HostValue> release, local;
  for (const std::int64_t n : v.release) release.push_back(whole(n));
  while (release.size() > 1 && release.back().integer == 0) release.pop_back();
  const bool first = v.pre.empty() && !v.post && v.dev;
  const std::int64_t stage = first ? -1 : v.pre.empty() ? 3 : v.pre == "a" ? 0 : v.pre == "b" ? 1 : 2;
  if (!v.local.empty())
    for (const std::string_view piece : text_split(v.local, '.')) {  // numbers lie behind words
      const std::string part(piece);
      const bool digits = std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
      local.push_back(digits ? tuple({whole(1), whole(number(part).value_or(kLast)), HostValue::string("")})
                             : tuple({whole(0), whole(0), HostValue::string(part)}));
    }
  return tuple({whole(v.epoch), tuple(std::move(release)), whole(stage), whole(v.pre_number),
                whole(v.post ? *v.post : -1), whole(v.dev ? *v.dev : kLast), tuple(std::move(local))});
}

HostValue version_of(const Parts& v) {
  static const std::shared_ptr<HostClass> kClass = [] {
    auto made = std::make_shared<HostClass>();
    made->name = "Version";
    made->form = HostClass::Form::version;
    return made;
  }();
  const auto maybe = [](const std::optional<std::int64_t>& n) { return n ? whole(*n) : HostValue{}; };
  const auto at = [&](std::size_t i) { return whole(i < v.release.size() ? v.release[i] : 0); };
  std::string base = v.epoch != 0 ? fmt::format("{}!", v.epoch) : "";
  base += fmt::format("{}", fmt::join(v.release, "."));
  std::string shown = base;
  if (!v.pre.empty()) shown += fmt::format("{}{}", v.pre, v.pre_number);
  if (v.post) shown += fmt::format(".post{}", *v.post);
  if (v.dev) shown += fmt::format(".dev{}", *v.dev);
  std::vector<HostValue> release;
  for (const std::int64_t n : v.release) release.push_back(whole(n));

  HostValue out = empty_object(kClass);
  add_attribute(out, "_key", key_of(v));
  add_attribute(out, "_text", HostValue::string(shown + (v.local.empty() ? "" : "+" + v.local)));
  add_attribute(out, "epoch", whole(v.epoch));
  add_attribute(out, "release", tuple(std::move(release)));
  add_attribute(out, "major", at(0));
  add_attribute(out, "minor", at(1));
  add_attribute(out, "micro", at(2));
  add_attribute(out, "pre", v.pre.empty() ? HostValue{} : tuple({HostValue::string(v.pre), whole(v.pre_number)}));
  add_attribute(out, "post", maybe(v.post));
  add_attribute(out, "dev", maybe(v.dev));
  add_attribute(out, "local", v.local.empty() ? HostValue{} : HostValue::string(v.local));
  add_attribute(out, "public", HostValue::string(shown));
  add_attribute(out, "base_version", HostValue::string(base));
  add_attribute(out, "is_prerelease", HostValue::boolean(!v.pre.empty() || v.dev));
  add_attribute(out, "is_postrelease", HostValue::boolean(v.post.has_value()));
  add_attribute(out, "is_devrelease", HostValue::boolean(v.dev.has_value()));
  return out;
}

}  // namespace

std::optional<HostValue> HostMachine::call_versions(std::string_view path, const HostArgs& args, py::Place place) {
  const bool version = path == "packaging.version.parse" || path == "packaging.version.Version";
  if (!version && !is_package_query(path)) return std::nullopt;
  if (args.size() != 1) raise("TypeError", fmt::format("{}() takes a string", path), place);
  const std::string given = string_of(args[0], place);
  if (version) {
    const auto parts = parse(given);
    if (!parts) raise("InvalidVersion", fmt::format("Invalid version: {}", text(args[0], true, place)), place);
    return version_of(*parts);
  }
  if (path == "importlib.util.find_spec")
    return is_installed(given) ? make_object("ModuleSpec", {{"name", args[0]}}) : HostValue{};
  for (const auto& [name, is] : kPackages)
    if (given == name) return HostValue::string(std::string(is));
  raise("PackageNotFoundError", fmt::format("No package metadata was found for {}", given), place);
}

}  // namespace passnet
