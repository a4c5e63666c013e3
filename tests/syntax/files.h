// The text files beside the tests.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tdl::test {

inline std::string readFile(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// The .tdl files of a folder of this test, by name.
inline std::vector<std::filesystem::path> programs(const char *folder) {
    std::vector<std::filesystem::path> out;
    for (const auto &entry :
         std::filesystem::directory_iterator(std::filesystem::path(TDL_TESTS_DIR) / folder))
        if (entry.path().extension() == ".tdl") out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace tdl::test
