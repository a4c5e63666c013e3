#include "object/reserved.h"
#include <algorithm>
#include <iterator>
#include <sstream>
#include <unordered_set>

namespace tdl::object {
namespace {

using Words = std::unordered_set<std::string>;
Words words(const char *list) {
    std::istringstream in(list);
    return {std::istream_iterator<std::string>(in), {}};
}

// C11 and C++ up to 20, with the alternative tokens.
const Words &keywords() {
    static const Words w = words(
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept "
        "const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double "
        "dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new "
        "noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict "
        "return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
        "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq");
    return w;
}

// Types and macros of the headers that tdl.h includes, and what compilers define by themselves outside of strict modes.
const Words &fromHeaders() {
    static const Words w = words(
        "NULL offsetof size_t ptrdiff_t max_align_t nullptr_t intptr_t uintptr_t intmax_t uintmax_t SIZE_MAX PTRDIFF_MAX "
        "PTRDIFF_MIN INTPTR_MAX INTPTR_MIN UINTPTR_MAX INTMAX_MAX INTMAX_MIN UINTMAX_MAX INTMAX_C UINTMAX_C WCHAR_MAX WCHAR_MIN "
        "WINT_MAX WINT_MIN SIG_ATOMIC_MAX SIG_ATOMIC_MIN unix linux i386 arm");
    return w;
}

// Functions of C11 and the better known of POSIX: a program that exports one of these replaces it for all of its libraries.
const Words &libraryFunctions() {
    static const Words w = words(
        "main abort abs acos acosf acosh asctime asin asinf asinh atan atan2 atan2f atanf atanh atexit atof atoi atol atoll bsearch "
        "calloc cbrt ceil ceilf clearerr clock copysign cos cosf cosh ctime difftime div erf erfc erff exit exp exp2 exp2f expf "
        "expm1 fabs fabsf fclose fdim feof ferror fflush fgetc fgetpos fgets floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf "
        "fopen fprintf fputc fputs fread free freopen frexp fscanf fseek fsetpos ftell fwrite getc getchar getenv gets gmtime hypot "
        "ilogb isalnum isalpha isdigit islower isspace isupper labs ldexp ldiv lgamma llabs llrint llround localeconv localtime log "
        "log10 log1p log2 log2f logb logf longjmp lrint lround malloc mblen memchr memcmp memcpy memmove memset mktime modf nan "
        "nearbyint nextafter perror pow powf printf putc putchar puts qsort raise rand realloc remainder remove remquo rename "
        "rewind rint round roundf scalbn scanf setbuf setjmp setlocale setvbuf signal sin sinf sinh snprintf sprintf sqrt sqrtf "
        "srand sscanf strcat strchr strcmp strcoll strcpy strcspn strerror strftime strlen strncat strncmp strncpy strpbrk strrchr "
        "strspn strstr strtod strtof strtok strtol strtoll strtoul strtoull system tan tanf tanh tgamma time tmpfile tmpnam tolower "
        "toupper trunc truncf ungetc vfprintf vprintf vsnprintf vsprintf "
        "accept access alarm bind brk chdir chmod chown close closedir connect creat dup dup2 environ execve fcntl fork fstat fsync "
        "futex getpid index ioctl kill link listen lseek lstat mkdir mkfifo mknod mlock mmap mount mprotect mremap msync munmap nice "
        "open opendir pause pipe poll read readdir readlink readv recv recvmsg rindex rmdir sbrk select send sendmsg setsid shutdown "
        "sleep socket socketpair splice stat symlink sync syscall truncate umask uname unlink usleep utime vfork wait waitpid write writev");
    return w;
}

bool contains(const Words &w, std::string_view name) { return w.contains(std::string(name)); }
bool starts(std::string_view s, std::string_view with) { return s.substr(0, with.size()) == with; }
bool ends(std::string_view s, std::string_view with) { return s.size() >= with.size() && s.substr(s.size() - with.size()) == with; }

/// int32_t, UINT_FAST8_MAX, INT64_C: an integer type of <stdint.h>, or a macro about one.
bool isStdint(std::string_view s) {
    for (std::string_view head : {"int", "uint", "INT", "UINT"}) {
        if (!starts(s, head)) continue;
        std::string_view rest = s.substr(head.size());
        for (std::string_view kind : {"_least", "_fast", "_LEAST", "_FAST"})
            if (starts(rest, kind)) rest.remove_prefix(kind.size());
        size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
        if (digits == 0) continue;
        rest.remove_prefix(digits);
        for (std::string_view tail : {"_t", "_MAX", "_MIN", "_C"})
            if (rest == tail) return true;
    }
    return false;
}

} // namespace

std::string_view reservedForMember(std::string_view n) {
    if (contains(keywords(), n)) return "a keyword";
    if (contains(fromHeaders(), n) || isStdint(n)) return "a name of the standard headers";
    if (starts(n, "TDL_") || (starts(n, "tdl_") && (ends(n, "16") || ends(n, "4m3") || ends(n, "5m2") || ends(n, "bool"))))
        return "a name of tdl.h";
    if (starts(n, "__") || (n.size() > 1 && n[0] == '_' && n[1] >= 'A' && n[1] <= 'Z')) return "reserved for the compiler";
    return {};
}

std::string_view reservedForFunction(std::string_view n) {
    if (auto why = reservedForMember(n); !why.empty()) return why;
    if (starts(n, "tdl_")) return "a name of tdl.h";
    if (starts(n, "_")) return "reserved for the compiler";
    if (contains(libraryFunctions(), n)) return "a function of the C library";
    return {};
}

} // namespace tdl::object
