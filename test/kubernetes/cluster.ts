import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { root } from '../containers/compose-system.ts';

/**
 * The command that makes clusters for these tests. `up` prints KUBECONFIG and PATH for a shell, `load IMAGE...` copies images from
 * Docker to every node, `stop NODE` and `start NODE` switch a node's power, `down` removes everything.
 */
const tool = resolve(root, process.env['KUBERNETES_TOOL'] ?? '../shared/tools/kubernetes');

// The first start builds Kubernetes.
const upMs = 45 * 60_000;
const toolMs = 15 * 60_000;
const kubectlMs = 10 * 60_000;

export const nodes = ['node-1', 'node-2', 'node-3'];

/** A cluster of three nodes. */
export interface Cluster {
  /** The environment in which shell commands find kubectl and the cluster. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs kubectl, for the namespace `echodrop` unless `words` name another. @returns its output */
  kubectl(...words: string[]): Promise<string>;
  /** Runs kubectl with standard input. */
  kubectlWith(input: string, ...words: string[]): Promise<string>;
  /** Follows a watch of the API, one JSON object a line, also after an interruption. */
  watch(path: string): Watch;
  /** Copies images from Docker to every node. */
  load(images: readonly string[]): Promise<void>;
  /** Switches a node off, without a shutdown. */
  powerOff(node: string): Promise<void>;
  powerOn(node: string): Promise<void>;
  /** Removes the cluster. */
  down(): Promise<void>;
}

export interface Watch {
  readonly output: Readable;
  stop(): void;
}

/** Starts the cluster unless it runs. @throws Error that names the requirements, if the tool is missing */
export async function startCluster(): Promise<Cluster> {
  if (!existsSync(tool))
    throw new Error(
      `test:kubernetes needs Linux, root, Go and a tool that makes clusters (${tool}); set KUBERNETES_TOOL`,
    );
  const { stdout } = await execa(tool, ['up'], { timeout: upMs, stderr: 'inherit' });
  const [, kubeconfig = '', path = ''] = /KUBECONFIG=(\S+) PATH=(\S+):\$PATH/.exec(stdout) ?? [];
  const env = { KUBECONFIG: kubeconfig, PATH: `${path}:${process.env['PATH']}` };
  const run = async (...words: string[]) => void (await execa(tool, words, { timeout: toolMs, stderr: 'inherit' }));
  const kubectlWith = async (input: string, ...words: string[]) =>
    (await execa('kubectl', ['--namespace=echodrop', ...words], { env, input, timeout: kubectlMs })).stdout;
  return {
    env,
    kubectl: (...words) => kubectlWith('', ...words),
    kubectlWith,
    watch: (path) => {
      const again = 'while kill -0 "$PPID"; do kubectl get --raw "$0"; sleep 1; done';
      const child = execa('sh', ['-c', again, path], { env, buffer: false, reject: false, detached: true });
      return { output: child.stdout, stop: () => void process.kill(-(child.pid ?? Number.NaN)) };
    },
    load: (images) => run('load', ...images),
    powerOff: (node) => run('stop', node),
    powerOn: (node) => run('start', node),
    down: () => run('down'),
  };
}
