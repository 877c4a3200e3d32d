import type { RedisClient } from '@echodrop/service/redis/redis-client';
import type { ProofKeys } from './cache-keys.ts';

// Longer than providers accept a signed header.
const pendingSeconds = 15 * 60;

/** This verifier must query the provider. */
export interface Leased {
  readonly state: 'leased';
  /** The count of forgotten users before the query. */
  readonly since: number;
  /** Whether an earlier query with this proof had no outcome. */
  readonly isPending: boolean;
}

/**
 * What the cache has on a proof. `cached`: a verdict, and the count of users forgotten so far. `leased_elsewhere`: another verifier queries the
 * provider. `unleased`: there is nothing, and the lease was not wanted.
 */
type LookUp =
  | { readonly state: 'cached'; readonly verdict: string; readonly since: number }
  | Leased
  | { readonly state: 'leased_elsewhere' }
  | { readonly state: 'unleased' };

interface LookUpOptions {
  /** A cached verdict that is not valid, and is deleted; empty: none. */
  readonly invalid: string;
  readonly mayLease: boolean;
  /** 0: the lease is taken at once by any number of verifiers. */
  readonly leaseMs: number;
}

interface Settlement {
  /** The verdict to cache, for `seconds`; 0: none. */
  readonly verdict: string;
  readonly seconds: number;
  readonly isRefusal: boolean;
  /** Whether the provider may have received the proof and its response is unknown. */
  readonly isPending: boolean;
}

// An evicted count restarts at the clock in microseconds. Each forgotten user takes Redis longer, so the new count exceeds all earlier ones.
const forgets = `
local function forgets(counter)
  local count = redis.call('GET', counter)
  if count then return count end
  local time = redis.call('TIME')
  local first = time[1] .. string.format('%06d', time[2])
  redis.call('SET', counter, first)
  return first
end
`;

const scripts = {
  echodropLookUp: `${forgets}
local counter, verdict, lease, pending = unpack(KEYS)
local invalid, mayLease, leaseMs, pendingSeconds = unpack(ARGV)
local cached = redis.call('GET', verdict)
if cached == invalid then
  redis.call('DEL', verdict)
elseif cached then
  return cjson.encode({ state = 'cached', verdict = cached, since = forgets(counter) })
end
if redis.call('EXISTS', lease) == 1 then return cjson.encode({ state = 'leased_elsewhere' }) end
if mayLease == '0' then return cjson.encode({ state = 'unleased' }) end
if leaseMs ~= '0' then redis.call('SET', lease, 1, 'PX', leaseMs) end
local isPending = not redis.call('SET', pending, 1, 'EX', pendingSeconds, 'NX')
return cjson.encode({ state = 'leased', since = forgets(counter), isPending = isPending })
`,
  echodropSettle: `
local verdict, lease, pending = unpack(KEYS)
local text, seconds, isRefusal, isPending = unpack(ARGV)
if seconds ~= '0' then
  if isRefusal == '1' then
    -- If there is a verdict, the provider received this proof twice: it was valid once and is refused now.
    redis.call('SET', verdict, text, 'EX', seconds, 'NX')
  else
    redis.call('SET', verdict, text, 'EX', seconds)
  end
end
if isPending == '0' then redis.call('DEL', pending) end
redis.call('DEL', lease)
`,
  echodropForget: `${forgets}
local counter, mark = unpack(KEYS)
local markSeconds = unpack(ARGV)
forgets(counter)
redis.call('SET', mark, redis.call('INCR', counter), 'EX', markSeconds)
`,
};

/** The steps that must be atomic. Each takes one round trip. They throw what Redis throws. */
export class CacheScripts {
  readonly #redis: RedisClient;

  /** Registers the scripts: each connection gets the text once, then its hash. */
  constructor(redis: RedisClient) {
    this.#redis = redis;
    for (const [name, lua] of Object.entries(scripts)) redis.defineCommand(name, { lua });
  }

  /** Finds a verdict, or takes the lease. */
  async lookUp(counter: string, { verdict, lease, pending }: ProofKeys, options: LookUpOptions): Promise<LookUp> {
    const { invalid, mayLease, leaseMs } = options;
    const args = [invalid, Number(mayLease), leaseMs, pendingSeconds];
    const found = await this.#run('echodropLookUp', [counter, verdict, lease, pending], args);
    // A text, because Lua would round the number.
    return JSON.parse(`${found}`, (name, value) => (name === 'since' ? Number(value) : value));
  }

  /** Ends the lease, and caches a verdict. */
  async settle({ verdict, lease, pending }: ProofKeys, settlement: Settlement): Promise<void> {
    const { verdict: text, seconds, isRefusal, isPending } = settlement;
    await this.#run('echodropSettle', [verdict, lease, pending], [text, seconds, Number(isRefusal), Number(isPending)]);
  }

  /** Increments the counter, and marks a user with it. */
  async forget(counter: string, mark: string, markSeconds: number): Promise<void> {
    await this.#run('echodropForget', [counter, mark], [markSeconds]);
  }

  #run(name: keyof typeof scripts, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    type Run = (count: number, ...keysAndArgs: (string | number)[]) => Promise<unknown>;
    return (this.#redis as unknown as Record<typeof name, Run>)[name](keys.length, ...keys, ...args);
  }
}
