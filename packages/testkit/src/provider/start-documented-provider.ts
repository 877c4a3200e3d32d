import type { FormPart } from '../multipart-form.ts';
import { signEcho } from '../sign-echo.ts';
import { secretPartsOf } from '../upload.ts';
import { type ProviderResponses, providerResponses, type Software } from './provider-responses.ts';
import { type Accepted, type StandInProvider, startStandInProvider } from './stand-in-provider.ts';

const signer = {
  consumer: { key: 'documented-consumer', secret: 'documented-consumer-secret' },
  token: { key: 'documented-token', secret: 'documented-token-secret' },
};
const stranger = { ...signer, token: { ...signer.token, secret: 'guessed' } };

/** The four secrets of version 1, for providers that accept signed requests. */
export const documentedSecretParts: readonly FormPart[] = secretPartsOf(signer);

/** A stand-in for a provider software, with documented path, kind of proof and responses. */
export interface DocumentedProvider extends StandInProvider, ProviderResponses {
  /** The address that it advertises. */
  readonly address: string;
  /** A new Authorization value of its one user. */
  readonly rightProof: () => string;
  /** A new Authorization value that it refuses. */
  readonly wrongProof: () => string;
}

/** Starts a stand-in for `software`, which advertises a unique address with the path of that software. */
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
