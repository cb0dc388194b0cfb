// What is under way in a host program: the frame of a function, and in it the blocks of its statements, each in the one
// before. They are data and no recursion, so that a generator can stop at a yield and go on later.
#pragma once

#include "host/value.h"

namespace passnet {

// A Python exception of the candidate: can be caught by its try.
struct HostRaise {
  std::string type;
  std::string message;
  py::Place place;
  const PassModule* module;
  HostValue value = {};  // the exception, where the candidate made it
};

// How a statement, or a block of them, ends.
enum class HostFlow : std::uint8_t { next, returned, broke, continued, raised, yielded };

// What a block keeps beside its statements.
struct HostKept {
  HostValue value;                 // the iterator of a for, the context of a with, the result that a finally holds back
  HostFlow flow = HostFlow::next;  // how it goes on behind a finally
  std::shared_ptr<const HostRaise> raised;  // with which exception; of an except: the one that it handles
};

struct HostBlock {
  enum class Kind : std::uint8_t {
    plain,     // of a function, an if, a case
    for_,      //
    while_,    //
    trial,     // of a try: what may raise
    handler,   // an except of it
    orelse,    // its else
    finally,   // its finally
    context,   // a with; its statements are a block inside; at: which of its contexts
    delegate,  // yield from; has no statements
    awaits,    // x = yield y, until it goes on; has no statements
  } kind = Kind::plain;
  std::span<const py::Stmt* const> body;
  std::size_t at = 0;                   // the next statement of it
  const py::Stmt* statement = nullptr;  // whose block it is
  std::unique_ptr<HostKept> kept = nullptr;
};

struct HostFrame {
  const PassModule* module = nullptr;
  std::shared_ptr<HostScope> scope;
  std::shared_ptr<HostScope> outside = nullptr;  // of a comprehension: where := binds
  std::vector<HostBlock> blocks;
  HostValue result;                         // what is returned, or yielded
  std::shared_ptr<const HostRaise> raised;  // under way to whoever catches it
  std::vector<std::string_view> globals, nonlocals;
  HostClass* making = nullptr;              // whose body runs
  const py::Stmt* generator = nullptr;      // the def of a generator, whose frame this is,
  const py::Expr* comprehension = nullptr;  // or the generator expression
  HostValue sent;                           // to a generator

  // Whether something has still to run in a generator that nobody asks any more: a finally, the end of a with.
  bool has_pending() const;
};

}  // namespace passnet
