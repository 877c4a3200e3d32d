import { expect, test } from 'vitest';
import { undocumented } from './documented-responses.ts';

const document = {
  components: {
    schemas: {
      Note: {
        type: 'object',
        xml: { name: 'note' },
        required: ['code', 'text'],
        properties: { code: { type: 'integer', const: 200 }, text: { type: 'string', enum: ['well'] } },
      },
    },
    responses: {
      Well: {
        headers: { 'X-Id': { required: true, schema: { type: 'integer' } }, 'X-Else': { schema: {} } },
        content: {
          'application/json': { schema: { $ref: '#/components/schemas/Note' } },
          'application/xml': { schema: { $ref: '#/components/schemas/Note' } },
        },
      },
    },
  },
};
const responses = { 200: { $ref: '#/components/responses/Well' } };
const json = '{"code":200,"text":"well"}';
const xml = '<note><code>200</code><text>well</text></note>';

const faults = (text: string, headers: Record<string, string> = {}, status = 200) => {
  const type = `application/${text.startsWith('<') ? 'xml' : 'json'}; charset=utf-8`;
  const all = { 'X-Id': '7', 'Content-Type': type, Date: 'today', ...headers };
  return undocumented(document, responses, { status, headers: new Headers(all), text });
};

test.each([json, xml])('%s is as documented', (text) => {
  expect(faults(text)).toEqual([]);
});

test.each([
  ['a status', () => faults(json, {}, 201)],
  ['a header', () => faults(json, { 'X-New': '1' })],
  ["a header's value", () => faults(json, { 'X-Id': 'seven' })],
  ['a content type', () => faults(json, { 'Content-Type': 'text/plain' })],
  ['a value', () => faults('{"code":200,"text":"ill"}')],
  ['a number as text', () => faults('{"code":"200","text":"well"}')],
  ['an additional field', () => faults('{"code":200,"text":"well","more":1}')],
  ['a missing field', () => faults('{"code":200}')],
  ['a value in XML', () => faults(xml.replace('200', '201'))],
  ['an additional element', () => faults(xml.replace('</note>', '<more/></note>'))],
  ['another root element', () => faults(xml.replaceAll('note', 'letter'))],
])('reports an undocumented response: %s', (_what, findings) => {
  expect(findings()).not.toEqual([]);
});

test('reports a missing required header', () => {
  const headers = new Headers({ 'Content-Type': 'application/json' });
  expect(undocumented(document, responses, { status: 200, headers, text: json })).toEqual(['no header X-Id']);
});
