import type { Secret } from '../secret.ts';
import { readRedisAddress } from './redis-address.ts';

const longestMs = 15_000;
// A server that becomes master, or is no longer, sends these replies.
const replies = /^(READONLY|NOREPLICAS|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)/;

/**
 * How long, in milliseconds, a failed command is worth another try; 0 for a single server. A failover takes about a second if a master
 * stops in order, and eight if it dies.
 */
export function failoverMsOf(url: Secret): number {
  return readRedisAddress(url.reveal()).kind === 'server' ? 0 : longestMs;
}

/** Whether a command failed because of the connection or the server's role, and not because of the command. */
export function mayEndWithFailover(error: unknown): boolean {
  return !(error instanceof Error && error.name === 'ReplyError') || replies.test(error.message);
}
