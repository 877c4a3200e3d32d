import { type HostileRequest, hostileText, inHeaders, inPaths, raw, request } from './hostile-request.ts';

const tus = { 'Tus-Resumable': '1.0.0' };
const offset = { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' };
const anId = 'a'.repeat(32);
const boundary = 'x';
const form = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
const part = (disposition: string, content: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
const fields = ['consumer_token', 'consumer_secret', 'oauth_token', 'oauth_secret']
  .map((name) => part(`name="${name}"`, hostileText))
  .join('');
const media = (content: string) => part('name="media"; filename="a.jpg"', content);
const unknownBearer = { Authorization: 'Bearer made-up' };

const forms: readonly HostileRequest[] = [
  request('gateway', 'a form without credentials', 'POST /1/upload.json', {
    headers: form,
    body: `${media('x')}--x--`,
  }),
  request('gateway', 'a form with made-up secrets', 'POST /1/upload.xml', { headers: form, body: `${fields}--x--` }),
  request('gateway', 'media before made-up secrets', 'POST /1/upload.json', {
    headers: form,
    body: `${media('x'.repeat(300_000))}${fields}--x--`,
  }),
  request('gateway', 'a form without an end', 'POST /1/upload.json', { headers: form, body: fields }),
  request('gateway', 'a form without a boundary', 'POST /1/upload.json', { body: fields }),
  request('gateway', 'names with control sequences', 'POST /1/upload.json', {
    headers: form,
    body: `${part(`name="${hostileText}"; filename="${hostileText}"`, hostileText)}--x--`,
  }),
  request('gateway', 'a form of another type', 'POST /2/upload.json', {
    headers: { 'Content-Type': inHeaders },
    body: 'a=b',
  }),
  request('gateway', 'version 2 without credentials', 'POST /2/upload.json', { headers: form, body: '--x--' }),
  request('gateway', 'made-up bearer tokens', 'POST /2/upload.json', { headers: { ...form, ...unknownBearer } }),
  request('gateway', 'an unknown provider', 'POST /2/upload.json', {
    headers: {
      'X-Auth-Service-Provider': `http://169.254.169.254/${inHeaders}`,
      'X-Verify-Credentials-Authorization': `OAuth realm="${inHeaders}", oauth_token="${inHeaders}"`,
    },
  }),
  request('gateway', 'an endless value of a credential', 'POST /2/upload.json', {
    headers: { Authorization: `Bearer ${'a'.repeat(12_000)}` },
  }),
  request('gateway', 'a malformed Idempotency-Key', 'POST /2/upload.json', {
    headers: { 'Idempotency-Key': inHeaders },
  }),
  request('gateway', 'a body that is announced as endless', 'POST /2/upload.json', {
    headers: { ...form, 'Content-Length': '9007199254740993' },
    ending: 'end',
  }),
  request('gateway', 'a body that ends early', 'POST /1/upload.json', {
    headers: { ...form, 'Content-Length': '100000' },
    body: media('x'.repeat(1000)),
    ending: 'end',
  }),
  request('gateway', 'a body that is reset', 'POST /1/upload.json', {
    headers: { ...form, 'Content-Length': '100000' },
    body: media('x'.repeat(1000)),
    ending: 'reset',
  }),
];

const resumable: readonly HostileRequest[] = [
  ...['partial', 'final;/files/a /files/b', 'final', inHeaders].map((value) =>
    request('gateway', `Upload-Concat ${value.slice(0, 7)}`, 'POST /files/', {
      headers: { ...tus, 'Upload-Length': '9', 'Upload-Concat': value },
    }),
  ),
  ...['', '-1', '1e+21', '9007199254740993', '0x10', 'many', '99999999999'].map((value) =>
    request('gateway', `Upload-Length "${value}"`, 'POST /files/', { headers: { ...tus, 'Upload-Length': value } }),
  ),
  request('gateway', 'Upload-Defer-Length 2', 'POST /files/', { headers: { ...tus, 'Upload-Defer-Length': '2' } }),
  request('gateway', 'no length', 'POST /files/', { headers: tus }),
  request('gateway', 'two lengths', 'POST /files/', {
    headers: { ...tus, 'Upload-Length': '1', 'Upload-Defer-Length': '1' },
  }),
  ...['=', 'a b c', ',,,', 'key !', inHeaders].map((value) =>
    request('gateway', `Upload-Metadata ${JSON.stringify(value.slice(0, 5))}`, 'POST /files/', {
      headers: { ...tus, 'Upload-Length': '1', 'Upload-Metadata': value },
    }),
  ),
  request('gateway', 'another version of tus', 'POST /files/', { headers: { 'Tus-Resumable': inHeaders } }),
  request('gateway', 'no version of tus', 'HEAD /files/a'),
  request('gateway', 'an invalid X-Forwarded-Proto', 'POST /files/', {
    headers: { ...tus, 'Upload-Length': '1', 'X-Forwarded-Proto': 'gopher' },
  }),
  ...['HEAD', 'PATCH', 'DELETE', 'GET', 'POST', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND'].flatMap((method) =>
    [
      `/files/${anId}`,
      '/files/',
      '/files',
      `/files/${inPaths}`,
      '/files/%zz',
      '/files/..%2f..%2fetc',
      `/files/${anId}/`,
    ].map((path) => request('gateway', `${method} ${path.slice(0, 20)}`, `${method} ${path}`, { headers: offset })),
  ),
  ...['PATCH', 'DELETE', 'CONNECT', inHeaders, '__proto__', 'constructor'].map((method) =>
    request('gateway', `X-HTTP-Method-Override ${method}`, `POST /files/${anId}`, {
      headers: { ...offset, 'X-HTTP-Method-Override': method },
    }),
  ),
  request('gateway', 'a PATCH without an offset', `PATCH /files/${anId}`, { headers: tus }),
  request('gateway', 'a PATCH of another type', `PATCH /files/${anId}`, { headers: { ...tus, 'Upload-Offset': '0' } }),
  request('gateway', 'a PATCH that is reset', `PATCH /files/${anId}`, {
    headers: { ...offset, 'Content-Length': '1000' },
    ending: 'reset',
  }),
  request('gateway', 'an unknown checksum', `PATCH /files/${anId}`, {
    headers: { ...offset, 'Upload-Checksum': inHeaders },
    body: 'x',
  }),
  request('gateway', 'an absolute address with an impossible port', 'POST http://a:99999/files/', {
    headers: { ...tus, 'Upload-Length': '1' },
  }),
  request('gateway', 'an absolute address of another host', `HEAD http://u:p@[::1]/files/${anId}`, { headers: tus }),
  request('gateway', 'a path of slashes', `HEAD ${'/'.repeat(300)}files//${anId}`, { headers: tus }),
];

const ownUploads: readonly HostileRequest[] = [
  ...['GET', 'DELETE', 'HEAD', 'POST', 'OPTIONS'].flatMap((method) =>
    ['/2/media.json', '/2/media/4AaBXzv6nZ.xml', '/2/media/4AaBXzv6nZ', `/2/media/${inPaths}`, '/2/media/%ff%fe'].map(
      (path) => request('gateway', `${method} ${path.slice(0, 24)}`, `${method} ${path}`, { headers: unknownBearer }),
    ),
  ),
  request('gateway', 'a list from nowhere', `GET /2/media.json?after=${inPaths}&count=1e9&count[]=2&__proto__[a]=b`),
  request('gateway', 'a list without credentials', 'GET /2/media.xml'),
];

const paths = [
  ...['/', '//', '/%', '/%zz', '/%ff', '/%00', '/..%2f..%2fetc%2fpasswd', '/../../etc/passwd', '/.git/config', '/*'],
  ...[
    `/${inPaths}`,
    `/${'a'.repeat(9000)}`,
    `/${'a/'.repeat(2000)}`,
    `/?${'a[b]='.repeat(1000)}`,
    '/?%zz',
    '/?__proto__=1',
  ],
  ...[
    '/robots.txt/',
    '/favicon.ico?x',
    '/openapi.json',
    '/2/upload.gif',
    '/constructor',
    '/__proto__',
    '\\',
    '/a\\..\\b',
  ],
];

const addresses: readonly HostileRequest[] = (['gateway', 'site', 'verifier'] as const).flatMap((to) => [
  ...paths.map((path) => request(to, `GET ${path.slice(0, 24)}`, `GET ${path}`)),
  ...['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'].map((method) =>
    request(to, `${method} with a body`, `${method} /`, { body: hostileText }),
  ),
  request(to, 'headers with control sequences', 'GET /', {
    headers: {
      'User-Agent': inHeaders,
      Referer: inHeaders,
      Origin: inHeaders,
      'X-Request-Id': inHeaders,
      Accept: inHeaders,
      'X-Forwarded-For': `${inHeaders}, 1.2.3.4`,
      Forwarded: inHeaders,
      Cookie: inHeaders,
      traceparent: inHeaders,
      'Accept-Encoding': inHeaders,
      'Accept-Language': inHeaders,
      'If-None-Match': inHeaders,
      Range: inHeaders,
      Authorization: inHeaders,
      'If-Modified-Since': inHeaders,
      Prefer: inHeaders,
      Via: inHeaders,
    },
  }),
  request(to, 'a preflight of another site', 'OPTIONS /2/upload.json', {
    headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': inHeaders },
  }),
  request(to, 'an unknown expectation', 'POST /', { headers: { Expect: 'miracles' } }),
  request(to, 'an oversized head', 'GET /', { headers: { X: 'x'.repeat(20_000) } }),
  request(to, 'two hundred headers', 'GET /', {
    headers: Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`X-${n}`, 'x'])),
  }),
  request(to, 'an absolute address', 'GET http://evil.example:99999/'),
  request(to, 'a reader that leaves', 'GET /documentation', { ending: 'reset' }),
  raw(to, 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  raw(to, 'HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  raw(to, 'a PROXY header', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n'),
  raw(to, 'another protocol', 'SSH-2.0-OpenSSH_9.0\r\n'),
  raw(to, 'a bare line end', 'GET / HTTP/1.1\nHost: a\n\n'),
  raw(to, 'no host', 'GET / HTTP/1.1\r\n\r\n'),
  raw(to, 'two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'),
  raw(to, 'a control character in a header', `GET / HTTP/1.1\r\nHost: a\r\nX: \x1b[31m\x7f\r\n\r\n`),
  raw(
    to,
    'both framings',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ),
  raw(to, 'a chunk of no size', 'POST /1/upload.json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
  raw(
    to,
    'a long chunk extension',
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}`,
  ),
  raw(to, 'CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'),
  raw(to, 'an upgrade', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x85'),
  raw(to, 'half a head', 'GET / HTTP/1.1\r\nHos'),
  raw(to, 'a head in small packets', 'GET /', ' HTTP/1', '.1\r\nHost: ', 'a\r\n', '\r', '\n'),
  raw(to, 'nothing'),
  raw(to, 'HTTP/1.0 and a body', 'POST /1/upload.xml HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc'),
  raw(to, 'pipelined requests', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50)),
]);

const site: readonly HostileRequest[] = [
  ...['4AaBXzv6nZ', inPaths, '%zz', '..%2f', `${anId}`, '0'].flatMap((id) =>
    ['', '/', '/large.jpg', '/video.mp4', '/player', '.jpg', '/film.mp4', '/card.jpg'].map((rest) =>
      request('site', `GET /${id.slice(0, 10)}${rest}`, `GET /${id}${rest}`, { headers: { Range: 'bytes=9-1' } }),
    ),
  ),
  ...[
    '/by/',
    `/by/${inPaths}`,
    `/by/${anId}${anId}?after=${inPaths}`,
    '/by/a?after[]=b',
    '/show/large/a',
    `/show/${inPaths}/a`,
  ].map((path) => request('site', `GET ${path.slice(0, 20)}`, `GET ${path}`)),
  ...['', '?url=', `?url=${inPaths}`, '?url=http://a/%zz', '?url[]=a&url[]=b', '?url=a&maxwidth=1e99&format=%ff'].map(
    (query) => request('site', `GET /oembed${query.slice(0, 20)}`, `GET /oembed${query}`),
  ),
  ...[
    '/upload',
    '/mine',
    '/sign-in',
    '/sign-in/providers.json',
    '/scripts/..%2fx',
    `/scripts/${inPaths}`,
    '/style.css/',
  ].map((path) => request('site', `GET ${path.slice(0, 24)}`, `GET ${path}?code=${inPaths}&state=%zz`)),
];

/** Requests of strangers. None of them may make an alert fire, or put a character of `hostileText` into a log. */
export const hostileRequests: readonly HostileRequest[] = [
  ...forms,
  ...resumable,
  ...ownUploads,
  ...addresses,
  ...site,
];
