import type { FormPart } from './multipart-form.ts';
import type { ProviderResponses } from './provider-response-types.ts';
import { providerResponses, type Software } from './provider-responses.ts';
import { signEcho } from './sign-echo.ts';
import { type Accepted, type StandInProvider, startStandInProvider } from './stand-in-provider.ts';
import { secretPartsOf } from './upload.ts';

const signer = {
  consumer: { key: 'documented-consumer', secret: 'documented-consumer-secret' },
  token: { key: 'documented-token', secret: 'documented-token-secret' },
};
const stranger = { ...signer, token: { ...signer.token, secret: 'guessed' } };

/** The four secrets of version 1, for those that take signed requests. */
export const documentedSecretParts: readonly FormPart[] = secretPartsOf(signer);

/** A software that is known by its documentation: its path, its way of proof, its response to the right one and to a wrong one. */
export interface DocumentedProvider extends StandInProvider, ProviderResponses {
  /** The address that it advertises. */
  readonly address: string;
  /** The Authorization value of its one user, made afresh. */
  readonly rightProof: () => string;
  /** One that it refuses. */
  readonly wrongProof: () => string;
}

/** Starts a stand-in for `software`; it advertises an address of its own with that software's path. */
export async function startDocumentedProvider(software: Software): Promise<DocumentedProvider> {
  const responses = providerResponses[software];
  const { profile, scheme, path, accepted: response, refused: refusal } = responses;
  const address = `https://${software.toLowerCase()}.example${path}`;
  const right: Accepted = scheme === 'OAuth' ? signer : { bearer: 'documented-bearer' };
  const wrong: Accepted = scheme === 'OAuth' ? stranger : { bearer: 'guessed' };
  const { setting, [Symbol.asyncDispose]: dispose } = await startStandInProvider({
    ...right,
    advertised: [address],
    profile,
    response,
    refusal,
  });
  return {
    ...responses,
    setting,
    address,
    rightProof: () => proofFor(address, right),
    wrongProof: () => proofFor(address, wrong),
    [Symbol.asyncDispose]: dispose,
  };
}

function proofFor(address: string, proof: Accepted): string {
  return 'bearer' in proof ? `Bearer ${proof.bearer}` : signEcho(address, proof);
}
