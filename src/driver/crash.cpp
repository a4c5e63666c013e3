#include "driver/crash.h"
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <llvm/Support/ErrorHandling.h>
#include <unistd.h>

namespace tdl {
namespace {

// Only what a signal handler may call.
void say(const char *s) {
    if (::write(2, s, std::strlen(s)) < 0) ::_exit(kExitInternalError);
}

void crashed(const char *what) {
    say("tdlc: internal error: ");
    say(what);
    say("\n");
    say(kPleaseReport);
    ::_exit(kExitInternalError);
}

extern "C" void onSignal(int sig) {
    crashed(sig == SIGSEGV   ? "invalid access to memory, or the stack is full"
            : sig == SIGABRT ? "it stopped itself"
                             : "invalid instruction or access");
}

void onLLVM(void *, const char *reason, bool) { crashed(reason); }

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TDL_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TDL_SANITIZED
#endif

} // namespace

void installCrashHandlers() {
    llvm::install_fatal_error_handler(onLLVM);
#ifndef TDL_SANITIZED
    alignas(16) static char stack[32768]; // the usual one may be full
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    ::sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
    for (int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigaction(s, &action, nullptr);
#endif
}

} // namespace tdl
