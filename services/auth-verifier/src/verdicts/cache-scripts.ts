import type { RedisClient } from '@echodrop/service/redis/redis-client';

/** A Redis script. Its first key counts forgotten users. */
interface Script {
  readonly name: 'echodropLookUp' | 'echodropSettle' | 'echodropForget';
  readonly lua: string;
}

// KEYS: the counter; for each of n secrets verdict, lease, pending request; then none or n uses. ARGV[1] is n.
const layout = `
local n = tonumber(ARGV[1])
local function verdict(i) return KEYS[3 * i - 1] end
local function lease(i) return KEYS[3 * i] end
local function pending(i) return KEYS[3 * i + 1] end
local function use(i) return KEYS[3 * n + 1 + i] end
local hasUses = #KEYS > 3 * n + 1
-- The last arguments: n users if there are uses, then verdicts that are not valid.
local function user(first, i) return ARGV[first + i] end
local function isPassed(first, text)
  for i = first + (hasUses and n or 0) + 1, #ARGV do
    if ARGV[i] == text then return true end
  end
  return false
end
`;

// An evicted count restarts at the clock in microseconds. Each forgotten user takes Redis longer, so the new count exceeds all earlier ones.
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
 * Records a use, then finds a verdict or takes the lease, atomically.
 * ARGV: n, reuse, seconds of a use, whether verdicts are shared, whether the lease may be taken, its ms (0: no lease), seconds of an
 * pending request, users, invalid verdicts.
 * Returns the state of the use ('' without uses), what was found, and its values.
 */
export const lookUp: Script = {
  name: 'echodropLookUp',
  lua: `${layout}${count}
local reuse, useSeconds, isShared, canTake, leaseMs, pendingSeconds = unpack(ARGV, 2, 7)
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
  if redis.call('EXISTS', lease(i)) == 1 then return {used, 'running'} end
end
if canTake == '0' then return {used, 'undecided'} end
local wasPending = 0
for i = 1, n do
  if leaseMs ~= '0' then redis.call('SET', lease(i), 1, 'PX', leaseMs) end
  if not redis.call('SET', pending(i), 1, 'EX', pendingSeconds, 'NX') then wasPending = 1 end
end
return {used, 'leased', forgets(), wasPending}
`,
};

/**
 * Caches a verdict, ends its lease, and settles the use, atomically.
 * ARGV: n, what to do with the use ('confirm', 'giveBack' or ''), seconds of a use, whether a lease ends, seconds of the verdict (0: not
 * cached), its text, whether it is a refusal, whether the request stays open, users, invalid verdicts.
 */
export const settle: Script = {
  name: 'echodropSettle',
  lua: `${layout}
local act, useSeconds, endsLease, seconds, text, isRefusal, staysPending = unpack(ARGV, 2, 8)
if hasUses then
  for i = 1, n do
    if act == 'confirm' then
      redis.call('SET', use(i), user(8, i) .. ' verified', 'EX', useSeconds)
    elseif act == 'giveBack' and redis.call('GET', use(i)) == user(8, i) then
      redis.call('DEL', use(i))
    end
  end
end
if endsLease == '0' then return end
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
  if staysPending == '0' then redis.call('DEL', pending(i)) end
  redis.call('DEL', lease(i))
end
`,
};

/** Increments the counter and marks a forgotten user with it. KEYS: the counter, the marks. ARGV: seconds of a mark. */
export const forget: Script = {
  name: 'echodropForget',
  lua: `${count}
forgets()
local now = redis.call('INCR', KEYS[1])
for i = 2, #KEYS do redis.call('SET', KEYS[i], now, 'EX', ARGV[1]) end
`,
};

/** Registers the scripts: each connection gets the text once, then its hash. */
export function defineScripts(redis: RedisClient): void {
  for (const { name, lua } of [lookUp, settle, forget]) redis.defineCommand(name, { lua });
}

/** Runs a script as one command. @throws what Redis throws */
export function runScript(
  redis: RedisClient,
  { name }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const commands = redis as unknown as Record<Script['name'], (...args: (string | number)[]) => Promise<unknown>>;
  return commands[name](keys.length, ...keys, ...args);
}
