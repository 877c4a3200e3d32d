import type { Stack } from './start-stack.ts';

/** Version 2 headers of another user than `echoHeaders`: same id, but at another address of the sandbox, which is another provider. */
export function anotherUser({ bearerProvider }: Pick<Stack, 'bearerProvider'>): Record<string, string> {
  return {
    'X-Auth-Service-Provider': bearerProvider,
    'X-Verify-Credentials-Authorization': 'Bearer sandbox-bearer',
  };
}
