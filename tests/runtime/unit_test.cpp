// Parts that need no ranks: conversions, blocks, regions of memory, texts of statuses.
#include "ranks.h"

extern "C" {
#include "overlap.h"
}

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

TEST_CASE("statuses have names") {
    std::set<std::string> names;
    for (int s = TDL_OK; s <= TDL_INTERNAL_ERROR; s++)
        names.insert(tdl_status_string(static_cast<tdl_status>(s)));
    CHECK(names.size() == TDL_INTERNAL_ERROR + 1);
    CHECK(names.count("unknown status") == 0);
    CHECK(std::string(tdl_status_string(static_cast<tdl_status>(99))) == "unknown status");
    CHECK(std::string(tdl_version()) == "0.1.0");
}

TEST_CASE("f16 and bf16: every value there and back, halfway cases to even") {
    for (uint32_t h = 0; h < 65536; h++) {
        auto bits = static_cast<uint16_t>(h);
        float f = tdl_f16_to_f32(bits), b = tdl_bf16_to_f32(bits);
        if (std::isnan(f))
            CHECK(std::isnan(tdl_f16_to_f32(tdl_f16_from_f32(f))));
        else
            CHECK(tdl_f16_from_f32(f) == bits);
        if (std::isnan(b))
            CHECK(std::isnan(tdl_bf16_to_f32(tdl_bf16_from_f32(b))));
        else
            CHECK(tdl_bf16_from_f32(b) == bits);
        if ((h & 0x7c00) == 0x7c00) continue;
        // Between this value and the next in magnitude: exactly halfway, and a hair to either side.
        float next = (h & 0x7fff) == 0x7bff ? std::copysign(65536.0f, f)
                                            : tdl_f16_to_f32(static_cast<uint16_t>(h + 1));
        float middle = f / 2 + next / 2;
        auto up = static_cast<uint16_t>(h + 1);
        CHECK(tdl_f16_from_f32(middle) == (h & 1 ? up : bits));
        CHECK(tdl_f16_from_f32(std::nextafter(middle, f)) == bits);
        CHECK(tdl_f16_from_f32(std::nextafter(middle, next)) == up);
    }
    CHECK(tdl_bf16_from_f32(1.00390625f) == 0x3f80);
    CHECK(tdl_bf16_from_f32(1.01171875f) == 0x3f82);
    CHECK(tdl_bf16_from_f32(std::numeric_limits<float>::max()) == 0x7f80);
    CHECK(tdl_f16_from_f32(1e30f) == 0x7c00);
    CHECK(tdl_f16_from_f32(-1e-30f) == 0x8000);
}

TEST_CASE("blocks of a distributed extent cover it once") {
    for (int ranks : {1, 2, 3, 5, 8})
        CHECK_RANKS(Mode::threads, ranks, [](Rank &me) -> std::string {
            for (int64_t extent : {int64_t{0}, int64_t{1}, int64_t{4}, int64_t{7}, int64_t{8}, int64_t{9},
                                   int64_t{1000}, INT64_MAX}) {
                int64_t begin, count, capacity;
                EXPECT_OK(me, tdl_shard(me.ctx, extent, &begin, &count, &capacity));
                int64_t block = extent / me.ranks + (extent % me.ranks != 0);
                if (block == 0) block = 1;
                EXPECT(capacity == block);
                EXPECT(begin >= 0);
                EXPECT(count >= 0);
                EXPECT(count <= block);
                EXPECT(begin <= extent);
                if (count) EXPECT(begin == block * me.rank);
                EXPECT((count == block || begin + count == extent));
            }
            int64_t n;
            EXPECT_OK(me, tdl_shard(me.ctx, 5, nullptr, &n, nullptr));
            EXPECT_STATUS(me, tdl_shard(me.ctx, -1, &n, &n, &n), TDL_BAD_ARGUMENT);
            EXPECT_TEXT(tdl_last_error(me.ctx), "the extent is -1");
            EXPECT(tdl_rank(me.ctx) == me.rank);
            EXPECT(tdl_ranks(me.ctx) == me.ranks);
            return "";
        });
}

// Random small tensors against the set of bytes they touch: never a missed overlap; how often an unnecessary
// one.
TEST_CASE("overlap of regions against brute force") {
    std::mt19937 random(7);
    auto pick = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
    auto bytes_of = [](uintptr_t base, const std::vector<tdli_dim> &dims, int64_t elem, bool &self) {
        std::multiset<uintptr_t> at{base};
        for (tdli_dim d : dims) {
            std::multiset<uintptr_t> more;
            for (uintptr_t a : at)
                for (int64_t i = 0; i < d.extent; i++)
                    more.insert(a + static_cast<uintptr_t>(i * d.stride * elem));
            at = more;
        }
        std::set<uintptr_t> bytes;
        for (uintptr_t a : at)
            for (int64_t b = 0; b < elem; b++) bytes.insert(a + static_cast<uintptr_t>(b));
        self = bytes.size() != at.size() * static_cast<size_t>(elem);
        return bytes;
    };
    int cautious = 0, apart = 0;
    for (int n = 0; n < 20000; n++) {
        std::set<uintptr_t> bytes[2];
        tdli_region regions[2];
        for (int k = 0; k < 2; k++) {
            int64_t elem = int64_t{1} << pick(3);
            uintptr_t base = 4096 + static_cast<uintptr_t>(pick(40) * elem);
            std::vector<tdli_dim> dims{{1 + pick(5), 1}};
            for (int64_t d = pick(3); d > 0; d--) dims.push_back({1 + pick(4), 1 + pick(30)});
            bool self;
            bytes[k] = bytes_of(base, dims, elem, self);
            std::vector<tdli_dim> copy = dims;
            CHECK(tdli_region_of(reinterpret_cast<void *>(base), elem, copy.data(),
                                 static_cast<int>(copy.size()), &regions[k]));
            if (self) CHECK(regions[k].self);
            CHECK(base + static_cast<uintptr_t>(regions[k].bytes) == *bytes[k].rbegin() + 1);
        }
        bool shared = false;
        for (uintptr_t b : bytes[0]) shared |= bytes[1].count(b) != 0;
        int said = tdli_regions_overlap(&regions[0], &regions[1]);
        CHECK(said == tdli_regions_overlap(&regions[1], &regions[0]));
        if (shared)
            CHECK(said);
        else
            apart++, cautious += said;
    }
    MESSAGE(cautious << " of " << apart << " disjoint random pairs are taken for overlapping");
}
