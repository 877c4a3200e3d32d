import { rotatedSecret } from '@echodrop/service/env';

/** Settings of the gateway, the auth-verifier and admin. */
export const verifierSecret = {
  VERIFIER_SECRET: rotatedSecret({ minLength: 16 }).describe('authenticates requests to the auth-verifier'),
};

/** Settings of the gateway and the probe-worker. */
export const probeQueueSecret = {
  PROBE_QUEUE_SECRET: rotatedSecret({ minLength: 16 }).describe('seals probe jobs and their replies'),
};

/** Settings of the gateway, the site and the rendition-worker. */
export const renditionQueueSecret = {
  RENDITION_QUEUE_SECRET: rotatedSecret({ minLength: 16 }).describe('seals rendition jobs and their replies'),
};
