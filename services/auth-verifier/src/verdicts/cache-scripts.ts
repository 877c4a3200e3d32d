import type { RedisClient } from '@echodrop/service/redis/redis-client';

/** A script of Redis. Its first key is the count of forgettings. */
interface Script {
  readonly name: string;
  readonly lua: string;
}

type Run = (...keysThenArguments: readonly (string | number)[]) => Promise<unknown>;

// KEYS: the counter; for each of n secrets verdict, question, unanswered; then none or n uses. ARGV[1] is n.
const layout = `
local n = tonumber(ARGV[1])
local function verdict(i) return KEYS[3 * i - 1] end
local function question(i) return KEYS[3 * i] end
local function unanswered(i) return KEYS[3 * i + 1] end
local function use(i) return KEYS[3 * n + 1 + i] end
local hasUses = #KEYS > 3 * n + 1
-- The last arguments: n users where there are uses, then verdicts that are not believed.
local function user(first, i) return ARGV[first + i] end
local function isPassed(first, text)
  for i = first + (hasUses and n or 0) + 1, #ARGV do
    if ARGV[i] == text then return true end
  end
  return false
end
`;

// A count that was evicted restarts at the clock in microseconds. Redis needs longer for one forgetting, so the new count is higher than every earlier one.
const count = `
local function forgets()
  local known = redis.call('GET', KEYS[1])
  if known then return known end
  local time = redis.call('TIME')
  local begun = time[1] .. string.format('%06d', time[2])
  redis.call('SET', KEYS[1], begun)
  return begun
end
`;

/**
 * Writes a use down, finds a verdict, or takes the lease of its question: all at one instant.
 * ARGV: n, reuse, seconds of a use, whether verdicts are shared, whether the question may be taken, for how many ms (0: it is everybody's),
 * seconds of an unanswered one, users, verdicts not believed. Gives a word for the use ('' where there is none), one for what was
 * found, and what belongs to that.
 */
export const lookUp: Script = {
  name: 'echodropLookUp',
  lua: `${layout}${count}
local reuse, useSeconds, isShared, mayTake, leaseMs, unansweredSeconds = unpack(ARGV, 2, 7)
local used = ''
if hasUses then
  used = 'first'
  for i = 1, n do
    local known = redis.call('GET', use(i))
    if known then
      if reuse ~= 'retry' or string.sub(known, 1, #user(7, i)) ~= user(7, i) then return {'replay', 'replay'} end
      used = 'repeat'
      break
    end
  end
  for i = 1, n do redis.call('SET', use(i), user(7, i), 'EX', useSeconds, 'NX') end
end
if isShared == '0' then return {used, 'unshared'} end
for i = 1, n do
  local text = redis.call('GET', verdict(i))
  if text and not isPassed(7, text) then return {used, 'verdict', text, forgets()} end
end
for i = 1, n do
  if redis.call('EXISTS', question(i)) == 1 then return {used, 'asked'} end
end
if mayTake == '0' then return {used, 'undecided'} end
local wasUnanswered = 0
for i = 1, n do
  if leaseMs ~= '0' then redis.call('SET', question(i), 'asking', 'PX', leaseMs) end
  if not redis.call('SET', unanswered(i), 'asked', 'EX', unansweredSeconds, 'NX') then wasUnanswered = 1 end
end
return {used, 'leased', forgets(), wasUnanswered}
`,
};

/**
 * Keeps a verdict, ends the lease of its question, and settles the use: all at one instant.
 * ARGV: n, what to do with the use ('confirm', 'giveBack' or ''), seconds of a use, whether a question ends, seconds of the verdict (0: it is not
 * kept), its text, whether it is a refusal, whether the question stays unanswered, users, verdicts not believed.
 */
export const settle: Script = {
  name: 'echodropSettle',
  lua: `${layout}
local act, useSeconds, endsQuestion, seconds, text, isRefusal, staysUnanswered = unpack(ARGV, 2, 8)
if hasUses then
  for i = 1, n do
    if act == 'confirm' then
      redis.call('SET', use(i), user(8, i) .. ' verified', 'EX', useSeconds)
    elseif act == 'giveBack' and redis.call('GET', use(i)) == user(8, i) then
      redis.call('DEL', use(i))
    end
  end
end
if endsQuestion == '0' then return end
local isKept = seconds ~= '0'
if isRefusal == '1' then
  -- The provider received this proof twice: it was valid once and is refused now.
  for i = 1, n do
    local other = redis.call('GET', verdict(i))
    if other and not isPassed(8, other) then isKept = false end
  end
end
for i = 1, n do
  if isKept then redis.call('SET', verdict(i), text, 'EX', seconds) end
  if staysUnanswered == '0' then redis.call('DEL', unanswered(i)) end
  redis.call('DEL', question(i))
end
`,
};

/** Counts a forgetting and marks a user with the count. KEYS: the counter, the marks. ARGV: seconds of a mark. */
export const forget: Script = {
  name: 'echodropForget',
  lua: `${count}
forgets()
local now = redis.call('INCR', KEYS[1])
for i = 2, #KEYS do redis.call('SET', KEYS[i], now, 'EX', ARGV[1]) end
`,
};

const scripts = [lookUp, settle, forget];

/** Runs scripts, each as one command: a connection is sent the text once, then its hash. */
export class CacheScripts {
  readonly #redis: RedisClient;

  /** `keyCounts`: with how many keys scripts are run. */
  constructor(redis: RedisClient, keyCounts: readonly number[]) {
    this.#redis = redis;
    for (const numberOfKeys of keyCounts)
      for (const { name, lua } of scripts) redis.defineCommand(name + numberOfKeys, { lua, numberOfKeys });
  }

  /** @throws what Redis throws */
  run({ name }: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const commands = this.#redis as unknown as Record<string, Run>;
    const command = commands[name + keys.length];
    if (!command) throw new TypeError(`${name} is not for ${keys.length} keys`);
    return command.call(this.#redis, ...keys, ...args);
  }
}
