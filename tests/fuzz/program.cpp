#include "program.h"
#include <fmt/format.h>
#include <sstream>

namespace tdl::fuzz {
namespace {

std::vector<std::string> split(const std::string &s, char at) {
    std::vector<std::string> parts;
    std::istringstream in(s);
    for (std::string part; std::getline(in, part, at);) parts.push_back(part);
    return parts;
}

} // namespace

std::string Program::str() const {
    std::string r, s;
    for (int n : ranks) r += (r.empty() ? "" : ",") + std::to_string(n);
    for (const Shape &shape : shapes) {
        std::string one;
        for (auto &[name, value] : shape) one += fmt::format("{}{}={}", one.empty() ? "" : ":", name, value);
        s += (s.empty() ? "" : ",") + one;
    }
    return fmt::format("// run: ranks={} shapes={} data={} opt={} threads={} chaos={} chunk={} exact={}\n{}", r, s, data, opt, threads, chaos, chunk, exact ? 1 : 0, text);
}

Program readProgram(const std::string &text) {
    Program p;
    size_t end = text.find('\n');
    if (text.rfind("// run: ", 0) != 0 || end == std::string::npos) return p;
    for (const std::string &word : split(text.substr(8, end - 8), ' ')) {
        size_t eq = word.find('=');
        if (eq == std::string::npos) continue;
        std::string name = word.substr(0, eq), value = word.substr(eq + 1);
        if (name == "ranks") {
            p.ranks.clear();
            for (auto &n : split(value, ',')) p.ranks.push_back(std::stoi(n));
        } else if (name == "shapes") {
            for (auto &one : split(value, ',')) {
                Shape shape;
                for (auto &size : split(one, ':'))
                    if (size_t at = size.find('='); at != std::string::npos) shape[size.substr(0, at)] = std::stoll(size.substr(at + 1));
                p.shapes.push_back(shape);
            }
        } else {
            uint64_t v = std::stoull(value);
            if (name == "data") p.data = v;
            if (name == "opt") p.opt = static_cast<int>(v);
            if (name == "threads") p.threads = static_cast<int>(v);
            if (name == "chaos") p.chaos = v;
            if (name == "chunk") p.chunk = static_cast<int>(v);
            if (name == "exact") p.exact = v != 0;
        }
    }
    if (p.shapes.empty()) p.shapes.emplace_back();
    p.text = text.substr(end + 1);
    return p;
}

} // namespace tdl::fuzz
