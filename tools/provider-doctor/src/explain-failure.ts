interface Query {
  readonly upstream: string;
  readonly timeoutMs: number;
}

interface Failure {
  readonly sentence: string;
  /** Whether a server accepted the request, so that the Host may be the cause. */
  readonly isConnected: boolean;
}

/** Why there was no complete response, by the error's code alone: its message may contain credentials. */
export function explainFailure(error: unknown, { upstream, timeoutMs }: Query): Failure {
  const { host, hostname } = new URL(upstream);
  const code = codeOf(error);
  switch (code) {
    case 'ENOTFOUND':
      return unconnected(`Host name ${hostname} not found.`);
    case 'EAI_AGAIN':
      return unconnected(`DNS lookup of ${hostname} failed: the name server does not respond.`);
    case 'ECONNREFUSED':
      return unconnected(`Connection refused: nothing listens at ${host}.`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return unconnected(`No network route to ${host}.`);
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
    case 'TimeoutError':
      return connected(
        `No complete response within ${timeoutMs} ms: it hangs or is too slow, or a firewall drops the traffic.`,
      );
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return unconnected(`Its TLS certificate is not for ${hostname}.`);
    case 'CERT_HAS_EXPIRED':
      return unconnected('Its TLS certificate has expired.');
    case 'CERT_NOT_YET_VALID':
      return unconnected('Its TLS certificate is not valid yet, or our clock is behind.');
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return unconnected(
        'Its TLS certificate is not from a trusted authority, or its chain is incomplete. NODE_EXTRA_CA_CERTS can name a file with more authorities.',
      );
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return connected('It closes the connection before its response is complete.');
    case 'ResponseTooLarge':
      return connected('Its response is too large: over 64 KiB, or over 16 KiB of headers.');
    case 'UND_ERR_INVALID_ARG':
      return unconnected('The credentials contain a character that a header cannot carry.');
  }
  if (code.startsWith('HPE_') || code === 'HTTPParserError')
    return connected(`Its response is not HTTP: does ${host} speak https?`);
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return unconnected(`TLS connection to ${host} failed (${code}): does it speak http?`);
  if (code.includes('CERT')) return unconnected(`Its TLS certificate is rejected (${code}).`);
  return unconnected(`Request failed (${code}).`);
}

function connected(sentence: string): Failure {
  return { sentence, isConnected: true };
}

function unconnected(sentence: string): Failure {
  return { sentence, isConnected: false };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
