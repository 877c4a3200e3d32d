import type { Stack } from './start-stack.ts';

/** The headers of version 2 of a user who is not that of `echoHeaders`: the sandbox responds with the same number at another address, which is another provider. */
export function anotherUser({ bearerProvider }: Pick<Stack, 'bearerProvider'>): Record<string, string> {
  return {
    'X-Auth-Service-Provider': bearerProvider,
    'X-Verify-Credentials-Authorization': 'Bearer sandbox-bearer',
  };
}
