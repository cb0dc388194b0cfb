// Control packets between main and the template, and what both need to find processes.
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "guard/template_process.h"

namespace passnet::guard {

bool control_send(int socket, const Control& control, int fd) {
  iovec part{const_cast<Control*>(&control), sizeof control};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  if (fd >= 0) {
    m.msg_control = space;
    m.msg_controllen = sizeof space;
    cmsghdr* head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  ssize_t n = 0;
  do n = ::sendmsg(socket, &m, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(sizeof control);
}

bool control_receive(int socket, Control& control, int* fd) {
  iovec part{&control, sizeof control};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  m.msg_control = space;
  m.msg_controllen = sizeof space;
  ssize_t n = 0;
  do n = ::recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  int attached = -1;
  for (cmsghdr* head = CMSG_FIRSTHDR(&m); n >= 0 && head != nullptr; head = CMSG_NXTHDR(&m, head))
    if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
      std::memcpy(&attached, CMSG_DATA(head), sizeof attached);
  if (fd != nullptr)
    *fd = attached;
  else if (attached >= 0)
    ::close(attached);
  return n == static_cast<ssize_t>(sizeof control) && control_valid(control);
}

bool control_valid(const Control& control) {
  return control.magic == kMagic && control.version == kProtocolVersion && control.text[sizeof control.text - 1] == 0;
}

namespace {

struct Process {
  pid_t pid, parent, session;
  bool zombie;
};

// Everything that runs, from /proc: a process that ends meanwhile is left out.
std::vector<Process> processes() {
  std::vector<Process> out;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return out;
  while (const dirent* entry = ::readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const int fd = ::open(("/proc/" + std::string(entry->d_name) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    char text[512];
    const ssize_t n = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    text[n > 0 ? n : 0] = 0;
    const char* after = std::strrchr(text, ')');  // the name before it may hold anything
    char state = 0;
    int parent = 0, group = 0, session = 0;
    // NOLINTNEXTLINE(cert-err34-c): the kernel's numbers
    if (after == nullptr || std::sscanf(after, ") %c %d %d %d", &state, &parent, &group, &session) != 4) continue;
    out.push_back({pid, parent, session, state == 'Z'});
  }
  ::closedir(folder);
  return out;
}

}  // namespace

std::vector<pid_t> children() {
  std::vector<pid_t> out;
  const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";  // we have one thread
  if (std::FILE* file = std::fopen(path.c_str(), "re"); file != nullptr) {
    int pid = 0;
    while (std::fscanf(file, "%d", &pid) == 1) out.push_back(pid);  // NOLINT(cert-err34-c): the kernel's numbers
    std::fclose(file);
    return out;
  }
  for (const Process& p : processes())  // a kernel without that file
    if (p.parent == ::getpid()) out.push_back(p.pid);
  return out;
}

void session_kill(pid_t session) {
  constexpr int kRounds = 1000;  // a process may fork between our look and the kill
  bool found = true;
  for (int i = 0; found && i < kRounds; ++i) {
    found = false;
    for (const Process& p : processes())
      if (p.session == session && !p.zombie) found |= ::kill(p.pid, SIGKILL) == 0;
    if (found) ::usleep(1000);
  }
}

}  // namespace passnet::guard
