// What the tests of the engines on a GPU share: which engines there are, whether there is a GPU, and how far
// two results may lie apart.
#pragma once

#include <perm.hpp>

constexpr const char *gpu_engines[] = {"shared", "dense", "purereg", "hybrid", "tree"};

// Engine tree walks whole segments.
bool has_chunks(const char *engine, const char *chunks);

// One engine alone, and nothing on disk: what a test needs is compiled in it.
perm_opts on_gpu(const char *engine, const char *chunks = nullptr);

// Whether there is a GPU. Where there is none it announces a skip with the library's reason.
bool gpu();

// Neither is known to be right, but each tells how wrong it can be. With doctest's CHECK.
void check_agree(const perm_result &x, const perm_result &y);

double relative_difference(const perm_result &x, const perm_result &y);
