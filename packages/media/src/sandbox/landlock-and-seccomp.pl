#!/usr/bin/perl
# sandbox MODE PARENT SECONDS CPU_SECONDS ADDRESS_BYTES DATA_BYTES FILE_BYTES NICENESS [-r PATH]... [-w FOLDER]... -- TOOL ARGUMENT...
#
# The only way to start a tool that reads untrusted bytes. The system calls that it may make are in the table at the end, and in restrict_calls
# if their arguments matter. The tool gets no environment, no privileges and the limits given, and dies with the
# process that started it. MODE `full` adds Landlock and seccomp: the tool reads the system's libraries, itself and each PATH; writes below each
# FOLDER; and opens no socket, starts no process and signals no other one. MODE `limits-only` adds nothing.
#
# Perl is part of every Debian and Ubuntu (perl-base is Essential), so this needs no compiler. Exit status 125: a line on stderr names what is missing,
# and descriptor 3, which the tool does not get, has a byte.
use strict;
use warnings;
use Config;

my ($mode, $parent, $seconds, $cpu, $address, $data, $file, $niceness, @rest) = @ARGV;
my (@reads, @writes);
while (@rest and (my $option = shift @rest) ne '--') { push @{ $option eq '-r' ? \@reads : \@writes }, shift @rest }

my ($machine) = $Config{archname} =~ /^(x86_64|aarch64)-linux/ or fail("no system call table for $Config{archname}");
my %column = (x86_64 => 0, aarch64 => 1);
my (%nr, @plain);
read_table();

my ($tool) = $rest[0] =~ m{/} ? $rest[0] : grep { -x && !-d _ } map {"$_/$rest[0]"} split /:/, $ENV{PATH} // '';
defined $tool or fail_with("$rest[0] is not in PATH");

# Survives execve, and ends the tool if the limits of the worker fail, unless the tool ignores it.
alarm $seconds;
call(prctl => 1, 9, 0, 0, 0);    # PR_SET_PDEATHSIG, SIGKILL
getppid() == $parent or fail_with('the process that started it has ended');
set_limits();
lower_priority() if $niceness;
call(prctl => 38, 1, 0, 0, 0);    # PR_SET_NO_NEW_PRIVS
if ($mode eq 'full') {
  call(capset => pack('LL', 0x20080522, 0), "\0" x 24);
  restrict_files();
  syscall($nr{close_range}, 3, 0xffffffff, 4);    # CLOSE_RANGE_CLOEXEC
  restrict_calls();
}
syscall($nr{fcntl}, 3, 2, 1);    # F_SETFD, FD_CLOEXEC
# Node aborts if it cannot read OpenSSL's configuration.
%ENV = (PATH => $ENV{PATH} // '', OPENSSL_CONF => '/dev/null');
exec {$tool} @rest or fail($tool);

sub set_limits {
  # RLIMIT_CPU, _FSIZE, _DATA, _CORE, _NOFILE, _AS. Beyond its soft limit of CPU time a tool gets a signal that names the reason, each second.
  my @limits = ([ 0, $cpu, $cpu + 5 ], [ 1, $file, $file ], [ 2, $data, $data ], [ 4, 0, 0 ], [ 7, 64, 64 ], [ 9, $address, $address ]);
  for (@limits) {
    my ($resource, @bounds) = @$_;
    call(prlimit64 => 0, $resource, pack('QQ', @bounds), 0);
  }
}

# Where the kernel schedules sessions as groups (sched(7), autogroup), a nice value counts within one alone, and a tool has a session of its own.
sub lower_priority {
  setpriority(0, 0, $niceness) or fail('setpriority');
  open(my $group, '>', '/proc/self/autogroup') or return;
  print $group $niceness;
  close $group;
}

# landlock(7). REFER and the rights to make links, sockets, FIFOs and folders are in no rule.
sub restrict_files {
  my $abi = syscall(444, 0, 0, 1);    # landlock_create_ruleset: its version
  fail('Landlock (CONFIG_SECURITY_LANDLOCK, lsm=landlock, Linux 5.13)') if $abi < 1;
  my $handled = $abi >= 5 ? 0xffff : $abi >= 3 ? 0x7fff : $abi >= 2 ? 0x3fff : 0x1fff;
  # From version 4 TCP, from version 6 abstract UNIX sockets and signals.
  my $attributes = pack('QQQ', $handled, 3, 3);
  my $rules = syscall(444, $attributes, $abi >= 6 ? 24 : $abi >= 4 ? 16 : 8, 0);
  fail('landlock_create_ruleset') if $rules < 0;
  my $allow = sub {
    my ($path, $access, $is_optional) = @_;
    my $fd = syscall($nr{openat}, -100, my $copy = $path, 0x280000, 0);    # O_PATH | O_CLOEXEC
    return if $fd < 0 && $is_optional;
    $access &= 0x4007 if !-d $path;
    # EXECUTE, WRITE_FILE, READ_FILE, READ_DIR ... TRUNCATE is new in version 3.
    my $rule = pack('Ql', $access & $handled, $fd);
    fail($path) if $fd < 0 || syscall(445, $rules, 1, $rule, 0) != 0;    # landlock_add_rule
  };
  $allow->($_, 0xc, 1) for qw(/lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /etc/ld.so.cache /dev/urandom);
  $allow->($_, 0x5, 1) for qw(/lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1);
  $allow->('/dev/null', 0x6);
  $allow->($tool, 0x5);
  $allow->($_, 0xc) for @reads;
  # WRITE_FILE, READ_FILE, READ_DIR, MAKE_REG, TRUNCATE. A removed file that is open uses the disk, unseen by the watch of the folder.
  $allow->($_, 0x410e) for @writes;
  syscall(446, $rules, 0) == 0 or fail('landlock_restrict_self');
}

# An allow-list; every other call does not exist for the tool (ENOSYS).
sub restrict_calls {
  my @filter;
  my $add = sub { push @filter, pack('SCCL', @_) };
  my ($allowed, $errno) = (0x7fff0000, 0x50000);
  # Loads the low half of an argument and compares it. BPF: 0x20 load, 0x15 jump if equal, 0x54 and, 6 return.
  my $only = sub {
    my ($name, $argument, @values) = @_;
    $add->(0x15, 0, @values + 3, $nr{$name});
    $add->(0x20, 0, 0, 16 + 8 * $argument);
    $add->(0x15, @values - $_, 0, $values[$_]) for 0 .. $#values;
    $add->(6, 0, 0, $errno | 1);
    $add->(6, 0, 0, $allowed);
  };
  # Goes on with the next rule if the call is another one, or harmless.
  my $refuse = sub {
    my ($name, $argument, $mask, $value, $error) = @_;
    $add->(0x15, 0, 5, $nr{$name});
    $add->(0x20, 0, 0, 16 + 8 * $argument);
    $add->(0x54, 0, 0, $mask);
    $add->(0x15, 0, 1, $value);
    $add->(6, 0, 0, $errno | $error);
    $add->(0x20, 0, 0, 0);
  };
  my $unless = sub {
    my ($name) = @_;
    $refuse->(@_);
    $add->(0x15, 0, 1, $nr{$name});
    $add->(6, 0, 0, $allowed);
  };
  $add->(0x20, 0, 0, 4);    # the architecture: a 32-bit call kills
  $add->(0x15, 1, 0, $machine eq 'x86_64' ? 0xc000003e : 0xc00000b7);
  $add->(6, 0, 0, 0x80000000);
  $add->(0x20, 0, 0, 0);
  for (@plain) { $add->(0x15, 0, 1, $_); $add->(6, 0, 0, $allowed) }
  $only->($_, 0, $$) for qw(kill tgkill);
  $only->($_, 0, 0, $$) for qw(prlimit64 sched_getaffinity);
  $only->(prctl => 0, 15, 16, 23, 0x53564d41);    # names of threads and of memory, bounding set
  $only->(ioctl => 1, 0x5401, 0x5413, 0x5421, 0x541b, 0x5451);    # of terminals, and FIONBIO, FIONREAD, FIOCLEX
  $only->(fcntl => 1, 0 .. 7, 1030, 1032);    # no F_SETOWN
  $unless->(clone => 0, 0x10000, 0, 1);    # threads, and no processes
  $unless->(mmap => 3, 0x21, 0x21, 1);    # no MAP_SHARED | MAP_ANONYMOUS: RLIMIT_DATA does not count it
  # Landlock sees from version 3 on only that O_RDONLY | O_TRUNC empties a file. It never sees access mode 3, neither to read nor to write, which
  # opens and, with O_TRUNC, empties any file of the same user.
  for my $name (grep { defined $nr{$_} } qw(openat open)) {
    my $argument = $name eq 'open' ? 1 : 2;
    $refuse->($name, $argument, 3, 3, 13);
    $refuse->($name, $argument, 020000000, 020000000, 95);    # O_TMPFILE: a file without a name
    $unless->($name, $argument, 01003, 01000, 13);
  }
  $add->(6, 0, 0, $errno | 38);
  my $code = join '', @filter;
  my $program = pack('S x6 P', scalar @filter, $code);
  # SECCOMP_SET_MODE_FILTER
  syscall($nr{seccomp}, 1, 0, $program) == 0 or fail('seccomp filter (CONFIG_SECCOMP_FILTER)');
}

sub call {
  my ($name, @arguments) = @_;
  syscall($nr{$name}, @arguments) == 0 or fail($name);
}

sub fail { fail_with("$_[0]: $!") }

sub fail_with {
  print STDERR "sandbox: $_[0]\n";
  syscall($nr{write}, 3, my $byte = '!', 1) if $nr{write};
  exit 125;
}

# Each call's number on x86_64 and on aarch64. Above the rule: those that are allowed whatever their arguments are.
sub read_table {
  my $is_plain = 1;
  while (my $line = <DATA>) {
    $is_plain = 0 if $line eq "--\n";
    for (split /;/, $line) {
      my ($name, @numbers) = split;
      my $number = $numbers[ $column{$machine} ];
      next if !defined $number || $number eq '-';
      $nr{$name} = $number;
      push @plain, $number if $is_plain;
    }
  }
}
__DATA__
read 0 63; write 1 64; readv 19 65; writev 20 66; pread64 17 67; pwrite64 18 68; preadv 295 69; pwritev 296 70
close 3 57; lseek 8 62; fstat 5 80; newfstatat 262 79; statx 332 291; stat 4 -; lstat 6 -; access 21 -
faccessat 269 48; faccessat2 439 439; readlink 89 -; readlinkat 267 78; getcwd 79 17; getdents64 217 61
ftruncate 77 46; fadvise64 221 223; fsync 74 82; fdatasync 75 83; sendfile 40 71; copy_file_range 326 285
statfs 137 43; fstatfs 138 44; dup 32 23; dup2 33 -; dup3 292 24; pipe 22 -; pipe2 293 59; eventfd2 290 19
epoll_create1 291 20; epoll_ctl 233 21; epoll_wait 232 -; epoll_pwait 281 22; epoll_pwait2 441 441; poll 7 -
ppoll 271 73; select 23 -; pselect6 270 72; getsockname 51 204; getsockopt 55 209; brk 12 214
munmap 11 215; mprotect 10 226; mremap 25 216; madvise 28 233; mlock 149 228; munlock 150 229; mincore 27 232
membarrier 324 283; pkey_alloc 330 289; pkey_free 331 290; pkey_mprotect 329 288; get_mempolicy 239 236
set_mempolicy 238 237; mbind 237 235; futex 202 98; set_robust_list 273 99; rseq 334 293
set_tid_address 218 96; sched_yield 24 124; sched_getparam 143 121; sched_getscheduler 145 120
sched_get_priority_max 146 125; sched_get_priority_min 147 126; rt_sigaction 13 134; rt_sigprocmask 14 135
rt_sigreturn 15 139; rt_sigpending 127 136; rt_sigtimedwait 128 137; sigaltstack 131 132
restart_syscall 219 128; exit 60 93; exit_group 231 94; execve 59 221; getpid 39 172; getppid 110 173
gettid 186 178; getuid 102 174; geteuid 107 175; getgid 104 176; getegid 108 177; capget 125 90
getrandom 318 278; clock_gettime 228 113; clock_getres 229 114; clock_nanosleep 230 115; nanosleep 35 101
gettimeofday 96 169; time 201 -; times 100 153; getrusage 98 165; uname 63 160; sysinfo 99 179
getrlimit 97 163; arch_prctl 158 -
--
prctl 157 167; seccomp 317 277; capset 126 91; prlimit64 302 261; kill 62 129; tgkill 234 131
sched_getaffinity 204 123; ioctl 16 29; fcntl 72 25; clone 56 220; openat 257 56; open 2 -; mmap 9 222; close_range 436 436
