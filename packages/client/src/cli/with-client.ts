import { RequestRefused } from '../client-errors.ts';
import { EchodropClient } from '../node.ts';
import type { Connection } from './connection.ts';

/** Calls the service with a token that is still valid. If the service refuses it and it can be renewed, calls once more. */
export async function withClient<T>(connection: Connection, call: (client: EchodropClient) => Promise<T>): Promise<T> {
  const callWith = (token: string | undefined) =>
    call(new EchodropClient({ ...connection, ...(token && { credentials: { bearer: token } }) }));
  const token = await connection.freshToken?.();
  try {
    return await callWith(token);
  } catch (error) {
    const isRefused = error instanceof RequestRefused && error.reason === 'credentials_refused';
    const renewed = isRefused ? await connection.freshToken?.(token) : token;
    if (renewed === token) throw error;
    return callWith(renewed);
  }
}
