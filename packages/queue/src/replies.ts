import { randomUUID } from 'node:crypto';
import { nodesOf, onEachNode, type RedisClient, type RedisNode } from '@echodrop/service/redis/redis-client';
import { queuePrefix } from './queue-connection.ts';

/** How a job ended: with an answer, or with the message of the error that it failed with. */
export type End<A> = { readonly answer: A } | { readonly failure: string };

/** The same as Redis carries it: only its seal shows whether an answer is the worker's. */
export type WireEnd<A> = { readonly answer: A; readonly seal?: unknown } | { readonly failure: string };

/** What a worker publishes when a job has ended. */
type Reply = WireEnd<unknown> & { readonly jobId: string };

type Listener = (end: WireEnd<never>) => void;

/** Ends when it is disposed of. */
interface Listening extends Disposable {
  /** Where the worker is to publish. */
  readonly channel: string;
  /** Resolves when no end can be missed from now on, or where Redis is out of reach. */
  readonly established: Promise<void> | undefined;
}

/** The message that tells `end`. */
export function encodeReply(jobId: string, end: WireEnd<unknown>): string {
  return JSON.stringify({ jobId, ...end } satisfies Reply);
}

/** The channel for the end of a job that several processes may wait for. */
export function sharedChannel(queue: string, jobId: string): string {
  return `${queuePrefix}:${queue}:ended:${jobId}`;
}

/**
 * Receives the ends of the jobs that this process waits for, and of no others: those of its own jobs on one channel, those of a shared
 * job on the job's channel, which is subscribed to only while somebody waits. A reply is lost where the connection is; whoever waits
 * looks at the job too.
 */
export class Replies {
  readonly #ownChannel = `${queuePrefix}:replies:${randomUUID()}`;
  readonly #redis: RedisClient;
  readonly #own = new Map<string, Listener>();
  readonly #shared = new Map<string, Set<Listener>>();

  /** Subscribes on the connections of `redis`, which commands go on using (RESP3). */
  constructor(redis: RedisClient) {
    this.#redis = redis;
    onEachNode(redis, (node) => this.#listen(node));
  }

  /** Tells `listener` the end of a job of this process's own. */
  own<A>(jobId: string, listener: (end: WireEnd<A>) => void): Listening {
    this.#own.set(jobId, listener);
    return { channel: this.#ownChannel, established: undefined, [Symbol.dispose]: () => this.#own.delete(jobId) };
  }

  /** Tells `listener` the end of a job that several processes may wait for. */
  shared<A>(channel: string, listener: (end: WireEnd<A>) => void): Listening {
    const listeners = this.#shared.get(channel) ?? new Set();
    this.#shared.set(channel, listeners.add(listener));
    const established = this.#onNodes((node) => node.ssubscribe(channel));
    return { channel, established, [Symbol.dispose]: () => this.#leave(channel, listener) };
  }

  /** Subscribes anew, where a reply did not come: costs nothing where the subscription stands. */
  renew(): void {
    this.#onNodes((node) => this.#subscribe(node));
  }

  #listen(node: RedisNode): void {
    node.on('ready', () => this.#subscribe(node).catch(() => {}));
    node.on('smessage', (channel: string, message: string) => this.#received(channel, message));
  }

  async #subscribe(node: RedisNode): Promise<void> {
    // One by one: of a cluster's channels each is refused by itself.
    await Promise.all([this.#ownChannel, ...this.#shared.keys()].map((channel) => node.ssubscribe(channel)));
  }

  // All channels are of the node that has the queues; the others of a cluster refuse them.
  async #onNodes(act: (node: RedisNode) => Promise<unknown>): Promise<void> {
    await Promise.allSettled(
      nodesOf(this.#redis)
        .filter(({ status }) => status === 'ready')
        .map(act),
    );
  }

  #leave(channel: string, listener: Listener): void {
    const listeners = this.#shared.get(channel);
    listeners?.delete(listener);
    if (listeners?.size !== 0) return;
    this.#shared.delete(channel);
    this.#onNodes((node) => node.sunsubscribe(channel));
  }

  #received(channel: string, message: string): void {
    const reply = readReply(message);
    if (!reply) return;
    if (channel === this.#ownChannel) this.#own.get(reply.jobId)?.(reply);
    else for (const listener of this.#shared.get(channel) ?? []) listener(reply);
  }
}

// What cannot be read is as good as a reply that was lost.
function readReply(message: string): (Reply & WireEnd<never>) | undefined {
  try {
    const reply = JSON.parse(message);
    return typeof reply === 'object' && reply !== null ? reply : undefined;
  } catch {
    return undefined;
  }
}
