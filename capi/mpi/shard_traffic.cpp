#include "capi/mpi/shard_traffic.hpp"

#include <array>
#include <chrono>
#include <thread>
#include <utility>

namespace libperm::mpi {
namespace {

using Clock = std::chrono::steady_clock;

enum Tag { tag_report, tag_bytes, tag_reply };

using ReportNumbers = std::array<std::int64_t, 7>;
using ReplyNumbers = std::array<std::int64_t, 3>;

void send(const Communicator &comm, Report &report) {
    const ReportNumbers numbers{report.finished,   report.status, report.busy, report.wanted,
                                report.billionths, report.cancel, report.size};
    check_mpi(
        MPI_Send(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, 0, tag_report, comm.raw()));
    in_pieces(report.bytes, [&](const char *piece, int count) {
        check_mpi(MPI_Send(piece, count, MPI_BYTE, 0, tag_bytes, comm.raw()));
    });
}

struct Received {
    int rank;
    Report report;
};

std::optional<Received> receive(const Communicator &comm) {
    int is_there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag_report, comm.raw(), &is_there, &status));
    if (!is_there) return {};
    const int rank = status.MPI_SOURCE;
    ReportNumbers n{};
    check_mpi(MPI_Recv(n.data(), static_cast<int>(n.size()), MPI_INT64_T, rank, tag_report, comm.raw(),
                       MPI_STATUS_IGNORE));
    Received received{rank, {n[0], n[1], n[2], n[3], n[4], n[5], n[6], {}}};
    std::string &bytes = received.report.bytes;
    bytes.resize(static_cast<std::size_t>(received.report.size));
    in_pieces(bytes, [&](char *piece, int count) {
        check_mpi(MPI_Recv(piece, count, MPI_BYTE, rank, tag_bytes, comm.raw(), MPI_STATUS_IGNORE));
    });
    return received;
}

// Rank 0's side.
class Server {
  public:
    Server(const Communicator &comm, ShardHub &hub, ShardWorker &own, Watch &watch, KeptPartials &kept)
        : comm_(comm), hub_(hub), own_(own), watch_(watch), kept_(kept) {}

    void run() {
        Pause pause;
        while (!hub_.is_over()) {
            if (take_reports())
                pause.reset();
            else
                own_.wait(pause.next());
            for (const auto &[rank, reply] : hub_.answer_waiting()) deliver(rank, reply);
            if (const auto &stop = watch_.poll()) hub_.stop(*stop, ShardHub::Running::finish);
            if (hub_.failure()) be_patient();
            guarded([&] { kept_.write_if_due(hub_.partials()); });
            watch_.tell(hub_.fraction());
        }
    }

  private:
    bool take_reports() {
        bool any = false;
        while (std::optional<Received> received = receive(comm_)) {
            answer(received->rank, std::move(received->report));
            any = true;
        }
        if (own_waits_ || own_.has_left()) return any;
        std::optional<Report> report = own_.news();
        if (!report) return any;
        own_waits_ = true;
        answer(0, std::move(*report));
        return true;
    }

    void answer(int rank, Report report) {
        std::optional<Reply> reply;
        guarded([&] { reply = hub_.answer(rank, std::move(report)); });
        if (reply) deliver(rank, *reply);
    }

    void deliver(int rank, const Reply &reply) {
        if (rank == 0) {
            own_waits_ = false;
            own_.take(reply);
            return;
        }
        const ReplyNumbers numbers{static_cast<std::int64_t>(reply.order), reply.first, reply.count};
        check_mpi(MPI_Send(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, rank, tag_reply,
                           comm_.raw()));
    }

    // With shards that are running, if what they come to is kept.
    void be_patient() {
        constexpr std::chrono::seconds patience{10};
        if (!stopped_) {
            stopped_ = Clock::now();
            guarded([&] { kept_.write(hub_.partials()); });
        }
        if (!kept_.is_wanted() || Clock::now() - *stopped_ > patience)
            hub_.stop(*hub_.failure(), ShardHub::Running::abort);
    }

    // The other ranks are waiting for replies: they get them, whatever happens here.
    template <class Work> void guarded(const Work &work) {
        if (const auto failure = failure_of(work)) hub_.stop(*failure, ShardHub::Running::abort);
    }

    const Communicator &comm_;
    ShardHub &hub_;
    ShardWorker &own_;
    Watch &watch_;
    KeptPartials &kept_;
    bool own_waits_ = false;
    std::optional<Clock::time_point> stopped_;
};

} // namespace

void serve(const Communicator &comm, ShardHub &hub, ShardWorker &own, Watch &watch, KeptPartials &kept) {
    Server(comm, hub, own, watch, kept).run();
}

void serve_root(const Communicator &comm, ShardWorker &own, Watch &watch) {
    constexpr std::chrono::milliseconds between_polls{100};
    while (!own.has_left()) {
        std::optional<Report> report = own.news(watch.poll().has_value());
        if (!report) {
            own.wait(between_polls);
            continue;
        }
        ReplyNumbers n{};
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(
            MPI_Irecv(n.data(), static_cast<int>(n.size()), MPI_INT64_T, 0, tag_reply, comm.raw(), &request));
        send(comm, *report);
        Pause pause;
        for (int done = 0;;) {
            check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            if (done) break;
            std::this_thread::sleep_for(pause.next());
        }
        own.take({static_cast<Order>(n[0]), n[1], n[2]});
    }
}

} // namespace libperm::mpi
