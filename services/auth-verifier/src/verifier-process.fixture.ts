import { VerificationClient } from '@echodrop/contracts/verification-client';
import { Secret } from '@echodrop/service/secret';
import { builtService } from '@echodrop/testkit/built-service';
import { freePorts } from '@echodrop/testkit/free-ports';
import { patienceMs, patientSettings } from '@echodrop/testkit/patience';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';

/** A verifier process and a client for it. */
export interface VerifierProcess extends AsyncDisposable {
  readonly client: VerificationClient;
  readonly process: ServerProcess;
}

const secret = 'a secret of this test';

/** Starts the service; `settings` override the common ones. `knows` is the client's secret, if different. */
export async function startVerifier(settings: Record<string, string>, knows = secret): Promise<VerifierProcess> {
  const ports = await freePorts(['verifier', 'ops']);
  const program = await builtService('auth-verifier');
  const process = await ServerProcess.start({
    command: [globalThis.process.execPath, program],
    env: {
      PORT: `${ports.verifier}`,
      OPS_PORT: `${ports.ops}`,
      VERIFIER_SECRET: secret,
      CACHE_KEY_SECRET: secret,
      USER_ID_SECRET: secret,
      PROVIDER_TIMEOUT_MS: patientSettings.PROVIDER_TIMEOUT_MS,
      ...settings,
    },
    isReady: () =>
      fetch(`http://127.0.0.1:${ports.ops}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  const address = `http://127.0.0.1:${ports.verifier}`;
  const client = new VerificationClient({ address, secret: [new Secret(knows)], deadlineMs: patienceMs });
  return {
    client,
    process,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await process[Symbol.asyncDispose]();
    },
  };
}
