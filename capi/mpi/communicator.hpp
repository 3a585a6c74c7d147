// MPI as the ranks of one call use it: errors are exceptions, and who waits leaves the core to others.
#pragma once

#include "lib/base/error.hpp"

#include <perm.hpp>
#include <perm_mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace libperm::mpi {

// An exception as something that can be sent.
struct Failure {
    perm_status status = PERM_OK;
    std::string text;
};

// What `work` threw, if it did: one of the library's own exceptions, or of perm.h's C++ part.
template <class Work> std::optional<Failure> failure_of(const Work &work) {
    try {
        work();
        return {};
    } catch (const Error &error) {
        return Failure{error.status(), error.what()};
    } catch (const perm::Error &error) {
        return Failure{error.status(), error.what()};
    } catch (const std::bad_alloc &) {
        return Failure{PERM_OUT_OF_MEMORY, "the system refused an allocation that was within the memory "
                                           "limit; lower memory_limit_bytes or free memory"};
    } catch (const std::exception &error) {
        return Failure{PERM_INTERNAL, error.what()};
    }
}

class Communicator {
  public:
    // The caller's, duplicated, so that our messages meet no others. Collective.
    explicit Communicator(MPI_Comm comm);
    ~Communicator();
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    // The ranks that share this one's memory. Collective.
    Communicator of_machine() const { return {comm_, rank_}; }

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_root() const { return rank_ == 0; }

    // What each rank has, on all of them. Collective.
    template <class Own> std::vector<Own> all_of(const Own &own) const {
        static_assert(std::is_trivially_copyable_v<Own>);
        std::vector<Own> all(static_cast<std::size_t>(size_));
        gather(&own, all.data(), static_cast<int>(sizeof own));
        return all;
    }

    // What one rank has, of any length. Collective.
    void broadcast(std::string &bytes, int from = 0) const;

    // Collective: throws the first failing rank's failure on every rank, if there is one.
    void agree(const std::optional<Failure> &own) const;

    // To the root, which receives as many.
    void send(std::string &bytes) const;
    std::string receive(int from, std::int64_t size) const;

  private:
    Communicator(MPI_Comm whole, int rank);
    void begin();
    void gather(const void *own, void *all, int bytes) const;

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
};

void check_mpi(int code); // throws Error

} // namespace libperm::mpi
