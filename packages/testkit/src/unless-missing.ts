import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What a skipped test needs, and how to get it. */
    needs?: string;
  }
}

/** What tests need beyond the packages: how to get it, and the variable that makes a missing tool a failure. */
const tools = {
  MinIO: { from: 'set MINIO_BIN to a MinIO program, or start Docker', required: 'REQUIRE_MINIO' },
  'a MinIO program': { from: 'set MINIO_BIN to a MinIO program' },
  mc: { from: 'set MC_BIN to a MinIO client' },
  Chromium: { from: 'apt-get install chromium', required: 'REQUIRE_BROWSER' },
  'a C compiler': { from: 'apt-get install gcc libc6-dev', required: 'REQUIRE_COMPILER' },
  'another disk': { from: 'mount a tmpfs at /dev/shm' },
  'IPv6 on loopback': { from: 'give the interface lo the address ::1' },
  openssl: { from: 'apt-get install openssl' },
  rsync: { from: 'apt-get install rsync' },
  script: { from: 'apt-get install bsdutils' },
  strace: { from: 'apt-get install strace' },
  curl: { from: 'apt-get install curl', required: 'REQUIRE_CLIENTS' },
  "Python's HTTP clients": {
    from: 'pip install requests requests-toolbelt httpx h2 aiohttp in a virtual environment that is in PATH',
    required: 'REQUIRE_CLIENTS',
  },
  "Python's requests-oauthlib": { from: 'apt-get install python3-requests-oauthlib', required: 'REQUIRE_CLIENTS' },
  tuspy: { from: 'pip install tuspy in a virtual environment that is in PATH', required: 'REQUIRE_CLIENTS' },
  aiotus: { from: 'pip install aiotus in a virtual environment that is in PATH', required: 'REQUIRE_CLIENTS' },
  'PHP with curl': { from: 'apt-get install php-cli php-curl', required: 'REQUIRE_CLIENTS' },
  'Java libraries': {
    from: 'apt-get install default-jdk-headless maven, then mvn -f test/clients/java dependency:copy-dependencies',
    required: 'REQUIRE_CLIENTS',
  },
  Go: { from: 'put Go in PATH, and set GO_TUS to a clone of github.com/eventials/go-tus if your Go proxy lacks it' },
  Cargo: { from: 'put Cargo in PATH' },
  nginx: { from: 'apt-get install nginx-light' },
  haproxy: { from: 'apt-get install haproxy' },
  'Node 20 and 24': { from: 'set NODE_20_BIN to a Node 20', required: 'REQUIRE_NODES' },
  kustomize: { from: 'go install sigs.k8s.io/kustomize/kustomize/v5@latest', required: 'REQUIRE_OPS_CHECKERS' },
  kubeconform: {
    from: 'go install github.com/yannh/kubeconform/cmd/kubeconform@latest',
    required: 'REQUIRE_OPS_CHECKERS',
  },
  promtool: { from: 'apt-get install prometheus', required: 'REQUIRE_OPS_CHECKERS' },
  prometheus: { from: 'apt-get install prometheus', required: 'REQUIRE_OPS_CHECKERS' },
  hadolint: { from: 'put hadolint in PATH', required: 'REQUIRE_OPS_CHECKERS' },
  actionlint: {
    from: 'go install github.com/rhysd/actionlint/cmd/actionlint@latest',
    required: 'REQUIRE_OPS_CHECKERS',
  },
  'recorded clients': { from: "put the maintainers' recordings in ../shared/clients" },
  'sample media of other programs': { from: "put the maintainers' samples in ../shared/samples" },
  'media of public reports': { from: "put the maintainers' samples in ../shared/reports/media" },
  root: { from: 'run the tests as root' },
  'Landlock 4': { from: 'use Linux 6.7 or newer' },
} as const satisfies Record<string, { from: string; required?: string }>;

export type Tool = keyof typeof tools;

/**
 * Returns options for a test or suite that needs tools, by name and whether it is there. If one is missing, they skip it, and the end of the run says why.
 * @throws Error if a tool is missing and its variable REQUIRE_... is 1
 */
export function unlessMissing(needed: Partial<Record<Tool, boolean>>): TestOptions {
  const missing = (Object.keys(needed) as Tool[]).filter((tool) => !needed[tool]);
  if (missing.length === 0) return {};
  const reasons = missing.map((tool) => {
    const { from, required }: { from: string; required?: string } = tools[tool];
    if (required !== undefined && process.env[required] === '1')
      throw new Error(`${required}=1, but ${tool} is missing`);
    return `${tool} is missing. To run them: ${from}`;
  });
  return { skip: true, meta: { needs: reasons.join('; ') } };
}
