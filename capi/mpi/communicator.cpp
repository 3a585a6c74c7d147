#include "capi/mpi/communicator.hpp"

#include "jit/text/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace libperm::mpi {
namespace {

// Until start(request) is done, asleep between two looks: longer and longer while it is not.
template <class Start> void wait_for(const Start &start) {
    constexpr std::chrono::microseconds shortest{50}, longest{5000};
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(start(&request));
    for (std::chrono::microseconds pause = shortest;; pause = std::min(2 * pause, longest)) {
        int done = 0;
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return;
        std::this_thread::sleep_for(pause);
    }
}

// MPI's messages hold less than 2^31 of anything: longer bytes go in pieces.
template <class Start> void in_pieces(std::string &bytes, const Start &start) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes.size(); at += most)
        wait_for([&](MPI_Request *request) {
            return start(bytes.data() + at, static_cast<int>(std::min(bytes.size() - at, most)), request);
        });
}

} // namespace

void check_mpi(int code) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(PERM_INTERNAL, formatted("MPI failed: {}", text.data()));
}

Communicator::Communicator(MPI_Comm comm) {
    check_mpi(MPI_Comm_dup(comm, &comm_));
    begin();
}

Communicator::Communicator(MPI_Comm whole, int rank) {
    check_mpi(MPI_Comm_split_type(whole, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm_));
    begin();
}

void Communicator::begin() {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
    check_mpi(MPI_Comm_rank(comm_, &rank_));
    check_mpi(MPI_Comm_size(comm_, &size_));
}

Communicator::~Communicator() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Communicator::gather(const void *own, void *all, int bytes) const {
    wait_for([&](MPI_Request *request) {
        return MPI_Iallgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm_, request);
    });
}

void Communicator::broadcast(std::string &bytes, int from) const {
    const std::size_t size = all_of(bytes.size())[static_cast<std::size_t>(from)];
    agree(failure_of([&] { bytes.resize(size); }));
    in_pieces(bytes, [&](char *piece, int count, MPI_Request *request) {
        return MPI_Ibcast(piece, count, MPI_BYTE, from, comm_, request);
    });
}

void Communicator::agree(const std::optional<Failure> &own) const {
    const std::vector<perm_status> all = all_of(own ? own->status : PERM_OK);
    const auto failing = std::ranges::find_if(all, [](perm_status status) { return status != PERM_OK; });
    if (failing == all.end()) return;
    const int first = static_cast<int>(failing - all.begin());
    std::string text = own ? own->text : "";
    broadcast(text, first);
    throw Error(*failing, first == 0 ? text : formatted("rank {}: {}", first, text));
}

void Communicator::send(std::string &bytes) const {
    in_pieces(bytes, [&](const char *piece, int count, MPI_Request *request) {
        return MPI_Isend(piece, count, MPI_BYTE, 0, 0, comm_, request);
    });
}

std::string Communicator::receive(int from, std::int64_t size) const {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    in_pieces(bytes, [&](char *piece, int count, MPI_Request *request) {
        return MPI_Irecv(piece, count, MPI_BYTE, from, 0, comm_, request);
    });
    return bytes;
}

} // namespace libperm::mpi
