import { Redis, ReplyError } from 'ioredis';

export interface Login {
  readonly user: string;
  readonly password: string;
}

/**
 * Runs a command on a connection of its own, because a large process starts redis-cli slowly. A wrong login leaves the command
 * without a user.
 * @returns the reply as redis-cli prints it: a line per value, or the text of the error
 * @throws Error if the server does not respond
 */
export async function redisCommand(
  port: number,
  words: readonly string[],
  { host = '127.0.0.1', login }: { readonly host?: string | undefined; readonly login?: Login } = {},
): Promise<string> {
  // Version 2 of the protocol has no handshake, which requires a login.
  const once = { lazyConnect: true, enableReadyCheck: false, disableClientInfo: true, retryStrategy: null };
  const redis = new Redis({ host, port, protocol: 2, ...once });
  const send = ([name = '', ...rest]: readonly string[]) => redis.call(name, ...rest).then(asText, textOfError);
  try {
    redis.on('error', () => {});
    await redis.connect();
    if (login) await send(['AUTH', login.user, login.password]);
    return await send(words);
  } finally {
    redis.disconnect();
  }
}

function asText(reply: unknown): string {
  return Array.isArray(reply) ? reply.map(asText).join('\n') : String(reply ?? '');
}

function textOfError(error: Error): string {
  if (error instanceof ReplyError) return error.message;
  throw error;
}
