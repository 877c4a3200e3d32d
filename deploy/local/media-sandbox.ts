import { isOfKernel, sandboxFault, toError } from '@echodrop/media/sandbox/prepare-tools';
import type { ServiceName } from './services.ts';
import { say } from './terminal.ts';

type Environments = ReadonlyMap<ServiceName, NodeJS.ProcessEnv>;

/**
 * Chooses `limits-only` for workers without MEDIA_SANDBOX if the kernel lacks a feature: a local system still runs. A worker
 * in a container would refuse to start.
 * @throws Error for other faults, such as a broken tool, unless MEDIA_SANDBOX is set for every worker
 */
export async function withSandboxMode(environments: Environments, findFault = sandboxFault): Promise<Environments> {
  const undecided = [...environments].filter(([name, env]) => name.endsWith('-worker') && !env['MEDIA_SANDBOX']);
  const fault = undecided.length > 0 ? await findFault() : undefined;
  if (!fault) return environments;
  if (!isOfKernel(fault)) throw toError(fault, 'full');
  say('media', `cannot confine media tools (${fault}); they run with resource limits only`);
  const limited = undecided.map(([name, env]) => [name, { ...env, MEDIA_SANDBOX: 'limits-only' }] as const);
  return new Map([...environments, ...limited]);
}
