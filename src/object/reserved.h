// Names that C or C++ programs cannot use for what the header declares.
#pragma once
#include <string>
#include <string_view>

namespace tdl::object {

/// Why `name` cannot name a member of a struct: "a keyword", "a macro of <stdint.h>", ...; empty if it can.
std::string_view reservedForMember(std::string_view name);
/// Why it cannot name a function that a program exports; also what the C library calls by that name.
std::string_view reservedForFunction(std::string_view name);

} // namespace tdl::object
