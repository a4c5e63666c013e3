#include "common.h"
#include <doctest/doctest.h>

using namespace tdl;
using namespace tdl::test;
