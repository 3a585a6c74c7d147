// As the benchmark has them.
#pragma once

#include "bench/uploaded.hpp"
