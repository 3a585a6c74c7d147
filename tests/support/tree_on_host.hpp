// The work of lib/subsets/subset_sum.cpp for a kernel of the tree engine that runs on the host.
#pragma once

#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "lib/subsets/segment_sum.hpp"
#include "tests/support/host_kernel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

// `A`: the plan's arithmetic.
template <class A> class TreeOnHost {
  public:
    using Partial = libperm::PartialOf<A>;

    TreeOnHost(const HostKernel &host, const libperm::GrayPlan &plan, const A &arithmetic,
               const std::vector<double> &numbers)
        : host_(host),
          plan_(plan),
          kernel_(plan.kernel),
          arithmetic_(arithmetic),
          numbers_(numbers),
          parameters_(libperm::parameters_of(kernel_, numbers)) {
        // No array has length 0.
        parameters_.resize(std::max(parameters_.size(), static_cast<std::size_t>(kernel_.n) + 1));
    }

    // Chunks of so many segments.
    std::vector<Partial> walk(std::uint64_t first, std::uint64_t end, std::uint64_t length) {
        constexpr unsigned threads = 3;
        std::vector<Partial> partials(end - first + guards, poison());
        libperm::GrayLaunch launch{first, end, length, first};
        const std::uint64_t chunks = (end - first + length - 1) / length;
        double *none = nullptr;
        Partial *to = partials.data();
        void *const arguments[] = {parameters_.data(), &launch, &none, &to};
        host_.launch(libperm::gray_entry, static_cast<unsigned>((chunks + threads - 1) / threads), threads,
                     libperm::shared_bytes(kernel_, threads), arguments);
        for (std::size_t k = end - first; k < partials.size(); ++k)
            CHECK(std::isnan(libperm::as_gray_sum(partials[k]).sum));
        partials.resize(end - first);
        return partials;
    }

    libperm::GraySum run(int &chosen) {
        const std::uint64_t segments = std::uint64_t{1} << (kernel_.n - 1 - kernel_.segment_bits);
        std::vector<Partial> partials = walk(0, segments, 1);
        libperm::GraySum sum = added_up(partials);
        if (plan_.rare > 0) {
            const double most =
                sum.absolute / static_cast<double>(segments) * static_cast<double>(plan_.rare);
            std::vector<std::uint64_t> which;
            for (std::uint64_t k = 0; k < segments; ++k)
                if (partials[k].absolute > most) which.push_back(k);
            chosen += static_cast<int>(which.size());
            if (!which.empty()) {
                sum_accurately(which, partials);
                sum = added_up(partials);
            }
        }
        libperm::GraySum total;
        libperm::add_window(arithmetic_, total, sum);
        return total;
    }

  private:
    static Partial poison() {
        Partial p;
        std::memset(&p, 0xff, sizeof p); // NaNs
        return p;
    }
    static constexpr std::size_t guards = 8; // behind the partial sums, for no thread to touch

    libperm::GraySum added_up(const std::vector<Partial> &partials) {
        std::uint64_t count = partials.size(), group = libperm::segment_group;
        std::vector<Partial> gathered((count + group - 1) / group, poison());
        const Partial *from = partials.data();
        Partial *to = gathered.data();
        A f = arithmetic_;
        void *const arguments[] = {&from, &count, &group, &to, &f};
        host_.launch(libperm::gather_entry, static_cast<unsigned>(gathered.size()), 1, 0, arguments);
        return libperm::sum_of_groups(arithmetic_, std::span<const Partial>(gathered));
    }

    void sum_accurately(const std::vector<std::uint64_t> &chosen, std::vector<Partial> &partials) {
        const std::vector<std::int32_t> column_ptr(kernel_.column_ptr.begin(), kernel_.column_ptr.end());
        const double *values = numbers_.data();
        const std::int32_t *ptr = column_ptr.data(), *rows = kernel_.row.data();
        const std::uint64_t *which = chosen.data();
        std::uint64_t base = 0;
        Partial *to = partials.data();
        void *const arguments[] = {&values, &ptr, &rows, &which, &base, &to};
        host_.launch(libperm::accurate_entry, static_cast<unsigned>(chosen.size()),
                     static_cast<unsigned>(libperm::accurate_threads(kernel_)), 0, arguments);
    }

    const HostKernel &host_;
    const libperm::GrayPlan &plan_;
    const libperm::GrayKernel &kernel_;
    const A arithmetic_;
    const std::vector<double> &numbers_;
    std::vector<double> parameters_;
};
