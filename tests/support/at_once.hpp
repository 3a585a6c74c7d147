// Threads that start together.
#pragma once

#include <barrier>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

// body(t) in threads that start together; what they throw is thrown here.
template <class Body> void at_once(std::size_t count, const Body &body) {
    std::vector<std::exception_ptr> thrown(count);
    std::barrier start(static_cast<std::ptrdiff_t>(count));
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < count; ++t)
            threads.emplace_back([&, t] {
                start.arrive_and_wait();
                try {
                    body(t);
                } catch (...) {
                    thrown[t] = std::current_exception();
                }
            });
    }
    for (const std::exception_ptr &it : thrown)
        if (it) std::rethrow_exception(it);
}
