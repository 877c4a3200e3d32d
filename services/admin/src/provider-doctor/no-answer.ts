interface Asked {
  readonly upstream: string;
  readonly timeoutMs: number;
}

interface NoAnswer {
  readonly sentence: string;
  /** Whether a server took the question, so that what it is asked may matter. */
  readonly wasHeard: boolean;
}

/** Why there was no whole answer, by the code of the error alone: its message may tell more than it should. */
export function whyNoAnswer(error: unknown, { upstream, timeoutMs }: Asked): NoAnswer {
  const { host, hostname } = new URL(upstream);
  switch (codeOf(error)) {
    case 'ENOTFOUND':
      return unreached(`The name ${hostname} is not found: it has no address.`);
    case 'EAI_AGAIN':
      return unreached(`The name ${hostname} cannot be looked up: the name server does not answer.`);
    case 'ECONNREFUSED':
      return unreached(`Nothing listens at ${host}: the connection is refused.`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return unreached(`No network leads to ${host}.`);
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
    case 'TimeoutError':
      return heard(
        `No whole answer comes within ${timeoutMs} ms: it hangs, is too slow, or a firewall drops what is sent.`,
      );
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return unreached(`Its TLS certificate is for another name than ${hostname}.`);
    case 'CERT_HAS_EXPIRED':
      return unreached('Its TLS certificate has expired.');
    case 'CERT_NOT_YET_VALID':
      return unreached('Its TLS certificate is not valid yet, or our clock is behind.');
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return unreached(
        'Its TLS certificate comes from no authority that is known here, or a link of its chain is missing; NODE_EXTRA_CA_CERTS names a file of more authorities.',
      );
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return heard('It closes the connection without a whole answer.');
    case 'ResponseTooLarge':
      return heard('Its answer is too large for one about a user: more than 64 KiB, or 16 KiB of headers.');
    case 'UND_ERR_INVALID_ARG':
      return unreached('The credentials hold a character that no header can carry.');
    default:
      return otherwise(codeOf(error), host);
  }
}

function otherwise(code: string, host: string): NoAnswer {
  if (code.startsWith('HPE_') || code === 'HTTPParserError')
    return heard(`What it answers is no HTTP: does ${host} speak https there, or something else?`);
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return unreached(`No TLS connection to ${host} comes about (${code}): does it speak http there?`);
  if (code.includes('CERT')) return unreached(`Its TLS certificate is not accepted (${code}).`);
  return unreached(`It cannot be asked (${code}).`);
}

function heard(sentence: string): NoAnswer {
  return { sentence, wasHeard: true };
}

function unreached(sentence: string): NoAnswer {
  return { sentence, wasHeard: false };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
