// golden/*.tdl: the tile IR of each is golden/*.tile. With TDL_UPDATE=1 in the environment these are written
// anew.
#include "check_file.h"
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tdl;

TEST_CASE("small kernels become the tile IR beside them") {
    const bool update = std::getenv("TDL_UPDATE") != nullptr;
    for (const auto &file : test::programs("golden")) {
        INFO(file.filename().string());
        test::Checked checked(file.filename().string(), test::readFile(file));
        CHECK(renderText(checked.diags, false) == "");
        REQUIRE(checked.module != nullptr);
        std::string text = ir::print(*checked.module);
        auto golden = file;
        golden.replace_extension(".tile");
        if (update)
            std::ofstream(golden, std::ios::binary) << text;
        else
            CHECK(text == test::readFile(golden));
    }
}
