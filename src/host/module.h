// The Python files of a pass folder: parsed once, their module-level names bound, imports between them resolved.
// Nothing is executed but the conditions of an `if` among them: a name is bound to a function, a kernel, an expression
// to be evaluated, or a path outside.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "py/ast.h"

namespace passnet {

inline constexpr std::size_t kPassFileLimit = std::size_t{4} << 20;  // of one file, in bytes

struct PassModule;

struct Binding {
  enum class Kind : std::uint8_t {
    function,    // def
    kernel,      // def under @triton.jit
    expression,  // NAME = expression, evaluated when first needed
    path,        // something imported: "torch", "triton.language", "math.ceil"
    module,      // a file of the folder
    klass,       // class
  } kind = Kind::path;
  const PassModule* owner = nullptr;  // where it is defined
  std::string_view name;              // its name there
  const py::Stmt* statement = nullptr;
  const py::Expr* value = nullptr;
  std::string path;
  const PassModule* target = nullptr;     // Kind::module
  std::size_t unpack = kWhole;            // which item of `value`, for A, B = ...
  std::shared_ptr<const Binding> before;  // of the same name, until this one: run = torch.fx.wrap(run)
  static constexpr std::size_t kWhole = static_cast<std::size_t>(-1);
};

struct PassModule {
  std::string name;  // the file's stem; in a sub-folder with its packages, "kernels.gelu"; "" is the folder itself
  py::Module syntax;
  std::unordered_map<std::string_view, Binding> names;
  std::vector<std::string> star_imports;   // paths outside the folder
  std::vector<const py::Stmt*> top_level;  // what would run at import: no imports, definitions or __main__ block
  bool top_level_runs = false;             // whether that does more than bind names: loops, items set, methods called
  // Functions that are kernels by a call, kernel = triton.jit(_kernel), and the call that has the options.
  std::unordered_map<const py::Stmt*, const py::Expr*> jitted;
  std::map<std::string, const PassModule*, std::less<>> files;  // of the folder, that functions import
  bool package = false;                                         // a folder of modules: its __init__.py, if it has one
  const Binding* find(std::string_view name) const;
  // The folder's file or package that an import inside a function means; null for anything else.
  const PassModule* find_file(const py::Stmt& import, std::string_view path) const;
};

// Reads files of one folder on demand. Cycles of imports at module level are errors.
class ModuleLoader {
 public:
  explicit ModuleLoader(std::string folder) : folder_(std::move(folder)) {}
  // Files by their stems instead of a folder.
  explicit ModuleLoader(std::map<std::string, std::string> sources) : folder_("memory"), sources_(std::move(sources)) {}
  // Throws Failure.
  const PassModule& load(const std::string& name);
  const std::string& folder() const { return folder_; }
  const std::map<std::string, std::unique_ptr<PassModule>>& modules() const { return modules_; }
  // What a statement needs and is not there: a module, a name that is imported from one, an attribute of one.
  enum class Missing : std::uint8_t { nothing, module, name, attribute };

 private:
  void bind(PassModule& module, const py::Stmt& statement);
  void bind_try(PassModule& module, const py::Stmt& statement);
  bool imports_files(const PassModule& module, const py::Stmt& statement) const;
  Missing missing_in(const PassModule& module, const py::Stmt& statement) const;
  void bind_targets(PassModule& module, const py::Stmt& statement);
  static void bind_name(PassModule& module, std::string_view name, Binding binding);
  PassModule& import(const PassModule& module, py::Place place, const std::string& name);
  PassModule& load_module(const std::string& name);
  PassModule& load_file(const std::string& name);
  const Binding* member(PassModule& module, std::string_view name);
  void require_file(const PassModule& module, py::Place place, const std::string& name) const;
  void load_inner_imports(PassModule& module, std::span<const py::Stmt* const> body);
  void bind_import_from(PassModule& module, const py::Stmt& statement);
  void bind_import(PassModule& module, const py::Stmt& statement);

  bool has_file(const std::string& name) const;
  bool has_package(const std::string& name) const;
  bool has_module(const std::string& name) const { return has_file(name) || has_package(name); }
  std::string file_of(const std::string& name) const;
  void refuse_links(const std::string& name) const;
  bool is_loading(const std::string& name) const;
  // The folder's module that an import means.
  std::optional<std::string> local_module(const PassModule& module, const py::Stmt& statement,
                                          std::string_view path) const;

  std::string folder_;
  std::optional<std::map<std::string, std::string>> sources_;
  std::map<std::string, std::unique_ptr<PassModule>> modules_;
  std::vector<std::string> loading_;
};

// What an expression stands for outside: "torch.relu" for F.relu, R or T.relu, through imports and module-level names;
// "" else.
std::string resolve_path(const PassModule& module, const py::Expr& expr);
// if __name__ == "__main__": never runs here.
bool is_main_block(const py::Stmt& statement);
// Whether a decorator or a call says triton.jit, through whatever alias.
bool is_kernel(const PassModule& module, const py::Stmt& function);
// Whether an option of triton.jit, do_not_specialize=["n", 2], names a kernel's parameter.
bool jit_option_names(const PassModule& module, const py::Stmt& kernel, std::string_view option, std::size_t parameter);

}  // namespace passnet
