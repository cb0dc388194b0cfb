#include "data/family.h"

#include "base/text.h"

namespace passnet::data {

namespace {

// The longest that a name contains wins; of equal ones the first in the name.
constexpr std::string_view kFamilies[] = {
    "albert",    "apcnet",        "ast",      "bart",      "beit",        "bert",       "bigbird",      "bisenet",
    "bloom",     "botnet",        "ccnet",    "cgnet",     "clip",        "coat",       "coatnet",      "convbert",
    "convit",    "convnext",      "cspnext",  "danet",     "deberta",     "deeplab",    "deit",         "densenet",
    "depthpro",  "distilbert",    "dmnet",    "dnlnet",    "dpn",         "edgenet",    "efficientnet", "electra",
    "encnet",    "erfnet",        "eva02",    "falcon",    "fasternet",   "fastvit",    "gcnet",        "gemma",
    "ghostnet",  "gmlp",          "gpt2",     "gpt_neo",   "hardcorenas", "hgnet",      "hrformer",     "hrnet",
    "hubert",    "inception",     "layoutlm", "linkx",     "llama",       "longformer", "mamba",        "marian",
    "mbart",     "megatron",      "mistral",  "mixnet",    "mobilebert",  "mobilenet",  "mobilevit",    "molformer",
    "mpnet",     "nystromformer", "openelm",  "pegasus",   "phi",         "pidnet",     "pvt",          "qwen",
    "regnet",    "repvit",        "resnest",  "resnet",    "resnext",     "rexnet",     "roberta",      "rtmpose",
    "segformer", "sew",           "siglip",   "skresnet",  "smollm",      "squim",      "starnet",      "swin",
    "t5",        "trocr",         "twins",    "unispeech", "upernet",     "vgg",        "vipnas",       "vit",
    "vivit",     "vovnet",        "wav2vec2", "wavlm",     "whisper",     "xception",   "xglm",         "xlm",
    "xlnet",     "yolo",          "yolos",
};

}  // namespace

std::string model_family(std::string_view model) {
  const std::string name = text_lower(model);
  std::string_view best;
  std::size_t best_at = 0;
  for (const std::string_view family : kFamilies) {
    const std::size_t at = name.rfind(family);
    if (at == std::string::npos) continue;
    if (family.size() > best.size() || (family.size() == best.size() && at < best_at)) best = family, best_at = at;
  }
  if (!best.empty()) return std::string(best);
  const std::size_t slash = name.rfind('/');
  std::string word;
  for (const char c : name.substr(slash == std::string::npos ? 0 : slash + 1)) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (!letter && !word.empty()) break;
    if (letter) word += c;
  }
  return word.empty() ? name : word;
}

}  // namespace passnet::data
