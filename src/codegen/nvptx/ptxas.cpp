#include "codegen/nvptx/ptxas.h"
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tdl::codegen::nvptx {
namespace fs = std::filesystem;

namespace {

bool isProgram(const fs::path &p) {
    std::error_code none;
    return fs::is_regular_file(p, none) && ::access(p.c_str(), X_OK) == 0;
}

/// A folder of our own that goes away with everything in it.
struct Folder {
    std::string path;
    Folder() {
        std::error_code none;
        fs::path base = fs::temp_directory_path(none);
        path = (base.empty() ? fs::path("/tmp") : base) / "tdlc-XXXXXX";
        if (!::mkdtemp(path.data())) path.clear();
    }
    ~Folder() {
        std::error_code none;
        if (!path.empty()) fs::remove_all(path, none);
    }
    Folder(const Folder &) = delete;
};

/// A running ptxas; its messages go to a file, so that nobody waits for anybody.
struct Process {
    pid_t pid = -1;
    std::string output, cubin;
};

std::string readFile(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string start(Process &p, const std::string &program, std::vector<std::string> args) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, p.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    std::vector<char *> argv{const_cast<char *>(program.c_str())};
    for (std::string &a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    int error = ::posix_spawn(&p.pid, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return error ? std::string(std::strerror(error)) : std::string();
}

int finish(Process &p) {
    int status = 0;
    while (::waitpid(p.pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// `.loc FILE LINE COLUMN` before a line of the text; file 1 is the first source.
Loc sourceOf(const std::string &ptx, int line, const ir::Module &kern) {
    std::istringstream in(ptx);
    Loc loc;
    std::string text;
    static const std::regex at(R"(^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+))");
    for (int n = 1; n <= line && std::getline(in, text); ++n) {
        std::smatch m;
        if (!std::regex_search(text, m, at)) continue;
        auto file = static_cast<size_t>(std::stoi(m[1]));
        if (file >= 1 && file <= kern.sources.size()) loc = {kern.sources[file - 1].file, std::stoi(m[2]), std::stoi(m[3]), 1};
    }
    return loc;
}

} // namespace

std::string findPtxas(const std::string &wanted) {
    if (!wanted.empty()) return isProgram(wanted) ? wanted : std::string();
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (!folder.empty() && isProgram(fs::path(folder) / "ptxas")) return fs::path(folder) / "ptxas";
    return isProgram("/usr/local/cuda/bin/ptxas") ? "/usr/local/cuda/bin/ptxas" : "";
}

PtxasSays readPtxas(const std::string &output) {
    PtxasSays says;
    static const std::regex entry(R"(Compiling entry function '([^']*)')"), spill(R"((\d+) bytes stack frame, (\d+) bytes spill stores)"),
        used(R"(Used (\d+) registers)"), shared(R"((\d+) bytes smem)"), lost(R"(\(C7[56]\d\d\))"), line(R"(\bline (\d+))");
    std::istringstream in(output);
    for (std::string text; std::getline(in, text);) {
        std::smatch m;
        PtxasSays::Message message{text, 0};
        if (std::regex_search(text, m, line)) message.line = std::stoi(m[1]);
        if (std::regex_search(text, m, lost)) says.serialised.push_back(message);
        else if (text.find("error") != std::string::npos || text.find("fatal") != std::string::npos) says.errors.push_back(message);
        if (std::regex_search(text, m, entry)) says.entries.push_back({m[1]});
        if (says.entries.empty()) continue;
        PtxasSays::Entry &e = says.entries.back();
        if (std::regex_search(text, m, spill)) e.stack = std::stoi(m[1]), e.spills = std::stoi(m[2]);
        if (std::regex_search(text, m, used)) e.registers = std::stoi(m[1]);
        if (std::regex_search(text, m, shared)) e.shared = std::stoi(m[1]);
    }
    return says;
}

bool runPtxas(const std::string &program, std::vector<PtxasJob> &jobs, const DeviceOptions &options, const ir::Module &kern, std::string &log,
              Diagnostics &diags) {
    Folder folder;
    if (folder.path.empty()) {
        diags.report({}, Diag::CannotWrite, "a temporary folder", std::strerror(errno));
        return false;
    }
    std::vector<Process> running(jobs.size());
    bool ok = true;
    for (size_t i = 0; i < jobs.size(); ++i) {
        std::string stem = folder.path + "/" + std::to_string(i), ptx = stem + ".ptx";
        std::ofstream(ptx, std::ios::binary) << *jobs[i].ptx;
        running[i].output = stem + ".log";
        running[i].cubin = stem + ".cubin";
        std::vector<std::string> args{"-arch=" + jobs[i].arch.str(), "-v", ptx, "-o", running[i].cubin};
        if (options.debugInfo) args.push_back("-lineinfo"); // -g would destroy the code
        std::string wrong = start(running[i], program, args);
        if (wrong.empty()) continue;
        diags.report({}, Diag::NoPtxas, fmt::format("`{}`: {}", program, wrong));
        running[i].pid = -1, ok = false;
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
        if (running[i].pid < 0) continue;
        int status = finish(running[i]);
        std::string output = readFile(running[i].output), name = jobs[i].arch.str();
        PtxasSays says = readPtxas(output);
        for (auto &m : says.serialised) diags.report(sourceOf(*jobs[i].ptx, m.line, kern), Diag::PtxasSerialised, name, m.text), ok = false;
        if (status != 0) {
            std::string all;
            for (auto &m : says.errors) all += (all.empty() ? "" : "\n") + m.text;
            Loc loc = says.errors.empty() ? Loc{} : sourceOf(*jobs[i].ptx, says.errors.front().line, kern);
            diags.report(loc, Diag::PtxasFailed, name, all.empty() ? fmt::format("status {}: {}", status, output) : all);
            ok = false;
            continue;
        }
        for (auto &e : says.entries) {
            log += fmt::format("{:8} {}: {} registers, {} bytes of shared memory, {} spilled\n", name, e.name, e.registers, e.shared, e.spills);
            Loc loc;
            for (auto &op : kern.top.ops)
                if (op->symbol == e.name.substr(0, e.name.find('$'))) loc = op->loc;
            if (e.spills > 0) diags.report(loc, Diag::Spills, e.name, name, e.spills);
        }
        jobs[i].cubin = readFile(running[i].cubin);
    }
    return ok;
}

} // namespace tdl::codegen::nvptx
