/*
 * Replaces a media tool whose decoder was taken over: it ignores its arguments, tries what a sandboxed tool must not do, and prints a
 * line for each attempt that succeeded. If any did, it prints so much that every caller sees `too_costly`; else it ends as `broken`.
 * Compiled with FOLDER, which holds in/media, job/, secret and the UNIX socket `socket` and names an abstract one, and with PORT, on which a TCP server listens.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_wanted = 1, forbidden = 0;

static void attempt(const char *name, int has_succeeded) {
  if (!has_succeeded) return;
  printf("1 %s\n", name);
  if (!is_wanted) forbidden += 1;
}

static int can_open(const char *path, int flags) {
  char byte;
  int file = open(path, flags, 0600);
  if (file < 0) return 0;
  if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY)) return read(file, &byte, 1) == 1;
  return 1;
}

static int can_open_of(int pid, const char *name, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return can_open(path, flags);
}

static int can_list(const char *path) {
  DIR *folder = opendir(path);
  return folder != NULL && readdir(folder) != NULL;
}

static int can_take_disk_beyond_size(void) {
  int file = open(FOLDER "/job/made", O_WRONLY);
  return file >= 0 && fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0;
}

static int can_connect(const struct sockaddr *address, socklen_t length, int type) {
  int end = socket(address->sa_family, type, 0);
  return end >= 0 && connect(end, address, length) == 0;
}

static int has_capability(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
  syscall(SYS_capget, &header, sets);
  return (sets[0].effective | sets[1].effective | sets[0].permitted | sets[1].permitted) != 0;
}

// Before this program opens files of its own.
static int has_inherited_file(void) {
  for (int file = 3; file < 64; file += 1)
    if (fcntl(file, F_GETFD) >= 0) return 1;
  return 0;
}

// Numbers of 32-bit calls are those of other calls in 64 bits: 102 is socketcall here, and getuid there.
static int make_socket_by_32_bit_call(void) {
  long made = -1;
#ifdef __x86_64__
  unsigned *call = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  call[0] = AF_UNIX, call[1] = SOCK_STREAM, call[2] = 0;
  __asm__ volatile("int $0x80" : "=a"(made) : "a"(102), "b"(1), "c"(call) : "memory", "r8", "r9", "r10", "r11");
#endif
  return made >= 0;
}

// In a process that ends at once: a traced worker stops at its next signal, and would then not read the output of this tool.
static int can_trace(int process) {
  int status = 1, child = fork();
  if (child > 0) return waitpid(child, &status, 0) == child && status == 0;
  int has_failed = ptrace(PTRACE_SEIZE, process, 0, 0) != 0;
  if (child == 0) _exit(has_failed);
  return !has_failed;
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "call32") == 0) return make_socket_by_32_bit_call() ? 0 : 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  int worker = getppid(), has_inherited = has_inherited_file(), pair[2];
  struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = FOLDER "/socket"};
  struct sockaddr_un abstract = {.sun_family = AF_UNIX, .sun_path = "\0" FOLDER};
  socklen_t abstract_length = offsetof(struct sockaddr_un, sun_path) + sizeof FOLDER;
  struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct rlimit none = {0, 0};
  printf("begun\n");

  attempt("read its input", can_open(FOLDER "/in/media", O_RDONLY));
  attempt("write into its job folder", can_open(FOLDER "/job/made", O_WRONLY | O_CREAT));
  is_wanted = 0;
  attempt("hold a capability", has_capability());
  attempt("use a file that its worker has open", has_inherited);
  attempt("read a secret", can_open(FOLDER "/secret", O_RDONLY));
  attempt("read a secret of its container", can_open("/run/secrets/S3_SECRET_KEY", O_RDONLY));
  attempt("read a file of the system", can_open("/etc/passwd", O_RDONLY));
  attempt("list a folder", can_list(FOLDER));
  attempt("list processes", can_list("/proc"));
  attempt("read the environment of its worker", can_open_of(worker, "environ", O_RDONLY));
  attempt("read the command line of its worker", can_open_of(worker, "cmdline", O_RDONLY));
  attempt("write into the memory of its worker", can_open_of(worker, "mem", O_RDWR));
  attempt("write a file", can_open(FOLDER "/written", O_WRONLY | O_CREAT) || can_open("/tmp/written", O_WRONLY | O_CREAT));
  attempt("empty a file", can_open(FOLDER "/secret", O_RDWR | O_TRUNC));
  attempt("empty a file without writing", can_open(FOLDER "/secret", O_RDONLY | O_TRUNC | O_DIRECTORY) || truncate(FOLDER "/secret", 0) == 0);
  attempt("open a file neither to read nor to write", can_open(FOLDER "/secret", O_ACCMODE));
  attempt("empty a file opened so", can_open(FOLDER "/secret", O_ACCMODE | O_TRUNC));
  attempt("change its input", can_open(FOLDER "/in/media", O_RDWR));
  attempt("remove its input", unlink(FOLDER "/in/media") == 0);
  attempt("remove its output", unlink(FOLDER "/job/made") == 0);
  attempt("replace its output", rename(FOLDER "/job/made", FOLDER "/job/other") == 0);
  attempt("take disk beyond the size of a file", can_take_disk_beyond_size());
  attempt("make a file without a name", can_open(FOLDER "/job", O_TMPFILE | O_WRONLY));
  attempt("change modes", chmod(FOLDER "/secret", 0600) == 0);
  attempt("make a hard link", link(FOLDER "/secret", FOLDER "/job/hard") == 0);
  attempt("make a symbolic link", symlink("/proc/self/environ", FOLDER "/job/soft") == 0);
  attempt("make a FIFO", mkfifo(FOLDER "/job/fifo", 0600) == 0);
  attempt("make a folder", mkdir(FOLDER "/job/folder", 0700) == 0);
  attempt("connect to a UNIX socket", can_connect((struct sockaddr *)&local, sizeof local, SOCK_STREAM));
  attempt("connect to an abstract UNIX socket", can_connect((struct sockaddr *)&abstract, abstract_length, SOCK_STREAM));
  attempt("connect by TCP", can_connect((struct sockaddr *)&tcp, sizeof tcp, SOCK_STREAM));
  attempt("make a UDP socket", socket(AF_INET, SOCK_DGRAM, 0) >= 0);
  attempt("make a netlink socket", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) >= 0);
  attempt("make a pair of sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  attempt("see whether its worker is there", kill(worker, 0) == 0);
  attempt("signal its worker", kill(worker, SIGCONT) == 0);
  attempt("change limits of its worker", prlimit(worker, RLIMIT_CORE, &none, NULL) == 0);
  attempt("change the priority of its worker", setpriority(PRIO_PROCESS, worker, getpriority(PRIO_PROCESS, worker)) == 0);
  attempt("trace its worker", can_trace(worker));
  attempt("outlive its worker", prctl(PR_SET_PDEATHSIG, 0) == 0);
  attempt("leave its group", setsid() >= 0 || setpgid(0, 0) == 0);
  attempt("make a file in memory", memfd_create("x", 0) >= 0);
  attempt("map memory that no limit counts", mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  attempt("have signals sent to another process", fcntl(0, F_SETOWN, worker) == 0);
  attempt("use io_uring", syscall(SYS_io_uring_setup, 4, (char[120]){0}) >= 0);
  int child = fork();
  if (child == 0) _exit(0);
  attempt("start a process", child > 0);
  if (forbidden > 0) for (int line = 0; line < 1024; line += 1) printf("1%1023s\n", "");
  fflush(stdout);
  // If it can become another program, it ends well.
  if (arguments[1] == NULL) execl("/bin/true", "true", NULL);
  return 1;
}
