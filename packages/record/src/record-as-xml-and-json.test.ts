import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText, anyUserId } from './any-text.fixture.ts';
import { parseExactJson } from './exact-json.ts';
import type { MediaRecord } from './media-record.ts';
import { recordsToJson, recordsToXml, recordToJson, recordToXml } from './record-as-xml-and-json.ts';
import { xmlParsers } from './xml-parsers.fixture.ts';

const record: MediaRecord = {
  id: '0aZ9bY8cX7',
  text: 'Tulips & <bees>',
  url: 'https://photos.example/0aZ9bY8cX7',
  width: 4032,
  height: 3024,
  size: 2 ** 31,
  type: 'jpg',
  timestamp: new Date('2026-11-21T11:36:34.567Z'),
  user: { id: 1059182745930317825n, screenName: 'mia' },
};

test('JSON has the fields of the interface, in its order, numbers as numbers', () => {
  expect(recordToJson(record)).toBe(
    '{"id":"0aZ9bY8cX7","text":"Tulips \\u0026 <bees>","url":"https://photos.example/0aZ9bY8cX7","width":4032,"height":3024,' +
      '"size":2147483648,"type":"jpg","timestamp":"Sat, 21 Nov 2026 11:36:34 +0000",' +
      '"user":{"id":1059182745930317825,"screen_name":"mia"}}',
  );
});

test('XML has the same fields in the same order, user as a child element', () => {
  expect(recordToXml(record)).toBe(
    '<?xml version="1.0" encoding="UTF-8"?><image><id>0aZ9bY8cX7</id><text>Tulips &amp; &lt;bees&gt;</text>' +
      '<url>https://photos.example/0aZ9bY8cX7</url><width>4032</width><height>3024</height><size>2147483648</size>' +
      '<type>jpg</type><timestamp>Sat, 21 Nov 2026 11:36:34 +0000</timestamp>' +
      '<user><id>1059182745930317825</id><screen_name>mia</screen_name></user></image>',
  );
});

test('a page has each record in its usual format, and the cursor of the next page', () => {
  const other = { ...record, id: 'bbbbbbbbbb', text: 'Bees' };
  const json = (each: MediaRecord) => recordToJson(each);
  expect(recordsToJson({ records: [record, other], next: '12-a' })).toBe(
    `{"media":[${json(record)},${json(other)}],"next":"12-a"}`,
  );
  expect(recordsToJson({ records: [] })).toBe('{"media":[]}');
  const xml = (each: MediaRecord) => recordToXml(each).replace(/^<\?.*?\?>/, '');
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>';
  expect(recordsToXml({ records: [record, other], next: '12-a' })).toBe(
    `${declaration}<media>${xml(record)}${xml(other)}<next>12-a</next></media>`,
  );
  expect(recordsToXml({ records: [] })).toBe(`${declaration}<media/>`);
});

test('JSON.parse returns any caption and name unchanged', () => {
  fc.assert(
    fc.property(anyText, anyText, (text, screenName) => {
      const parsed = JSON.parse(recordToJson({ ...record, text, user: { id: 1n, screenName } }));
      expect([parsed.text, parsed.user.screen_name]).toEqual([text, screenName]);
    }),
    { numRuns: 1000 },
  );
});

test.each(xmlParsers)('%s finds any caption and any name in its element', (_, parse) => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, screenName) => {
      const parsed = parse(recordToXml({ ...record, text, user: { id: 1n, screenName } }));
      expect([parsed['image/text'], parsed['image/user/screen_name']]).toEqual([text, screenName]);
    }),
  );
});

test('user ids of 64 bits, signed or not, are exact in JSON and in XML', () => {
  fc.assert(
    fc.property(anyUserId, (id) => {
      const sample = { ...record, user: { id, screenName: 'mia' } };
      const { user } = parseExactJson(recordToJson(sample)) as { user: { id: number | bigint } };
      expect(BigInt(user.id)).toBe(id);
      for (const [, parse] of xmlParsers) expect(parse(recordToXml(sample))['image/user/id']).toBe(id.toString());
    }),
  );
});

test('JSON stays intact in a client that decodes HTML entities before it parses', () => {
  const text = 'Tom &quot;and&quot; Jerry &amp; &lt;b&gt; \\u0026';
  const json = recordToJson({ ...record, text });
  expect(json).not.toContain('&');
  expect(JSON.parse(json).text).toBe(text);
});
