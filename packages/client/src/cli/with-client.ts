import { RequestRefused } from '../client-errors.ts';
import type { Proof } from '../credentials.ts';
import { EchodropClient } from '../node.ts';
import type { Connection } from './connection.ts';
import { ProofRefused } from './sign-in/identify-user.ts';

/** Calls the service with a token that is still valid. If the service refuses it and it can be renewed, calls once more. */
export function withClient<T>(connection: Connection, call: (client: EchodropClient) => Promise<T>): Promise<T> {
  return withRenewal(connection, (proof) => call(new EchodropClient({ ...connection, ...proof })));
}

/** Does what `withClient` does, for requests to the provider. */
export async function withRenewal<T>(connection: Connection, call: (proof: Proof) => Promise<T>): Promise<T> {
  const { provider, credentials } = connection;
  const callWith = (token: string | undefined) =>
    call({ provider, credentials: token === undefined ? credentials : { bearer: token } });
  const token = await connection.freshToken?.();
  try {
    return await callWith(token);
  } catch (error) {
    const renewed = isRefusedProof(error) ? await connection.freshToken?.(token) : token;
    if (renewed === token) throw error;
    return callWith(renewed);
  }
}

function isRefusedProof(error: unknown): boolean {
  return error instanceof ProofRefused || (error instanceof RequestRefused && error.reason === 'credentials_refused');
}
