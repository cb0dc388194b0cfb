// Which family a model belongs to, by its name: fine-tunes and sizes of one architecture share their graphs.
#pragma once

#include <string>
#include <string_view>

namespace passnet::data {

// "timm/resnet10t.c3_in1k" and "mmpose/deeppose_resnet_101" are resnet; "google/bert_uncased_L-2_H-128_A-2" is bert.
// An unknown architecture is the name's first word without digits. Empty where there is no name.
std::string model_family(std::string_view model);

}  // namespace passnet::data
