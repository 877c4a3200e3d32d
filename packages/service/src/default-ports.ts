/** The default of each service's PORT; services and clients on the same machine find it there. */
export const defaultPorts = { gateway: 8080, site: 8081, 'auth-verifier': 8082, 'sandbox-provider': 8085 } as const;

/** The default of each service's OPS_PORT. */
export const defaultOpsPorts = {
  gateway: 9080,
  site: 9081,
  'auth-verifier': 9082,
  'probe-worker': 9083,
  'rendition-worker': 9084,
  'sandbox-provider': 9085,
} as const;
