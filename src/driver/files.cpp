#include "driver/files.h"
#include <cerrno>
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
