import { hash } from 'node:crypto';
import { KeyedHash } from '@echodrop/service/seals/keyed-hash';
import type { Secret } from '@echodrop/service/secret';

export interface S3Credentials {
  /** The host of the endpoint, with its port if it has one. */
  readonly host: string;
  readonly region: string;
  readonly accessKey: Secret;
  readonly secretKey: Secret;
}

const payloadHash = 'UNSIGNED-PAYLOAD';

/** Signs S3 requests without bodies (AWS Signature Version 4). Derives the key once a day, unlike MinIO's client. */
export class S3Signer {
  readonly #credentials: S3Credentials;
  #second = 0;
  #time = '';
  #scope = '';
  #key = new KeyedHash('');

  constructor(credentials: S3Credentials) {
    this.#credentials = credentials;
  }

  /**
   * Returns the headers of a signed request.
   * @param path encoded, as it is sent
   * @param query encoded parameters sorted by name, without a question mark
   * @param others further headers to sign, with names in lower case: S3 requires all `x-amz-` headers to be signed
   */
  sign(method: string, path: string, query: string, others: Record<string, string> = {}): Record<string, string> {
    this.#updateTime();
    const { host, accessKey } = this.#credentials;
    const signed: Record<string, string> = {
      ...others,
      host,
      'x-amz-content-sha256': payloadHash,
      'x-amz-date': this.#time,
    };
    const sortedNames = Object.keys(signed).sort();
    const names = sortedNames.join(';');
    const headers = sortedNames.map((name) => `${name}:${signed[name]}\n`).join('');
    const request = hash('sha256', `${method}\n${path}\n${query}\n${headers}\n${names}\n${payloadHash}`);
    const text = `AWS4-HMAC-SHA256\n${this.#time}\n${this.#scope}\n${request}`;
    const signature = this.#key.hexDigest(text);
    const credential = `${accessKey.reveal()}/${this.#scope}`;
    return {
      ...signed,
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
    };
  }

  #updateTime(): void {
    const second = Math.floor(Date.now() / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#time = `${new Date(second * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
    const { region, secretKey } = this.#credentials;
    const day = this.#time.slice(0, 8);
    const scope = `${day}/${region}/s3/aws4_request`;
    if (scope === this.#scope) return;
    this.#scope = scope;
    const dayKey = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
      (key, text) => new KeyedHash(key).digest(text),
      `AWS4${secretKey.reveal()}`,
    );
    this.#key = new KeyedHash(dayKey);
  }
}
