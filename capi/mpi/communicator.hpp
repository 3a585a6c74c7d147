// MPI as the ranks of one call use it: errors are exceptions, and who waits leaves the core to others.
#pragma once

#include "capi/mpi/failure.hpp"

#include <perm_mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace libperm::mpi {

// How long to sleep between two looks for a message: longer and longer while there is none.
class Pause {
  public:
    std::chrono::microseconds next() {
        const std::chrono::microseconds now = next_;
        next_ = std::min(2 * next_, longest);
        return now;
    }
    void reset() { next_ = shortest; }

  private:
    static constexpr std::chrono::microseconds shortest{50}, longest{5000};
    std::chrono::microseconds next_ = shortest;
};

// The caller's, duplicated, so that our messages meet no others. Collective.
class Communicator {
  public:
    explicit Communicator(MPI_Comm comm);
    ~Communicator();
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_root() const { return rank_ == 0; }
    MPI_Comm raw() const { return comm_; }

    // Collective: what the root has, of any length.
    void broadcast(std::string &bytes, int root = 0) const;
    void broadcast(std::int64_t &number, int root = 0) const;

    std::int64_t sum(std::int64_t number) const; // collective

    // Collective: throws the first failing rank's failure on every rank, if there is one.
    void agree(const std::optional<Failure> &own) const;

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
};

void check_mpi(int code); // throws Error

// MPI's messages hold less than 2^31 of anything: longer bytes go in pieces.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
template <class Piece> void in_pieces(std::string &bytes, const Piece &piece) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    for (std::int64_t at = 0; at < size; at += most_bytes)
        piece(bytes.data() + at, static_cast<int>(std::min(size - at, most_bytes)));
}

} // namespace libperm::mpi
