// tdlrun FILE.tdl:KERNEL: compile a kernel, run it on generated data, compare every rank's results with the interpreter's.
#pragma once
#include "driver/options.h"
#include "tools/launch.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tdl {

/// Values of sizes and scalar parameters, as texts.
using Shape = std::map<std::string, std::string>;

struct CheckRun {
    Options compile;
    LaunchOptions launch;
    std::string file, kernel;       // kernel: empty if the file has one only
    std::string reference;          // a .tdl or .tile file for the interpreter, if `file` is a .plan or .kern
    bool exact = true, real = true; // which data
    bool check = true;              // compare; else only run
    bool time = false;
    std::string device = "host";    // or cuda, cuda:N
    uint64_t seed = 1;
    std::vector<Shape> shapes;
};

/// Returns an exit status of tdlrun (launch.h); prints what it did and every difference.
int runChecked(const CheckRun &);

} // namespace tdl
