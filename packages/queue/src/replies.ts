import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '@echodrop/service/redis/redis';
import { nodesOf, onEachNode, type RedisNode } from '@echodrop/service/redis/redis-client';

/** The end of a job: its reply, or the message of its error. */
export type End<R> = { readonly reply: R } | { readonly failure: string };

/** How long the end of a job is reused for later requests of the same job; then they run it again. Redis keeps the latest 10,000 ends. */
export interface EndReuse<R> {
  readonly seconds: (end: End<R>) => number;
  readonly maxSeconds: number;
}

/** An end in Redis, whose key `answer` is wire format. Only its seal proves that a worker wrote it. */
export type WireEnd<R> = { readonly answer: R; readonly seal?: unknown } | { readonly failure: string };

type ReplyMessage = WireEnd<unknown> & { readonly jobId: string };

type Listener = (end: WireEnd<never>) => void;

/** Ends when disposed of. */
interface Subscription extends Disposable {
  /** Where the worker publishes. */
  readonly channel: string;
  /** Resolves once no reply can be missed, or if Redis is out of reach. */
  readonly established: Promise<void> | undefined;
}

export function encodeReply(jobId: string, end: WireEnd<unknown>): string {
  return JSON.stringify({ jobId, ...end } satisfies ReplyMessage);
}

/** Receives the ends of the jobs that this process waits for. A lost connection loses replies; clients poll the job too. */
export class Replies {
  readonly #ownChannel: string;
  readonly #redis: RedisConnection;
  readonly #own = new Map<string, Listener>();
  readonly #shared = new Map<string, Set<Listener>>();

  /** Subscribes on the connections of `redis`, which also take commands (RESP3). */
  constructor(redis: RedisConnection) {
    this.#redis = redis;
    this.#ownChannel = `${redis.names.queues}:replies:${randomUUID()}`;
    onEachNode(redis, (node) => this.#listen(node));
  }

  /** The channel for the end of a shared job. */
  sharedChannel(queue: string, jobId: string): string {
    return `${this.#redis.names.queues}:${queue}:ended:${jobId}`;
  }

  receiveOwn<R>(jobId: string, listener: (end: WireEnd<R>) => void): Subscription {
    this.#own.set(jobId, listener);
    return { channel: this.#ownChannel, established: undefined, [Symbol.dispose]: () => this.#own.delete(jobId) };
  }

  receiveShared<R>(queue: string, jobId: string, listener: (end: WireEnd<R>) => void): Subscription {
    const channel = this.sharedChannel(queue, jobId);
    const listeners = this.#shared.get(channel) ?? new Set();
    this.#shared.set(channel, listeners.add(listener));
    const established = this.#onNodes((node) => node.ssubscribe(channel));
    return { channel, established, [Symbol.dispose]: () => this.#unsubscribe(channel, listener) };
  }

  /** Call when a reply was missed. */
  resubscribe(): void {
    this.#onNodes((node) => this.#subscribe(node));
  }

  #listen(node: RedisNode): void {
    node.on('ready', () => this.#subscribe(node).catch(() => {}));
    node.on('smessage', (channel: string, message: string) => this.#dispatch(channel, message));
  }

  async #subscribe(node: RedisNode): Promise<void> {
    // One by one: a node of a cluster refuses channels of other nodes.
    await Promise.all([this.#ownChannel, ...this.#shared.keys()].map((channel) => node.ssubscribe(channel)));
  }

  // All channels belong to the node with the queues; other nodes of a cluster refuse them.
  async #onNodes(act: (node: RedisNode) => Promise<unknown>): Promise<void> {
    const ready = nodesOf(this.#redis).filter(({ status }) => status === 'ready');
    await Promise.allSettled(ready.map(act));
  }

  #unsubscribe(channel: string, listener: Listener): void {
    const listeners = this.#shared.get(channel);
    listeners?.delete(listener);
    if (listeners?.size !== 0) return;
    this.#shared.delete(channel);
    this.#onNodes((node) => node.sunsubscribe(channel));
  }

  #dispatch(channel: string, message: string): void {
    const reply = decodeReply(message);
    if (!reply) return;
    if (channel === this.#ownChannel) this.#own.get(reply.jobId)?.(reply);
    else for (const listener of this.#shared.get(channel) ?? []) listener(reply);
  }
}

function decodeReply(message: string): (ReplyMessage & WireEnd<never>) | undefined {
  try {
    const reply = JSON.parse(message);
    return typeof reply === 'object' && reply !== null ? reply : undefined;
  } catch {
    return undefined;
  }
}
