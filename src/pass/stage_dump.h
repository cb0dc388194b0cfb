// Every stage of a kernel as text in a folder.
#pragma once

#include <string>

#include "tile/pipeline.h"

namespace passnet {

// FOLDER/NAME.STAGE (.tile for tile IR); an empty folder: nowhere.
tile::StageDump dump_into(const std::string& folder, const std::string& name);

}  // namespace passnet
