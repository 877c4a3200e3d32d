import { hash } from 'node:crypto';
import { KeyedHash } from '@echodrop/service/keyed-hash';
import type { Secret } from '@echodrop/service/secret';

/** What a signature names beside the request: the endpoint's host (with its port where it has one) and whose keys are used. */
export interface S3Credentials {
  readonly host: string;
  readonly region: string;
  readonly accessKey: Secret;
  readonly secretKey: Secret;
}

const payloadHash = 'UNSIGNED-PAYLOAD';

/**
 * Signs S3 requests (AWS Signature Version 4) with headers. The key of a day is derived once a day; minio's client derives it for every
 * request. Bodies are not signed.
 */
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
   * The headers that sign a request. Others than `x-amz-` ones may be sent with them unsigned.
   * @param path the encoded path, as it is sent
   * @param query the encoded parameters in the order of their names, without a question mark
   * @param others further headers, their names in lower case: S3 requires that all `x-amz-` headers are signed
   */
  sign(method: string, path: string, query: string, others: Record<string, string> = {}): Record<string, string> {
    this.#keepTime();
    const { host, accessKey } = this.#credentials;
    const signed: Record<string, string> = {
      ...others,
      host,
      'x-amz-content-sha256': payloadHash,
      'x-amz-date': this.#time,
    };
    const inOrder = Object.keys(signed).sort();
    const names = inOrder.join(';');
    const headers = inOrder.map((name) => `${name}:${signed[name]}\n`).join('');
    const request = hash('sha256', `${method}\n${path}\n${query}\n${headers}\n${names}\n${payloadHash}`);
    const text = `AWS4-HMAC-SHA256\n${this.#time}\n${this.#scope}\n${request}`;
    const signature = this.#key.hexDigest(text);
    const credential = `${accessKey.reveal()}/${this.#scope}`;
    return {
      ...signed,
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
    };
  }

  #keepTime(): void {
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
      (key, text) => new KeyedHash(key).of(text),
      `AWS4${secretKey.reveal()}`,
    );
    this.#key = new KeyedHash(dayKey);
  }
}
