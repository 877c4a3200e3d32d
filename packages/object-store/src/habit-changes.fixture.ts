import type { IncomingHttpHeaders } from 'node:http';
import { Checksum } from './checksum.ts';
import { type Answer, type HabitMemory, numbersOf, refused, type S3Request } from './habit-memory.fixture.ts';
import { md5Of } from './s3/write-rules.ts';

/** What a store with habits makes of requests and responses. */
export class HabitChanges {
  readonly #memory: HabitMemory;

  constructor(memory: HabitMemory) {
    this.#memory = memory;
  }

  changeRequest(request: S3Request): S3Request {
    return this.#corrupt(this.#change(request));
  }

  changeResponse(request: S3Request, answer: Answer): Answer {
    return this.#spoil(request, this.#answer(request, answer));
  }

  #change(request: S3Request): S3Request {
    const headers = { ...request.headers };
    if (this.#ignoresCondition(request)) delete headers['if-none-match'];
    if (this.#memory.has('ignores ranges')) delete headers['range'];
    if (this.#memory.has('ignores checksums')) {
      for (const name of Object.keys(headers)) if (/^x-amz-checksum|^content-md5$/.test(name)) delete headers[name];
    }
    let { body } = request;
    const parts = this.#memory.partsOf(request.url);
    if (request.method === 'POST' && parts) {
      let xml = body.toString();
      if (this.#memory.has('ignores checksums')) xml = xml.replaceAll(/<ChecksumCRC32>[^<]*<\/ChecksumCRC32>/g, '');
      if (this.#memory.has('joins replaced parts'))
        xml = xml.replaceAll(/<PartNumber>(\d+).*?<\/Part>/g, (_, n: string) => {
          const { etag = '', crc32 = '' } = parts.get(Number(n)) ?? {};
          const checksum = crc32 && `<ChecksumCRC32>${crc32}</ChecksumCRC32>`;
          return `<PartNumber>${n}</PartNumber><ETag>${etag}</ETag>${checksum}</Part>`;
        });
      body = Buffer.from(xml);
    }
    return { ...request, headers, body };
  }

  #ignoresCondition({ method, url, body }: S3Request): boolean {
    if (method === 'PUT' && body.length === 0 && this.#memory.has('replaces objects by nothing')) return true;
    if (this.#memory.joined.has(url.pathname) && this.#memory.has('replaces joined objects')) return true;
    return this.#memory.has('ignores conditions');
  }

  #answer({ method, url, headers: sent, body: written }: S3Request, answer: Answer): Answer {
    const uploadId = url.searchParams.get('uploadId') ?? '';
    if (method === 'PUT' && uploadId && answer.status === 200) this.#memory.addPart(url, written, answer.headers);
    const { status } = answer;
    let { body } = answer;
    let headers = this.#changeHeaders(answer, written);
    if (this.#confirmsNoChecksum(method, uploadId))
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('x-amz-checksum')));
    if (this.#memory.has('ignores checksums'))
      body = Buffer.from(body.toString('latin1').replace(/<ChecksumCRC32>[^<]*<\/ChecksumCRC32>/, ''), 'latin1');
    const isRefusedChecksum = status === 400 && sent['x-amz-checksum-crc32'] !== undefined && method === 'PUT';
    if (this.#memory.has('calls a wrong checksum a bad request') && isRefusedChecksum)
      return refused(400, 'BadRequest');
    if (method === 'POST' && uploadId) body = this.#changeCompletion(url, written, body);
    if (this.#memory.has('has no empty lists') && url.searchParams.has('uploads') && method === 'GET')
      if (!body.includes('<Upload>')) return refused(404, 'NoSuchUpload');
    return { status, headers, body };
  }

  #changeHeaders({ status, headers }: Answer, written: Buffer): IncomingHttpHeaders {
    if (status === 412 && this.#memory.has('conflicts show refused bytes'))
      return { ...headers, etag: `"${md5Of([written]).toString('hex')}"` };
    const joined = headers['x-amz-checksum-crc32'];
    if (typeof joined === 'string' && this.#memory.has('hides joined checksums'))
      return { ...headers, 'x-amz-checksum-crc32': joined.replace(/-\d+$/, '') };
    return headers;
  }

  #confirmsNoChecksum(method: string, uploadId: string): boolean {
    const isOfPart = method === 'PUT' && uploadId !== '';
    if (isOfPart && this.#memory.has('confirms no checksums of parts')) return true;
    return this.#memory.has('ignores checksums') || this.#memory.has('refuses checksums');
  }

  #corrupt(request: S3Request): S3Request {
    if (this.#memory.has('lists from the beginning')) request.url.searchParams.delete('start-after');
    if (this.#memory.has('lists no folders')) request.url.searchParams.delete('delimiter');
    if (!this.#memory.has('changes bytes') || request.method !== 'PUT' || request.body.length === 0) return request;
    const body = Buffer.from(request.body);
    body[0] = (body[0] ?? 0) ^ 1;
    return { ...request, body };
  }

  #spoil({ method, url }: S3Request, { status, headers, body }: Answer): Answer {
    const isList = url.searchParams.has('list-type');
    const isRemoval = method === 'DELETE' && status === 204 && this.#memory.has('removals get 200');
    return {
      status: status === 412 && this.#memory.has('responds with 304 to a write') ? 304 : isRemoval ? 200 : status,
      headers: this.#memory.has('has another time') ? { ...headers, date: 'Mon, 30 Nov 2020 12:00:00 GMT' } : headers,
      body: isList ? this.#spoilList(url, body) : body,
    };
  }

  #spoilList(url: URL, list: Buffer): Buffer {
    if (this.#memory.has('lists one page'))
      return Buffer.from(list.toString().replace('<IsTruncated>true<', '<IsTruncated>false<'));
    return this.#memory.has('lists late') ? this.#withoutNew(url, list) : list;
  }

  #withoutNew({ pathname }: URL, list: Buffer): Buffer {
    const bucket = pathname.replace(/\/$/, '');
    return Buffer.from(
      list
        .toString()
        .replaceAll(/<Contents><Key>([^<]*)<.*?<\/Contents>/gs, (object, key: string) =>
          this.#memory.isNew(`${bucket}/${decodeURIComponent(key)}`) ? '' : object,
        ),
    );
  }

  #changeCompletion(url: URL, completion: Buffer, response: Buffer): Buffer {
    let xml = response.toString();
    if (this.#memory.has('joins checksums'))
      xml = xml.replace(/(?<=<ChecksumCRC32>)[^<]*/, this.#checksumOfAll(url, completion).base64);
    if (this.#memory.has('changes tags')) xml = xml.replace(/[0-9a-f]{32}(?=-\d)/, 'd41d8cd98f00b204e9800998ecf8427e');
    return Buffer.from(xml);
  }

  #checksumOfAll(url: URL, completion: Buffer): Checksum {
    const checksum = new Checksum();
    const parts = this.#memory.partsOf(url);
    for (const number of numbersOf(completion)) checksum.add(parts?.get(number)?.bytes ?? Buffer.alloc(0));
    return checksum;
  }
}
