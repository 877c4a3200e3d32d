import type { RedisClient } from '@echodrop/service/redis/redis-client';

/** Whether a client waits for the job. */
type Attendance = 'awaited' | 'unattended';

// Awaited jobs precede unattended ones by so many turns. The number is small, so that one owner's awaited jobs do not hold up the uploads of others.
const headStart = 10;
// BullMQ allows no larger one.
const maxPriority = 2 ** 21 - 1;
// No job waits for so long.
const keptSeconds = 7 * 24 * 60 * 60;

// KEYS: BullMQ's jobs with a priority, whose score is the priority times 2^32 plus a counter; the last turn of each owner.
// ARGV: the head start, the seconds, the attendance, the owners. A priority is twice the turn, head start included, and odd for unattended
// jobs. If the first job is awaited, the turn of unattended jobs is the last one seen, and at most a head start behind.
const nextTurns = `
local headStart, isAwaited = tonumber(ARGV[1]), ARGV[3] == 'awaited'
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local current = 1
if first then
  local priority = math.floor(tonumber(first) / 4294967296)
  current = math.floor(priority / 2)
  if priority % 2 == 1 then
    current = current - headStart
    redis.call('HSET', KEYS[2], ':unattended', current)
  elseif not isAwaited then
    current = math.max(current - headStart, tonumber(redis.call('HGET', KEYS[2], ':unattended') or 1))
  end
else
  redis.call('DEL', KEYS[2])
end
local turns = {}
for n = 4, #ARGV do
  local field = isAwaited and ARGV[n] .. ':awaited' or ARGV[n]
  turns[n - 3] = math.max(1, current, tonumber(redis.call('HGET', KEYS[2], field) or 0) + 1)
  redis.call('HSET', KEYS[2], field, turns[n - 3])
end
redis.call('EXPIRE', KEYS[2], ARGV[2])
return turns`;

/**
 * Round robin among the owners of a queue's jobs, by BullMQ's priorities: an owner's next job has the turn after that owner's last one, or
 * the current turn. So a job waits for running jobs, and for at most one job of each other owner per job of its own owner before it.
 * No counter decreases when a job ends, so none can leak: an empty queue forgets all turns.
 */
export class OwnerRoundRobin {
  readonly #redis: Pick<RedisClient, 'eval'>;
  readonly #keys: readonly [prioritized: string, turns: string];

  constructor(redis: Pick<RedisClient, 'eval'>, queue: { toKey(type: string): string }) {
    this.#redis = redis;
    this.#keys = [queue.toKey('prioritized'), queue.toKey('turns')];
  }

  /** The priorities of these owners' next jobs, in one round trip. Errors of Redis reject. */
  async next(owners: readonly string[], attendance: Attendance): Promise<number[]> {
    const args = [headStart, keptSeconds, attendance, ...owners];
    const turns = (await this.#redis.eval(nextTurns, 2, ...this.#keys, ...args)) as number[];
    return turns.map((turn) => Math.min(maxPriority, attendance === 'awaited' ? 2 * turn : 2 * (turn + headStart) + 1));
  }
}

export function isUnattended(priority: number): boolean {
  return priority % 2 === 1;
}
