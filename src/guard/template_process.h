// The template process: loads once, forks workers when main asks, reaps and reports them.
#pragma once

#include <sys/types.h>

#include <vector>

#include "guard/protocol.h"
#include "guard/worker.h"

namespace passnet::guard {

// What the forked child does from here on. `main`: the pid that must be its parent.
[[noreturn]] void template_main(int control, pid_t main, const std::function<void()>& load, const Job& job);

// The worker's own part, after the fork: its session, limits, then the job.
[[noreturn]] void worker_main(int fd, pid_t template_pid, const Control& limits, const Job& job);

// One control packet; false: the other side is gone. `fd`: to attach, or where an attached one goes (else -1).
bool control_send(int socket, const Control& control, int fd = -1);
bool control_receive(int socket, Control& control, int* fd = nullptr);
bool control_valid(const Control& control);

// Every child of this process, which has one thread.
std::vector<pid_t> children();
// Kills every process of a session, whatever groups it made.
void session_kill(pid_t session);

}  // namespace passnet::guard
