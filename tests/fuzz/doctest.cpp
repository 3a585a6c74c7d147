// What the tests' support library asks of a program: here its checks are never made.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
