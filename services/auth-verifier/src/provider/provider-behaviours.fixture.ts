import { type ProfileName, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import type { Behaviour } from '@echodrop/identity-provider/stand-in-provider.fixture';
import type { BehaviourRow } from './provider-behaviour-table.fixture.ts';

const elsewhere = 'https://elsewhere.example/';

/** A response of that profile with all fields that we read. */
export function aCaller(profile: ProfileName): string {
  const { subject, screenName } = providerProfiles[profile];
  return JSON.stringify({ [subject[0]]: '12345', [screenName]: 'mia' });
}

/** The stand-in's behaviour for a row. `canary` replaces the redirect's address, which must get no request. @throws Error for unknown words */
export function behaviourOf(
  { status, headers, body, delay }: BehaviourRow,
  profile: ProfileName,
  canary: string,
): Behaviour {
  const text = bodyIn(body, profile);
  const head = status === undefined ? '' : headOf(status, headersIn(headers, canary), text);
  switch (delay) {
    case 'at once':
      return (socket) => socket.write(head + text);
    case 'never':
    case 'is not there':
      return () => {};
    case 'stalls in the headers':
      return (socket) => socket.write(head.slice(0, -8));
    case 'stalls in the body':
      return (socket) => socket.write(head + half(text));
    case 'closes in the body':
      return (socket) => socket.end(head + half(text));
    case 'trickles':
      return (socket) => {
        socket.write(headOf(status ?? 200, '', ' '.repeat(1000)));
        const trickle = setInterval(() => socket.write(' '), 20);
        socket.on('close', () => clearInterval(trickle));
      };
    case 'closes':
      return (socket) => socket.end();
    case 'resets':
      return (socket) => socket.resetAndDestroy();
  }
}

function headOf(status: number, headers: string, body: string): string {
  return `HTTP/1.1 ${status} Whatever\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`;
}

function half(text: string): string {
  return text.slice(0, text.length / 2);
}

function headersIn(cell: string, canary: string): string {
  if (cell === 'none') return '';
  if (cell === 'more than 16 KiB') return `X-Long: ${'x'.repeat(17 * 1024)}\r\n`;
  return `${literalIn(cell).replace(elsewhere, canary)}\r\n`;
}

function bodyIn(cell: string, profile: ProfileName): string {
  switch (cell) {
    case 'nothing':
      return '';
    case 'a caller':
      return aCaller(profile);
    case 'a caller and 64 KiB':
      return aCaller(profile) + ' '.repeat(64 * 1024);
    case 'HTML':
      return '<!doctype html><title>Sorry</title>';
    case 'no HTTP':
      return '\0\xff\x16\x03 no HTTP at all\r\n\r\n';
    default:
      return literalIn(cell);
  }
}

function literalIn(cell: string): string {
  const literal = /^`([^`]+)`$/.exec(cell)?.[1];
  if (literal === undefined) throw new Error(`unknown word: ${cell}`);
  return literal;
}
