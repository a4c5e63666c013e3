// One program through the whole compiler and on threads as ranks, compared with the reference interpreter.
#pragma once
#include "plant.h"
#include "program.h"
#include <mutex>

namespace tdl::fuzz {

/// What went wrong, as far as a reduction must keep it. The order is that of the checks.
enum class Kind { Fine, NotBuilt, Rejected, Invalid, Varies, Text, Object, Status, Different, Crash, Hang };
const char *kindName(Kind);

struct Outcome {
    Kind kind = Kind::Fine;
    std::string key;    // of the same failure again: a diagnostic's number, a signal
    std::string report; // in words
    bool sameAs(const Outcome &o) const { return kind == o.kind && key == o.key; }
    bool failed() const { return kind != Kind::Fine && kind != Kind::NotBuilt; }
};

struct RunOptions {
    Plant plant = Plant::None; // a bug to plant in the compiler
    bool texts = true;         // also print, parse and re-enter every representation
    int seconds = 10;          // of processor time, or ten times as many of any: then it is a hang
};

/// In a process of its own, which may crash or hang.
Outcome runProgram(const Program &, const RunOptions &);
/// Held while a process is forked, and by whoever in this one uses libraries with locks of their own.
std::mutex &forking();
/// In this one.
Outcome runHere(const Program &, const RunOptions &);

} // namespace tdl::fuzz
