#include "host/value.h"

#include <algorithm>
#include <iterator>

#include "host/frame.h"

namespace passnet {

using Kind = HostValue::Kind;

HostItems::~HostItems() {
  std::vector<HostValue> left = std::move(values);
  const auto take_one = [&left](const std::shared_ptr<HostValue>& inner) {
    if (inner.use_count() == 1) left.push_back(std::move(*inner));
  };
  const auto take_scope = [&left](const std::shared_ptr<HostScope>& inner) {
    for (const auto* scope = &inner; *scope && scope->use_count() == 1; scope = &(*scope)->parent) {
      for (auto& [name, value] : (*scope)->names()) left.push_back(std::move(value));
      (*scope)->clear();
    }
  };
  const auto take_frame = [&](const std::unique_ptr<HostSource>& of) {
    if (of == nullptr || of->frame.use_count() != 1 || of->frame->has_pending()) return;
    for (HostBlock& block : of->frame->blocks)
      if (block.kept) left.push_back(std::move(block.kept->value));
    of->frame->outside = nullptr;
    take_scope(of->frame->scope);
  };
  const auto take = [&](const std::shared_ptr<HostItems>& inner) {
    if (inner.use_count() != 1) return;
    take_one(inner->factory);
    take_frame(inner->source);
    if (inner->attributes.use_count() == 1)
      left.insert(left.end(), std::make_move_iterator(inner->attributes->values.begin()),
                  std::make_move_iterator(inner->attributes->values.end()));
    inner->attributes = nullptr;
    left.insert(left.end(), std::make_move_iterator(inner->values.begin()),
                std::make_move_iterator(inner->values.end()));
    inner->values.clear();
  };
  take_one(factory);
  take_frame(source);
  if (attributes.use_count() == 1)
    left.insert(left.end(), std::make_move_iterator(attributes->values.begin()),
                std::make_move_iterator(attributes->values.end()));
  while (!left.empty()) {
    const HostValue last = std::move(left.back());
    left.pop_back();
    take(last.items);
    if (last.function.use_count() == 1) {
      take(last.function->defaults);
      take_scope(last.function->closure);
    }
    if (last.launcher.use_count() == 1) {
      take(last.launcher->decorators);
      take_one(last.launcher->grid);
    }
    if (last.klass.use_count() == 1) {
      take(last.klass->attributes.items);
      for (HostClass::Field& field : last.klass->fields) {
        left.push_back(std::move(field.default_value));
        left.push_back(std::move(field.factory));
      }
    }
  }
}

HostSource::~HostSource() {
  if (!frame || frame.use_count() != 1 || !frame->has_pending()) return;
  if (const auto list = abandoned.lock()) list->frames.push_back(std::move(frame));
}

bool HostFrame::has_pending() const {
  return std::any_of(blocks.begin(), blocks.end(), [this](const HostBlock& b) {
    using K = HostBlock::Kind;
    if (b.kind == K::trial || b.kind == K::context) return true;
    return (b.kind == K::handler || b.kind == K::orelse) && !b.statement->final_body.empty();
  });
}

HostLauncher::~HostLauncher() {
  if (grid.use_count() != 1) return;
  HostItems last;
  last.values.push_back(std::move(*grid));
}

HostText::HostText(std::string text)
    : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

const std::string& HostText::get() const {
  static const std::string kNone;
  return text_ ? *text_ : kNone;
}

HostValue HostValue::of(const Integer& v) {
  HostValue out;
  out.kind = Kind::integer;
  out.integer = v;
  return out;
}
HostValue HostValue::of(double v) {
  HostValue out;
  out.kind = Kind::real;
  out.real = v;
  return out;
}
HostValue HostValue::boolean(bool v) {
  HostValue out;
  out.kind = Kind::boolean;
  out.integer = v ? 1 : 0;
  return out;
}
HostValue HostValue::string(std::string v) {
  HostValue out;
  out.kind = Kind::string;
  out.text = std::move(v);
  return out;
}
HostValue HostValue::sequence(Kind kind, std::vector<HostValue> values) {
  HostValue out;
  out.kind = kind;
  out.items = std::make_shared<HostItems>(std::move(values), false);
  return out;
}
HostValue HostValue::path(std::string v) {
  HostValue out;
  out.kind = Kind::path;
  out.text = std::move(v);
  return out;
}
HostValue HostValue::tensor(BufferId id) {
  HostValue out;
  out.kind = Kind::tensor;
  out.buffer = id;
  return out;
}
HostValue HostValue::of_dtype(Dtype d) {
  HostValue out;
  out.kind = Kind::dtype;
  out.dtype = d;
  return out;
}

const HostClass::Method* HostClass::method(std::string_view wanted) const {
  for (const Method& m : methods)
    if (m.name == wanted) return &m;
  return nullptr;
}

HostScope::~HostScope() {
  HostItems last;
  for (auto& [name, value] : names_)
    if (value.function && value.function.use_count() == 1 && value.function->closure)
      last.values.push_back(std::move(value));
}

std::size_t HostScope::place_of(std::string_view name) const {
  if (places_) {
    const auto found = places_->find(name);
    return found == places_->end() ? kNoName : found->second;
  }
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i].first == name) return i;
  return kNoName;
}

HostValue* HostScope::find(std::string_view name) {
  const std::size_t at = place_of(name);
  return at == kNoName ? nullptr : &names_[at].second;
}

void HostScope::set(std::string_view name, HostValue value) {
  constexpr std::size_t kFew = 16;
  if (HostValue* found = find(name)) {
    *found = std::move(value);
    return;
  }
  if (places_) places_->emplace(name, names_.size());
  names_.emplace_back(name, std::move(value));
  if (places_ || names_.size() <= kFew) return;
  places_ = std::make_unique<std::unordered_map<std::string_view, std::size_t>>();
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (!names_[i].first.empty()) places_->emplace(names_[i].first, i);
}

void HostScope::erase(std::string_view name) {
  const std::size_t at = place_of(name);
  if (at == kNoName) return;
  names_[at] = {};
  if (places_) places_->erase(name);
  if (++erased_ * 2 > names_.size()) names();
}

void HostScope::clear() {
  names_.clear();
  places_ = nullptr;
  erased_ = 0;
}

std::vector<HostScope::Name>& HostScope::names() {
  if (erased_ == 0) return names_;
  std::erase_if(names_, [](const Name& n) { return n.first.empty(); });
  erased_ = 0;
  if (places_)
    for (std::size_t i = 0; i < names_.size(); ++i) (*places_)[names_[i].first] = i;
  return names_;
}

std::string_view host_type_name(const HostValue& v) {
  if (is_container_object(v)) return v.klass->name;
  return v.items && !v.items->type.empty() ? v.items->type : kind_name(v);
}

std::string_view kind_name(const HostValue& v) {
  switch (v.kind) {
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return "str";
    case Kind::tuple: return "tuple";
    case Kind::list: return "list";
    case Kind::dict: return "dict";
    case Kind::set: return "set";
    case Kind::range: return "range";
    case Kind::dict_view: return v.text.get();
    case Kind::iterator: return v.items->source->type;
    case Kind::tensor: return "Tensor";
    case Kind::function: return "function";
    case Kind::kernel: return "kernel";
    case Kind::launcher: return "kernel with a grid";
    case Kind::path: return "module";
    case Kind::method: return "method";
    case Kind::dtype: return "dtype";
    case Kind::device: return "device";
    case Kind::config: return "triton.Config";
    case Kind::module: return "module";
    case Kind::opaque: return "argument";
    case Kind::slice: return "slice";
    case Kind::ellipsis: return "ellipsis";
    case Kind::partial: return "partial function";
    case Kind::klass: return "class";
    case Kind::parent: return "super";
    case Kind::object: return v.klass->name;
  }
  return "";
}

bool is_enum_member(const HostValue& v) {
  return v.klass && !v.is(HostValue::Kind::klass) && v.klass->form == HostClass::Form::enumeration;
}

bool is_container_object(const HostValue& v) { return v.klass && (v.is_sequence() || v.is(Kind::dict)); }

bool is_flag(const HostValue& v) {
  return is_enum_member(v) && v.is_integral() && v.klass->auto_value == HostClass::Auto::bit;
}

bool is_named_tuple(const HostValue& v) {
  return v.is(HostValue::Kind::object) && v.klass->form == HostClass::Form::tuple;
}

HostValue shown_fields(const HostValue& object) {
  HostValue out = HostValue::sequence(HostValue::Kind::object, {});
  out.klass = object.klass;
  const auto& all = object.items->values;
  for (const HostClass::Field& field : object.klass->fields)
    for (std::size_t i = 0; field.shown && i + 1 < all.size(); i += 2)
      if (all[i].text == field.name) out.items->values.insert(out.items->values.end(), {all[i], all[i + 1]});
  return out;
}

HostValue field_values(const HostValue& object) {
  std::vector<HostValue> values;
  for (std::size_t i = 1; i < object.items->values.size(); i += 2) values.push_back(object.items->values[i]);
  return HostValue::sequence(HostValue::Kind::tuple, std::move(values));
}

HostValue plain_tuple(const HostValue& v) { return is_named_tuple(v) ? field_values(v) : v; }

}  // namespace passnet
