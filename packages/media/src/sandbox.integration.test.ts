import { once } from 'node:events';
import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, expect, test } from 'vitest';
import { boundedEnd } from './bounded-process.ts';
import { sandboxFault, setSandboxMode, startInSandbox } from './sandbox.ts';
import { collectOutput } from './tool-answer.ts';

const limits = { seconds: 10, cpuSeconds: 5, addressBytes: 1024 ** 3, fileBytes: 512 * 1024 };
const bounds = { deadlineMs: 10_000, mostOutputBytes: 64 * 1024, signal: new AbortController().signal };

afterEach(() => setSandboxMode('full'));

async function run(tool: readonly [string, ...string[]], files = {}) {
  const child = startInSandbox(tool, limits, files);
  const printed = collectOutput(child);
  const end = await boundedEnd(child, bounds);
  return { end, ...printed() };
}

/** A Perl program that tries each of these, and prints what it could do. Perl can do in one process what a hijacked decoder could. */
const attempts: Record<string, string> = {
  // What a tool is there for.
  'read its input': 'open(F, "<", "$dir/in/media") && <F>',
  'write into its job folder': 'open(F, ">", "$dir/job/made") && print(F "made") && close F',
  'read what it wrote': 'open(F, "<", "$dir/job/made") && <F>',
  'start a thread, as far as the filter goes': 'syscall(56, 0x10000, 0, 0, 0, 0) < 0 && $!{EINVAL}',
  // What it must not do.
  'read a secret': 'open(F, "<", "$dir/secret") && <F>',
  'read a file of the system': 'open(F, "<", "/etc/passwd") && <F>',
  'list a folder': 'opendir(D, $dir)',
  'list processes': 'opendir(D, "/proc")',
  'read the environment of its worker': 'open(F, "<", "/proc/$worker/environ") && <F>',
  'read the command line of its worker': 'open(F, "<", "/proc/$worker/cmdline") && <F>',
  'write into its worker': 'open(F, "+<", "/proc/$worker/mem")',
  'write a file': 'open(F, ">", "$dir/written")',
  'empty a file': 'open(F, "+>", "$dir/secret")',
  'empty a file without writing': 'sysopen(F, "$dir/secret", 01000)',
  'change its input': 'open(F, "+<", "$dir/in/media")',
  'remove its input': 'unlink("$dir/in/media")',
  'change modes': 'chmod(0777, "$dir/secret")',
  'make a hard link': 'link("$dir/secret", "$dir/job/hard")',
  'make a symbolic link': 'symlink("/proc/self/environ", "$dir/job/soft")',
  'make a FIFO': 'syscall(133, "$dir/job/fifo", 010600, 0) == 0',
  'make a folder': 'mkdir("$dir/job/folder")',
  'connect to a UNIX socket': 'socket(S, 1, 1, 0) && connect(S, pack("S a108", 1, "$dir/socket"))',
  'connect by TCP': 'socket(S, 2, 1, 0) && connect(S, pack("S n N x8", 2, $port, 0x7f000001))',
  'make an UDP socket': 'socket(S, 2, 2, 0)',
  'make a netlink socket': 'socket(S, 16, 3, 0)',
  'make a pair of sockets': 'socketpair(S, T, 1, 1, 0)',
  'see whether its worker is there': 'kill(0, $worker)',
  'signal its worker': 'kill("CONT", $worker)',
  'change limits of its worker': 'syscall(302, $worker, 4, pack("QQ", 0, 0), 0) == 0',
  'change the priority of its worker': 'setpriority(0, $worker, 5)',
  'trace its worker': 'syscall(101, 0x4206, $worker, 0, 0) == 0',
  'start a process': 'defined(my $pid = fork) && ($pid || POSIX::_exit(0))',
  'become another program': 'exec("/bin/true")',
  'outlive its worker': 'syscall(157, 1, 0, 0, 0, 0) == 0',
  'leave its group': 'syscall(112) >= 0 || syscall(109, 0, 0) == 0',
  'make a file in memory': 'syscall(319, my $name = "x", 0) >= 0',
  'use io_uring': 'syscall(425, 4, my $p = "\\0" x 120) >= 0',
};
const wanted = Object.keys(attempts).slice(0, 4);

test.runIf(process.arch === 'x64')(
  'a hijacked tool reaches its input and its job folder, and nothing else',
  async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'sandbox-'));
    const dir = folder.path;
    for (const each of ['in', 'job']) await mkdir(join(dir, each));
    await writeFile(join(dir, 'in/media'), 'media');
    await writeFile(join(dir, 'secret'), 'secret');
    await using listening = createServer().listen(join(dir, 'socket'));
    await using listeningByTcp = createServer().listen(0, '127.0.0.1');
    await Promise.all([listening, listeningByTcp].map((each) => each.listening || once(each, 'listening')));
    const { port } = listeningByTcp.address() as { port: number };
    const tries = Object.entries(attempts).map(([name, code]) => `print "${name}\\n" if eval { ${code} };`);
    const begin = `use POSIX (); use Errno; $| = 1; my ($dir, $worker, $port) = @ARGV; print "begun\\n";`;
    const program = join(dir, 'in/hijacked.pl');
    await writeFile(program, [begin, ...tries].join('\n'));

    const args = [program, dir, `${process.pid}`, `${port}`];
    const files = { reads: [join(dir, 'in'), '/usr/share/perl', '/etc/perl'], writes: [join(dir, 'job')] };
    const { end, stdout, stderr } = await run(['/usr/bin/perl', ...args], files);
    expect({ end, stderr, done: stdout.trim().split('\n') }).toEqual({
      end: 'done',
      stderr: '',
      done: ['begun', ...wanted],
    });
    expect(await readFile(join(dir, 'secret'), 'utf8')).toBe('secret');
    expect(await readdir(join(dir, 'job'))).toEqual(['made']);
  },
);

test('a tool has the limits that were given, no environment and no new privileges', async () => {
  process.env.S3_SECRET_KEY = 'a secret';
  setSandboxMode('limits-only');
  const said =
    'ulimit -t; ulimit -Ht; ulimit -v; ulimit -n; ulimit -c; ulimit -f; grep NoNewPrivs /proc/self/status; env';
  const { stdout } = await run(['sh', '-c', said]);
  delete process.env.S3_SECRET_KEY;
  const [seconds, ...others] = stdout.split(/\s+/);
  expect([seconds, ...others.slice(0, 7)]).toEqual(['5', '6', '1048576', '64', '0', '1024', 'NoNewPrivs:', '1']);
  expect(stdout).not.toContain('a secret');
});

test('a tool is killed in time if nobody else does so', async () => {
  setSandboxMode('limits-only');
  const child = startInSandbox(['sleep', '60'], { ...limits, seconds: -1 }, {});
  expect(await once(child, 'exit')).toEqual([null, 'SIGALRM']);
});

test('what this machine lacks is named', async () => {
  expect(await sandboxFault()).toBeUndefined();
  const { stderr, exitCode } = await execa(
    join(import.meta.dirname, 'sandbox'),
    ['full', ...'1 1 1000000000 1000000000 0'.split(' '), '--', 'no-such-tool'],
    { reject: false },
  );
  expect({ stderr, exitCode }).toEqual({ stderr: 'sandbox: no-such-tool is not in PATH', exitCode: 125 });
});
