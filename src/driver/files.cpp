#include "driver/files.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tdl {
namespace {

struct Fd {
    int n;
    explicit Fd(int f) : n(f) {}
    ~Fd() {
        if (n > 2) ::close(n);
    }
    Fd(const Fd &) = delete;
    Fd &operator=(const Fd &) = delete;
};

std::optional<std::string> slurp(int fd, size_t limit) {
    std::string text;
    char buffer[65536];
    for (;;) {
        ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::nullopt;
        if (n == 0) return text;
        text.append(buffer, static_cast<size_t>(n));
        if (text.size() > limit) return text; // the caller refuses it
    }
}

bool writeAll(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
}

} // namespace

std::optional<std::string> readInput(const std::string &path, Diagnostics &diags) {
    auto fail = [&](const char *why) {
        diags.report({}, Diag::CannotRead, path, why);
        return std::nullopt;
    };
    Fd fd(path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.n < 0) return fail(std::strerror(errno));
    struct stat st;
    if (::fstat(fd.n, &st) != 0) return fail(std::strerror(errno));
    if (S_ISDIR(st.st_mode)) return fail("it is a folder");
    auto text = slurp(fd.n, kMaxInputBytes);
    if (!text) return fail(std::strerror(errno));
    if (text->size() > kMaxInputBytes) {
        size_t size = S_ISREG(st.st_mode) ? static_cast<size_t>(st.st_size) : text->size();
        diags.report({}, Diag::TooLarge, path, size, kMaxInputBytes);
        return std::nullopt;
    }
    return text;
}

bool writeOutput(const std::string &path, std::string_view bytes, bool keepIfSame, Diagnostics &diags) {
    auto fail = [&](int error) {
        diags.report({}, Diag::CannotWrite, path, std::strerror(error));
        return false;
    };
    if (path == "-") return writeAll(1, bytes) || fail(errno);
    struct stat st;
    bool exists = ::stat(path.c_str(), &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) return fail(EISDIR);
    if (exists && !S_ISREG(st.st_mode)) { // a device or pipe, e.g. /dev/null, is written in place
        Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        return (fd.n >= 0 && writeAll(fd.n, bytes)) || fail(errno);
    }
    if (exists && keepIfSame && static_cast<size_t>(st.st_size) == bytes.size()) {
        Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        auto old = fd.n >= 0 ? slurp(fd.n, bytes.size()) : std::nullopt;
        if (old && *old == bytes) return true;
    }
    std::string temp = path + ".tmp-XXXXXX";
    Fd fd(::mkostemp(temp.data(), O_CLOEXEC));
    if (fd.n < 0) return fail(errno);
    mode_t mask = ::umask(0);
    ::umask(mask);
    if (writeAll(fd.n, bytes) && ::fchmod(fd.n, 0666 & ~mask) == 0 && ::rename(temp.c_str(), path.c_str()) == 0) return true;
    int error = errno;
    ::unlink(temp.c_str());
    return fail(error);
}

std::string stemOf(const std::string &path) {
    std::string name = path.substr(path.find_last_of('/') + 1);
    size_t dot = name.find_last_of('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string extensionOf(const std::string &path) {
    std::string name = path.substr(path.find_last_of('/') + 1);
    size_t dot = name.find_last_of('.');
    return dot == std::string::npos || dot == 0 ? "" : name.substr(dot);
}

} // namespace tdl
