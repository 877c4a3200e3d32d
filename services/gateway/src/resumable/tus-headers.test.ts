import { expect, test } from 'vitest';
import { fieldsOf, keptMetadata, parseMetadata, prefersRepresentation, tusHeadersOf } from './tus-headers.ts';

const malformed = (what: object) => expect.objectContaining({ reason: 'tus_malformed', ...what });

test.each(['Upload-Offset', 'Upload-Length'])('%s is a non-negative integer', (name) => {
  const read = (value: string) => Object.values(tusHeadersOf({ [name.toLowerCase()]: value }));
  for (const value of ['0', '1', '9007199254740991']) expect(read(value)).toContain(Number(value));
  for (const value of ['', '-1', '+1', '00', '1.5', '1e3', '0x10', 'NaN', '1, 2', '9'.repeat(40)])
    expect(() => read(value)).toThrow(malformed({ sentence: `The header ${name} is missing or malformed.` }));
});

test('Upload-Defer-Length is 1 or absent', () => {
  expect(tusHeadersOf({ 'upload-defer-length': '1' }).isLengthDeferred).toBe(true);
  expect(tusHeadersOf({}).isLengthDeferred).toBe(false);
  for (const value of ['', '0', '2', 'true'])
    expect(() => tusHeadersOf({ 'upload-defer-length': value })).toThrow(malformed({ variant: 'header' }));
});

test.each([
  ['has no pair', ''],
  ['has only empty items', ' ,,'],
  ['has a name twice', 'key a2V5,key a2V5'],
  ['has two values', 'key a2V5 a2V5'],
  ['has a name that is not ASCII', 'k\xe4y a2V5'],
  ['has a value that is not Base64', 'key ***'],
  ['has a value of a length that Base64 does not have', 'key a2V5a'],
  ['has a value with padding alone', 'key ===='],
])('Upload-Metadata is malformed if it %s', (_, header) => {
  expect(() => parseMetadata(header)).toThrow(malformed({ variant: 'metadata' }));
});

test('Upload-Metadata may have names without a value, and names that every object has', () => {
  const metadata = parseMetadata('is_private,constructor a2V5,__proto__ a2V5,message');
  expect([...metadata.keys()]).toEqual(['is_private', 'constructor', '__proto__', 'message']);
  expect(fieldsOf(metadata)).toEqual(new Map([['message', '']]));
});

const message = Buffer.from('Am Meer ').toString('base64');

// Clients write it in ways that HTTP allows.
test.each([
  ['a space after the comma', `key a2V5, message ${message}`],
  ['tabs, several spaces and empty items', `,\tkey  a2V5 ,, message\t${message},`],
  ['Base64 without padding', `key a2V5,message ${message.replaceAll('=', '')}`],
  ['names without a value', `key a2V5,is_private,message ${message}`],
])('Upload-Metadata may have %s', (_, header) => {
  const metadata = parseMetadata(header);
  expect(Object.fromEntries(fieldsOf(metadata))).toEqual({ key: 'key', message: 'Am Meer ' });
  expect(keptMetadata(metadata).split(',')).toContain(`message ${message}`);
});

test('the type of bytes may have other letter case and parameters', () => {
  const hasBytesType = (type: string) => tusHeadersOf({ 'content-type': type }).hasBytesType;
  for (const type of ['Application/Offset+Octet-Stream', 'application/offset+octet-stream; charset=utf-8'])
    expect(hasBytesType(type)).toBe(true);
  expect(hasBytesType('application/octet-stream')).toBe(false);
});

test('Upload-Metadata is kept as it was sent, without API key and secrets', () => {
  const metadata = parseMetadata('key a2V5,message /w==,Oauth_Token a2V5,1 MQ==,consumer_secret a2V5,empty');
  expect(keptMetadata(metadata)).toBe('message /w==,1 MQ==,empty');
});

// The examples without the value are of RFC 7240 section 2.
test.each([
  ['return=representation', true],
  ['respond-async, Return = "Representation"; foo="some, parameter"', true],
  [', return=representation,', true],
  ['return=minimal, return=representation', false],
  ['return', false],
  ['return=""', false],
  ['foo="x, return=representation"', false],
  ['foo; bar="x, return=representation"', false],
  ['"return=representation', false],
  ['return=representation, "open', true],
  ['', false],
])('Prefer: %s', (header, expected) => {
  expect(prefersRepresentation(header)).toBe(expected);
});
