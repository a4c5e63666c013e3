#include "driver/output.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace tdl {
namespace {

// Where a chain of links ends. The last file need not exist; a chain that cannot be followed is left as it is.
std::string followed(const std::string &path) {
    std::string at = path;
    for (int i = 0; i < 40; ++i) {
        char target[4096];
        ssize_t n = ::readlink(at.c_str(), target, sizeof target);
        if (n < 0 || n == sizeof target) return at;
        std::string to(target, static_cast<size_t>(n));
        at = to.starts_with("/") ? to : at.substr(0, at.find_last_of('/') + 1) + to;
    }
    return path;
}

bool holds(const std::string &path, std::string_view bytes) {
    struct stat st;
    if (::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || static_cast<size_t>(st.st_size) != bytes.size()) return false;
    std::ifstream in(path, std::ios::binary);
    std::string old(bytes.size(), '\0');
    return in.read(old.data(), static_cast<std::streamsize>(old.size())) && old == bytes;
}

} // namespace

bool writeAll(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
}

bool writesInPlace(const std::string &path) {
    // Names of open descriptors may lead to plain files; those belong to whoever opened them.
    for (const char *open : {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"})
        if (path.starts_with(open)) return true;
    struct stat st;
    return path == "-" || (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

bool Outputs::fail(const std::string &path, int error) {
    diags.report({}, Diag::CannotWrite, path, std::strerror(error));
    return false;
}

void Outputs::blockSignals() {
    if (blocked) return;
    sigset_t ending;
    sigemptyset(&ending);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ending, s);
    ::sigprocmask(SIG_BLOCK, &ending, &mask);
    blocked = true;
}

Outputs::~Outputs() {
    for (const Staged &s : staged)
        if (!s.temp.empty()) ::unlink(s.temp.c_str());
    if (blocked) ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

bool Outputs::add(const std::string &path, std::string_view bytes, KeepIfSame keep) {
    if (writesInPlace(path)) {
        staged.push_back({path, "", path, std::string(bytes)});
        return true;
    }
    std::string place = followed(path);
    struct stat st;
    if (::stat(place.c_str(), &st) == 0) {
        if (S_ISDIR(st.st_mode)) return fail(path, EISDIR);
        if (::access(place.c_str(), W_OK) != 0) return fail(path, errno);
        if (keep == KeepIfSame::Yes && holds(place, bytes)) return true;
    }
    blockSignals();
    return stage(path, place, bytes);
}

bool Outputs::stage(const std::string &path, const std::string &place, std::string_view bytes) {
    std::string temp = place + ".tmp-XXXXXX";
    int fd = ::mkostemp(temp.data(), O_CLOEXEC);
    if (fd < 0) return fail(path, errno);
    staged.push_back({path, temp, place, {}});
    mode_t hidden = ::umask(0); // the only way to ask
    ::umask(hidden);
    bool good = writeAll(fd, bytes) && ::fchmod(fd, 0666 & ~hidden) == 0;
    int error = errno;
    if (::close(fd) != 0 && good) good = false, error = errno;
    return good || fail(path, error);
}

bool Outputs::commit() {
    for (const Staged &s : staged) { // first what may fail late, a full device for one
        if (!s.temp.empty()) continue;
        int fd = s.place == "-" || s.place == "/dev/stdout" ? 1 : s.place == "/dev/stderr" ? 2 : ::open(s.place.c_str(), O_WRONLY | O_CLOEXEC);
        bool good = fd >= 0 && writeAll(fd, s.bytes);
        int error = errno;
        if (fd > 2) ::close(fd);
        if (!good) return fail(s.path, error);
    }
    for (Staged &s : staged) {
        if (s.temp.empty()) continue;
        if (::rename(s.temp.c_str(), s.place.c_str()) != 0) return fail(s.path, errno);
        s.temp.clear();
    }
    staged.clear();
    return true;
}

} // namespace tdl
