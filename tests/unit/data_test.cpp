// The data set's laws: no leakage between parts, duplicates found whatever the shards, packs that survive a kill.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/pack.h"
#include "data/dedupe.h"
#include "data/family.h"
#include "data/split.h"

namespace passnet::data {
namespace {

#define EXPECT_LAW(...) EXPECT_TRUE(rc::check(__VA_ARGS__))

using Ops = std::vector<std::string>;

Ops random_ops() {
  return *rc::gen::resize(16, rc::gen::container<Ops>(rc::gen::element<std::string>(
                                  "relu", "gelu", "add", "mul", "view", "linear", "softmax", "cat")));
}

// One operator inserted, removed or replaced.
Ops edited(Ops ops) {
  const auto place = *rc::gen::inRange<std::size_t>(0, ops.size() + 1);
  const auto at = ops.begin() + static_cast<std::ptrdiff_t>(place);
  switch (*rc::gen::inRange(0, 3)) {
    case 0: ops.insert(at, "tanh"); break;
    case 1:
      if (at != ops.end()) ops.erase(at);
      break;
    default:
      if (at != ops.end()) *at = "tanh";
  }
  return ops;
}

// A corpus with planted duplicates, near-duplicates and families.
std::vector<Facts> random_corpus() {
  std::vector<Facts> out;
  const auto count = *rc::gen::inRange<std::size_t>(1, 60);
  for (std::size_t i = 0; i < count; ++i) {
    Facts f;
    f.path = std::to_string(i);
    f.family = *rc::gen::element<std::string>("bert", "resnet", "vit", "t5", "swin", "gpt2", "", "dpn", "coat", "opt");
    const int plant = out.empty() ? 0 : *rc::gen::inRange(0, 6);
    const auto other = out.empty() ? 0 : *rc::gen::inRange<std::size_t>(0, out.size());
    const bool own = plant == 0 || plant > 3;
    f.ops = own ? random_ops() : plant == 1 ? edited(out[other].ops) : out[other].ops;
    if (own)  // long ones, so that near-duplicates are not rare
      while (f.ops.size() < 9) f.ops.push_back("relu");
    std::string text;
    for (const std::string& op : f.ops) text += op + ",";
    f.sample = key_of(text);
    f.computation = key_of(text + std::to_string(*rc::gen::inRange(0, 3)));
    if (plant == 4) f.sample = out[other].sample;  // casts make other operators of one task
    if (plant == 5) f.computation = out[other].computation;
    f.graph = plant == 3 ? out[other].graph : key_of(text + std::to_string(i));
    if (*rc::gen::inRange(0, 20) == 0) f.error = "cannot be read";
    out.push_back(std::move(f));
  }
  return out;
}

std::size_t distance(const Ops& a, const Ops& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      diagonal =
          std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)}));
  }
  return row[b.size()];
}

TEST(Split, NearDuplicatesAreOneEditApart) {
  EXPECT_LAW("near_duplicates", [] {
    const Ops a = random_ops();
    const Ops b = *rc::gen::arbitrary<bool>() ? edited(a) : random_ops();
    const std::size_t longer = std::max(a.size(), b.size());
    RC_ASSERT(near_duplicates(a, b) == (a == b || (longer >= kNearOps && distance(a, b) == 1)));
    RC_ASSERT(near_duplicates(a, b) == near_duplicates(b, a));
  });
}

TEST(Split, NothingLeaks) {
  EXPECT_LAW("no pair crosses", [] {
    const std::vector<Facts> corpus = random_corpus();
    SplitOptions options;
    options.conflicts = *rc::gen::element(Conflicts::drop, Conflicts::join);
    options.seed = *rc::gen::arbitrary<std::uint64_t>();
    const Split split = split_graphs(corpus, options);
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      if (!corpus[i].error.empty()) RC_ASSERT(split.part[i] == kLeftOut);
      left_out += corpus[i].error.empty() && split.part[i] == kLeftOut ? 1 : 0;
      for (std::size_t j = 0; j < i; ++j) {
        if (split.part[i] == kLeftOut || split.part[j] == kLeftOut || split.part[i] == split.part[j]) continue;
        RC_ASSERT(!(corpus[i].graph == corpus[j].graph));
        RC_ASSERT(!(corpus[i].computation == corpus[j].computation));
        RC_ASSERT(!(corpus[i].sample == corpus[j].sample));
        RC_ASSERT(corpus[i].family.empty() || corpus[i].family != corpus[j].family);
        RC_ASSERT(!near_duplicates(corpus[i].ops, corpus[j].ops));
      }
    }
    RC_ASSERT(left_out == split.conflicts);
    if (options.conflicts == Conflicts::join) RC_ASSERT(left_out == 0U);
    const Split again = split_graphs(corpus, options);
    RC_ASSERT(again.part == split.part);
  });
}

TEST(Split, SharesAreKeptWhereNothingConnects) {
  std::vector<Facts> corpus(1000);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    corpus[i].family = std::to_string(i);
    corpus[i].ops = {std::to_string(i)};
    corpus[i].graph = corpus[i].computation = corpus[i].sample = key_of(std::to_string(i));
  }
  const Split split = split_graphs(corpus, {});
  std::vector<int> count(3);
  for (const int part : split.part) ++count[static_cast<std::size_t>(part)];
  EXPECT_EQ(count, (std::vector<int>{800, 100, 100}));
}

TEST(Dedupe, TheFirstOfEqualGraphsWhateverTheShards) {
  EXPECT_LAW("find_duplicates", [] {
    const std::vector<Facts> corpus = random_corpus();
    const SameBy by = *rc::gen::element(SameBy::graph, SameBy::computation);
    const auto got = find_duplicates(corpus, by, *rc::gen::inRange<std::size_t>(1, 100));
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      std::size_t first = i;
      for (std::size_t j = i; j-- > 0;)
        if (corpus[i].error.empty() && corpus[j].error.empty() &&
            (by == SameBy::graph ? corpus[i].graph == corpus[j].graph : corpus[i].computation == corpus[j].computation))
          first = j;
      RC_ASSERT(got[i] == first);
    }
  });
}

TEST(Family, ByTheModelsName) {
  const std::pair<const char*, const char*> cases[] = {
      {"timm/resnet10t.c3_in1k", "resnet"},
      {"mmpose/deeppose_resnet_101", "resnet"},
      {"google/bert_uncased_L-2_H-128_A-2", "bert"},
      {"Mahmoud8_bigbird-roberta-base", "bigbird"},
      {"hf-tiny-model-private_tiny-random-BigBirdForSequenceClassification", "bigbird"},
      {"YituTech_conv-bert-base", "bert"},
      {"some-org/zebra9b", "zebra"},
      {"", ""},
  };
  for (const auto& [model, family] : cases) EXPECT_EQ(model_family(model), family) << model;
}

class PackTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/passnet_pack_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/test.pack"; }

  // Folders whose blocks are of every size.
  static std::vector<std::pair<std::string, PackedFolder>> content() {
    std::vector<std::pair<std::string, PackedFolder>> out;
    for (int i = 0; i < 300; ++i)
      out.push_back({"m/" + std::to_string(i * 7919 % 300),
                     {{"model.py", std::string(static_cast<std::size_t>(i * i % 3000), 'x') + std::to_string(i)},
                      {"empty", ""}}});
    return out;
  }
  void write(std::size_t count, bool finish) const {
    const auto writer = pack_create(path()).take();
    const auto all = content();
    for (std::size_t i = 0; i < count; ++i)
      if (!writer->contains(all[i].first)) writer->add(all[i].first, all[i].second).take();
    if (finish) writer->finish().take();
  }
  void expect_whole() const {
    const auto pack = pack_open(path()).take();
    const auto all = content();
    ASSERT_EQ(pack->size(), all.size());
    for (const auto& [name, files] : all) {
      const auto index = pack->find(name);
      ASSERT_TRUE(index) << name;
      const PackedFolder got = pack->read(*index).take();
      ASSERT_EQ(got.size(), files.size());
      for (std::size_t k = 0; k < files.size(); ++k) {
        EXPECT_EQ(got[k].name, files[k].name);
        EXPECT_EQ(got[k].bytes, files[k].bytes);
      }
      EXPECT_EQ(file_read(path() + "/" + name + "/model.py").take(), files[0].bytes);
    }
    EXPECT_FALSE(pack->find("m/none"));
    EXPECT_FALSE(file_exists(path() + "/m/none/model.py"));
    EXPECT_FALSE(file_read(path() + "/m/1/other.py"));
    EXPECT_EQ(pack_folders(path()).take().size(), all.size());
  }
  std::string folder_;
};

TEST_F(PackTest, ReadsBackWhatWasWritten) {
  write(300, true);
  expect_whole();
}

TEST_F(PackTest, IsContinuedFromAnyByte) {
  write(300, false);
  const std::string part = file_read(path() + ".part").take();
  for (std::size_t cut = 0; cut <= part.size(); cut += part.size() / 37 + 1) {
    file_write(path() + ".part", std::string_view(part).substr(0, cut)).take();
    write(300, true);
    expect_whole();
  }
}

TEST_F(PackTest, AChangedByteIsAnErrorOrHarmless) {
  write(300, true);
  const std::string good = file_read(path()).take();
  const auto all = content();
  int found = 0;
  for (std::size_t at = 0; at < good.size(); at += good.size() / 211 + 1) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    file_write(path(), bad).take();
    const auto pack = pack_open(path());
    found += pack ? 0 : 1;
    if (!pack) continue;
    for (const auto& [name, files] : all) {
      const auto index = (*pack)->find(name);
      ASSERT_TRUE(index);
      const auto got = (*pack)->read(*index);
      found += got ? 0 : 1;
      if (got) {
        ASSERT_EQ((*got)[0].bytes, files[0].bytes);
      }
    }
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace passnet::data
