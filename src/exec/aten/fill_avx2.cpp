// Built for AVX2: nothing may be included here that other files share.
#include "exec/aten/fill_loops.h"

namespace passnet {

const FillLoops kAvx2Loops = {twist, uniform, normal_avx2, finish, quick};

}  // namespace passnet
