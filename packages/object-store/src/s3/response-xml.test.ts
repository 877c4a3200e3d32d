import { expect, test } from 'vitest';
import { StoreUnavailable } from '../object-store.ts';
import { readCompletion, readErrorCode, readObjectPage, readUploadId, readUploadPage } from './response-xml.ts';

const xml = (text: string) => Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`);
const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

// The examples of the S3 API Reference (2006-03-01), shortened.
test('a list of objects', () => {
  const page = readObjectPage(
    xml(`<ListBucketResult ${namespace}><Name>quotes</Name><Prefix>E</Prefix><KeyCount>2</KeyCount>
      <IsTruncated>true</IsTruncated><NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
      <Contents><Key>a+b%2Fc%25</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
        <ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents>
      <Contents><Key>12345</Key><LastModified>2011-02-26T01:56:20.000Z</LastModified>
        <ETag>&#34;0cc175b9c0f1b6a831c399e269772661-2&#34;</ETag><Size>0</Size></Contents>
    </ListBucketResult>`),
  );
  expect(page).toEqual({
    folders: [],
    objects: [
      {
        key: 'a b/c%',
        size: 434_234,
        etag: 'fba9dede5f27731c9771645a39863328',
        writtenAt: new Date('2009-10-12T17:50:30Z'),
      },
      {
        key: '12345',
        size: 0,
        etag: '0cc175b9c0f1b6a831c399e269772661-2',
        writtenAt: new Date('2011-02-26T01:56:20Z'),
      },
    ],
    isTruncated: true,
    token: '1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=',
  });
});

test('a list of multipart uploads', () => {
  const upload = (key: string, id: string) =>
    `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>2010-11-10T20:48:33.000Z</Initiated></Upload>`;
  const page = (more: string) =>
    xml(`<ListMultipartUploadsResult ${namespace}>${more}${upload('a', 'YW55+x=')}</ListMultipartUploadsResult>`);
  const uploads = [{ key: 'a', id: 'YW55+x=', writtenAt: new Date('2010-11-10T20:48:33Z') }];
  const markers = '<NextKeyMarker>b%20</NextKeyMarker><NextUploadIdMarker>i</NextUploadIdMarker>';
  expect(readUploadPage(page(`<IsTruncated>true</IsTruncated>${markers}`))).toEqual({
    uploads,
    next: { key: 'b ', id: 'i' },
  });
  expect(readUploadPage(page(`<IsTruncated>false</IsTruncated>${markers}`))).toEqual({ uploads, next: undefined });
  expect(() => readUploadPage(page('<IsTruncated>true</IsTruncated>'))).toThrow(StoreUnavailable);
});

test('a new and a completed multipart upload', () => {
  expect(
    readUploadId(
      xml(`<InitiateMultipartUploadResult ${namespace}><UploadId>VXBs+=</UploadId></InitiateMultipartUploadResult>`),
    ),
  ).toBe('VXBs+=');
  const tag = '<ETag>"3858f62230ac3c915f300c664312c11f-9"</ETag>';
  const completed = (fields: string) =>
    readCompletion(xml(`<CompleteMultipartUploadResult>${fields}</CompleteMultipartUploadResult>`));
  const etag = '3858f62230ac3c915f300c664312c11f-9';
  expect(completed(`${tag}<ChecksumCRC32>Hy9+/w==-9</ChecksumCRC32>`)).toEqual({ etag, crc32: 'Hy9+/w==-9' });
  expect(completed(tag)).toEqual({ etag, crc32: undefined });
});

test('an error, also one after status 200', () => {
  const error = xml('<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>');
  expect(readErrorCode(error)).toBe('InternalError');
  expect(readCompletion(error)).toBeUndefined();
  expect(readUploadId(error)).toBeUndefined();
});

const list = (content: string) => `<ListBucketResult><IsTruncated>false</IsTruncated>${content}</ListBucketResult>`;
const object = (fields: string) => list(`<Contents>${fields}</Contents>`);
const key = '<Key>a</Key>';
const size = '<Size>1</Size>';
const tag = '<ETag>"a"</ETag>';
const time = '<LastModified>2026-01-01T00:00:00Z</LastModified>';

test.each([
  ['nothing', ''],
  ['no XML', '{"Contents":[]}'],
  ['a page of a proxy', '<html><body><h1>502 Bad Gateway</h1></body></html>'],
  ['a list that is cut', list('').slice(0, -30)],
  ['a list without an end mark', '<ListBucketResult></ListBucketResult>'],
  ['an object without a key', object(`${size}${tag}${time}`)],
  ['a key within a key', object(`<Key><Key>a</Key></Key>${size}${tag}${time}`)],
  ['a negative size', object(`${key}<Size>-1</Size>${tag}${time}`)],
  ['an endless size', object(`${key}<Size>1e400</Size>${tag}${time}`)],
  ['two sizes', object(`${key}${size}${size}${tag}${time}`)],
  ['no date', object(`${key}${size}${tag}<LastModified>soon</LastModified>`)],
  ['control characters in a tag', object(`${key}${size}<ETag>\u001b[2J</ETag>${time}`)],
  ['a property of all objects', object(`${key}${size}${tag}${time}<__proto__><Key>b</Key></__proto__>`)],
  ['deep elements', list(`${'<a>'.repeat(50_000)}${'</a>'.repeat(50_000)}`)],
  [
    'entities in entities',
    `<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]>${object(`<Key>&c;</Key>${size}${tag}${time}<Size>&c;</Size>`)}`,
  ],
])('%s is no list', (_, text) => {
  expect(() => readObjectPage(xml(text))).toThrow(StoreUnavailable);
});

test('a list with folders, whose names are encoded', () => {
  const folders =
    '<CommonPrefixes><Prefix>a%20b/</Prefix></CommonPrefixes><CommonPrefixes><Prefix>c/</Prefix></CommonPrefixes>';
  expect(readObjectPage(xml(list(folders)))).toMatchObject({ objects: [], folders: ['a b/', 'c/'] });
});

test('an empty list', () => {
  expect(readObjectPage(xml(list('')))).toEqual({ objects: [], folders: [], isTruncated: false, token: '' });
});
