#include "tests/support/host_kernel.hpp"

#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <setjmp.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

extern char **environ;

namespace {

constexpr std::size_t sources_of_library = 8, compilers_at_once = 2;
constexpr std::size_t guard = HostKernel::guard;

void write_file(const std::string &path, const std::string &text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string read_text(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

// __shared__ is `static` on the host, which cannot stand beside `extern`.
std::string with_plain_extern(std::string source) {
    const std::string both = "extern __shared__ ";
    for (std::size_t where = 0; (where = source.find(both, where)) != std::string::npos;)
        source.replace(where, both.size(), "extern ");
    return source;
}

// The names of its kernels, extern "C" __global__ void __launch_bounds__(...) NAME(...), and the threads that
// they are compiled for where a number says it.
std::map<std::string, unsigned> entries_of(const std::string &source) {
    constexpr unsigned any = 1024; // as many as a GPU's block can have
    const std::string bounds = "__launch_bounds__(", letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const auto skip_spaces = [&](std::size_t &where) { where = source.find_first_not_of(" \n", where); };
    std::map<std::string, unsigned> entries;
    const std::string begin = "extern \"C\" __global__ void ";
    for (std::size_t at = source.find(begin); at != std::string::npos; at = source.find(begin, at + 1)) {
        std::size_t name = at + begin.size();
        skip_spaces(name);
        unsigned most = any;
        if (source.compare(name, bounds.size(), bounds) == 0) {
            most = static_cast<unsigned>(std::strtoul(source.c_str() + name + bounds.size(), nullptr, 10));
            if (most == 0) most = any; // a constant's name
            name = source.find(')', name) + 1;
            skip_spaces(name);
        }
        entries[source.substr(name, source.find_first_not_of(letters, name) - name)] = most;
    }
    return entries;
}

// Kernel i of a library, in a namespace of its own. C's names would be the same in all namespaces.
std::string part_of_library(const std::string &file, std::size_t i, const std::string &source) {
    const std::string number = std::to_string(i), space = "kernel_" + number;
    std::string before, after, entries;
    for (const auto &[entry, most_threads] : entries_of(source)) {
        before += "#define " + entry + " " + entry + "_" + number + "\n";
        after += "#undef " + entry + "\n";
        entries += "SHIM_EXPORT void run_" + entry + "_" + number +
                   "(void *const *parameters) {\n    shim::call(" + space + "::" + entry + "_" + number +
                   ", parameters);\n}\n";
    }
    return "namespace " + space + " {\n" + before +
           "alignas(16) unsigned char shared_memory[shim::shared_bytes];\n" + "#include \"" + file + "\"\n" +
           after + "}\n" + entries + "SHIM_EXPORT unsigned char *shared_memory_" + number + "() { return " +
           space + "::shared_memory; }\n";
}

class Compilation {
  public:
    Compilation(const TemporaryFolder &folder, const std::vector<std::string> &sources, std::size_t first)
        : name_("library_" + std::to_string(first)), folder_(folder) {
        std::string text = "#include \"cuda_shim.hpp\"\n";
        for (std::size_t i = first; i < std::min(first + sources_of_library, sources.size()); ++i) {
            const std::string file = "source_" + std::to_string(i) + ".cu";
            write_file(folder / file, with_plain_extern(sources[i]));
            text += part_of_library(file, i, sources[i]);
        }
        write_file(folder / (name_ + ".cpp"), text);
        start();
    }
    ~Compilation() {
        if (process_ != 0) waitpid(process_, nullptr, 0);
    }
    Compilation(const Compilation &) = delete;
    Compilation &operator=(const Compilation &) = delete;

    // The library's path.
    std::string finish() {
        int status = 0;
        const pid_t process = std::exchange(process_, 0);
        if (waitpid(process, &status, 0) != process || status != 0)
            throw std::runtime_error(std::string(PERM_TEST_CXX) + " failed:\n" +
                                     read_text(folder_ / (name_ + ".log")));
        return folder_ / (name_ + ".so");
    }

  private:
    // Not optimized: most kernels run for less long than that would take.
    void start() {
        std::vector<std::string> words{PERM_TEST_CXX,
                                       "-std=c++17",
                                       "-O0",
                                       "-ffp-contract=off",
                                       "-shared",
                                       "-fPIC",
                                       "-fvisibility=hidden",
                                       "-I" PERM_TEST_SHIM_DIR,
                                       folder_ / (name_ + ".cpp"),
                                       "-o",
                                       folder_ / (name_ + ".so")};
        std::vector<char *> arguments;
        for (std::string &word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder_ / (name_ + ".log")).c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int failed =
            posix_spawn(&process_, PERM_TEST_CXX, &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (failed != 0) {
            process_ = 0;
            throw std::runtime_error(std::string("cannot start ") + PERM_TEST_CXX + ": " +
                                     std::strerror(failed));
        }
    }

    std::string name_;
    const TemporaryFolder &folder_;
    pid_t process_ = 0;
};

// What ThreadSanitizer has to know of a stack that is switched to.
class Fiber {
  public:
#ifdef __SANITIZE_THREAD__
    Fiber() : fiber_(__tsan_create_fiber(0)), owned_(true) {}
    static Fiber current() { return Fiber(__tsan_get_current_fiber()); }
    ~Fiber() {
        if (owned_) __tsan_destroy_fiber(fiber_);
    }
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;
    void enter() const { __tsan_switch_to_fiber(fiber_, 0); }

  private:
    explicit Fiber(void *fiber) : fiber_(fiber), owned_(false) {}
    void *fiber_;
    bool owned_;
#else
    static Fiber current() { return {}; }
    void enter() const {}
#endif
};

// The threads of a block: one runs at a time, until it waits or returns. Each has a stack of its own in this
// thread: to hand over to an operating system's thread takes a hundred times as long. They stay for the
// blocks to come, whose stacks would have to be made anew.
class Players {
  public:
    static Players &of_this_thread() {
        static thread_local Players players;
        return players;
    }

    template <class Body> void play(unsigned threads, const Body &body) {
        run_ = [&body](unsigned t) { body(t); };
        while (players_.size() < threads) players_.emplace_back(static_cast<unsigned>(players_.size()));
        for (unsigned t = 0; t < threads; ++t) players_[t].returned = false;
        unsigned returned = 0;
        bool together = true; // all wait, or all have returned
        while (returned < threads) {
            for (unsigned t = 0; t < threads; ++t) {
                if (players_[t].returned) continue;
                on_stage_ = &players_[t];
                enter(*on_stage_);
                returned += players_[t].returned;
            }
            together = together && (returned == 0 || returned == threads);
        }
        if (!together) throw std::runtime_error("a thread waits for one that has returned");
    }

    static void wait() {
        Players &players = of_this_thread();
        players.leave(*players.on_stage_);
    }

  private:
    static constexpr std::size_t stack_bytes = 1 << 16;

    struct Player {
        unsigned number;
        bool begun = false, returned = false;
        Fiber fiber;
        ucontext_t context{};
        jmp_buf place{};
        std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_bytes);

        explicit Player(unsigned n) : number(n) {
            getcontext(&context);
            context.uc_stack.ss_sp = stack.get();
            context.uc_stack.ss_size = stack_bytes;
            makecontext(&context, &Players::act, 0);
        }
    };

    static void act() {
        Players &players = of_this_thread();
        Player &mine = *players.on_stage_;
        for (;;) {
            players.run_(mine.number);
            mine.returned = true;
            players.leave(mine);
        }
    }

    // swapcontext calls the kernel for the mask of signals, which takes longer than most of what is played;
    // jumps do not, but sanitizers do not know them.
    [[gnu::noinline]] void enter(Player &player) {
        player.fiber.enter();
        if (run::sanitized) {
            swapcontext(&stage_, &player.context);
        } else if (_setjmp(stage_place_) == 0) {
            if (player.begun) _longjmp(player.place, 1);
            player.begun = true;
            setcontext(&player.context);
        }
    }
    [[gnu::noinline]] void leave(Player &player) {
        stage_fiber_.enter();
        if (run::sanitized)
            swapcontext(&player.context, &stage_);
        else if (_setjmp(player.place) == 0)
            _longjmp(stage_place_, 1);
    }

    std::function<void(unsigned)> run_;
    std::deque<Player> players_;
    Player *on_stage_ = nullptr;
    ucontext_t stage_{};
    jmp_buf stage_place_{};
    Fiber stage_fiber_ = Fiber::current();
};

} // namespace

class HostLibrary {
  public:
    explicit HostLibrary(const std::string &path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) throw std::runtime_error(dlerror());
        get<void (*)(void (*)())>("shim_wait_by")(&Players::wait);
    }
    ~HostLibrary() { dlclose(handle_); }
    HostLibrary(const HostLibrary &) = delete;
    HostLibrary &operator=(const HostLibrary &) = delete;

    template <class Function> Function get(const std::string &name) const {
        void *symbol = dlsym(handle_, name.c_str());
        if (symbol == nullptr) throw std::runtime_error(dlerror());
        return reinterpret_cast<Function>(symbol);
    }

  private:
    void *handle_;
};

HostKernel::HostKernel(std::shared_ptr<const HostLibrary> library, std::size_t which,
                       const std::string &source)
    : library_(std::move(library)),
      suffix_("_"),
      waits_(source.find("__syncthreads()") != std::string::npos ||
             source.find("_sync(") != std::string::npos), // of a warp
      most_threads_(entries_of(source)) {
    suffix_ += std::to_string(which);
}

void HostKernel::launch(const char *entry, unsigned blocks, unsigned threads, std::size_t shared,
                        void *const *parameters) const {
    if (shared > most_shared) throw std::runtime_error("too much shared memory");
    const auto place = library_->get<void (*)(unsigned, unsigned, unsigned, unsigned)>("shim_place");
    const auto run = library_->get<void (*)(void *const *)>(std::string("run_") + entry + suffix_);
    unsigned char *memory = library_->get<unsigned char *(*)()>("shared_memory" + suffix_)();
    for (unsigned block = 0; block < blocks; ++block) {
        const auto body = [&](unsigned thread) {
            place(block, thread, blocks, threads);
            run(parameters);
        };
        std::memset(memory, 0xff, shared + guard);
        if (waits_)
            Players::of_this_thread().play(threads, body);
        else
            for (unsigned thread = 0; thread < threads; ++thread) body(thread);
        if (std::any_of(memory + shared, memory + shared + guard, [](unsigned char x) { return x != 0xff; }))
            throw std::runtime_error("written behind the shared memory");
    }
}

std::vector<HostKernel> compile_for_host(const std::vector<std::string> &sources) {
    std::vector<HostKernel> kernels;
    if (access(PERM_TEST_CXX, X_OK) != 0 || access(PERM_TEST_SHIM_DIR, X_OK) != 0) {
        run::skip("no C++ compiler " PERM_TEST_CXX " with " PERM_TEST_SHIM_DIR " to compile kernels");
        return kernels;
    }
    const TemporaryFolder folder;
    std::deque<Compilation> running;
    const auto load_oldest = [&] {
        const auto library = std::make_shared<const HostLibrary>(running.front().finish());
        running.pop_front();
        for (std::size_t i = 0; i < sources_of_library && kernels.size() < sources.size(); ++i) {
            kernels.emplace_back(library, kernels.size(), sources[kernels.size()]);
        }
    };
    for (std::size_t first = 0; first < sources.size(); first += sources_of_library) {
        if (running.size() == compilers_at_once) load_oldest();
        running.emplace_back(folder, sources, first);
    }
    while (!running.empty()) load_oldest();
    return kernels;
}
