// The inputs on which a candidate is checked: as recorded, and drawn again with other seeds, spreads and contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/engine.h"
#include "fx/meta.h"

namespace passnet {

// What nobody who writes passes knows: with it, drawn inputs cannot be computed before a text is handed in, and the
// text changed until they suit it. One for a machine's cache folder, so that a second run gives the same verdicts;
// $PASSNET_DRAW_SECRET sets it.
std::uint64_t draw_secret();

struct Draw {
  std::uint64_t seed;
  double spread = 1;                 // times the recorded standard deviation
  Normals normals = Normals::torch;  // torch: exactly as recorded
  bool varied = false;     // what is the same in every other draw is not: recorded contents, integers of one value
  bool same_sign = false;  // what is recorded as positive or as negative stays so
  bool sparse = false;     // some inputs are one number, but for a few elements
  bool recorded() const { return normals == Normals::torch; }
  bool hard() const { return normals != Normals::torch && normals != Normals::quick; }
};
// The recorded one first. A spread above the recorded one asks for more than the same error on the same numbers; far
// out are clamps and saturation; lone numbers and uneven ones ask for every term of a sum, where the tolerance of
// halves does not. The seeds of the others come from `seed`, the candidate's own text and the secret, so that no
// candidate can hold their answers.
struct DrawsFor {
  bool halves = false;          // the graph gives some
  bool small_integers = false;  // decide its answer, and are few: many draws, since each has few of the rare contents
  bool lone_elements = false;   // of many decide: `any`, `max`; elsewhere some of any part decide alike
};
std::vector<Draw> check_draws(std::uint64_t seed, int extra, DrawsFor graph, std::uint64_t candidate);

// For people: "inputs drawn anew, 4 times as wide, some far out".
std::string draw_text(const Draw& draw);

// What to try where eager fails on a draw or overflows; none where nothing is left.
std::optional<Draw> milder(const Draw& draw);

// The metas that are replayed for a draw on `device`. A constant tensor (std 0) gets a tenth of its value as spread, so
// that an answer that does not depend on it is found out. An index stays one: contents change places, integers of one
// value get smaller ones, and zeros become ones only on a CPU, where eager survives an index that is too large.
// `literals`: integers that the graph compares with or adds; some of them are put among the contents and among what is
// drawn from a range. `fixed`: tensors that are not varied, by index.
std::vector<TensorMeta> drawn_metas(const std::vector<TensorMeta>& metas, const Draw& draw, DeviceType device,
                                    const std::vector<std::int64_t>& literals = {},
                                    const std::vector<bool>& fixed = {});
// Whether a varied draw has other contents of it than any other draw.
bool can_vary(const TensorMeta& meta);

}  // namespace passnet
