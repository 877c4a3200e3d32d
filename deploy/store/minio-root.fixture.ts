import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto';
import { S3Signer } from '@echodrop/object-store/s3/sign-s3';
import { Secret } from '@echodrop/service/secret';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { waitUntil } from '@echodrop/testkit/wait-until';

/** An access key and its secret. */
export interface S3Keys {
  readonly accessKey: string;
  readonly secretKey: string;
}

type Minio = Pick<RunningMinio, 'endpoint' | 'region'>;

interface Sent {
  readonly query?: string;
  readonly body?: string | Buffer;
  /** Headers that are not signed. */
  readonly more?: Record<string, string>;
}

/** Sends a signed request to MinIO, whichever API `path` belongs to. Returns the status. */
export async function statusOf(
  { endpoint, region }: Minio,
  { accessKey, secretKey }: S3Keys,
  method: string,
  path: string,
  { query = '', body, more }: Sent = {},
): Promise<number> {
  const { host } = new URL(endpoint);
  const signer = new S3Signer({ host, region, accessKey: new Secret(accessKey), secretKey: new Secret(secretKey) });
  const { host: _, ...headers } = signer.sign(method, path, query);
  const sent = {
    method,
    headers: { ...headers, ...more },
    ...(body !== undefined && { body: new Uint8Array(Buffer.from(body)) }),
  };
  const response = await fetch(`${endpoint}${path}${query && `?${query}`}`, sent);
  await response.body?.cancel();
  return response.status;
}

const admin = '/minio/admin/v3';

/** Gives MinIO a user with a policy of this text, or the user another secret key, as `mc admin` does. @throws Error */
export async function addUser(minio: Minio & S3Keys, user: S3Keys, name: string, policy: string): Promise<void> {
  const call = async (path: string, query: string, body?: string | Buffer) => {
    const status = await statusOf(minio, minio, 'PUT', `${admin}/${path}`, { query, ...(body && { body }) });
    if (status !== 200) throw new Error(`MinIO responded with ${status} to ${path}`);
  };
  // MinIO serves before it has loaded its users.
  await waitUntil(
    'the users of MinIO',
    async () => (await statusOf(minio, minio, 'GET', `${admin}/list-users`)) === 200,
  );
  const added = JSON.stringify({ secretKey: user.secretKey, status: 'enabled' });
  await call('add-canned-policy', `name=${name}`, policy);
  await call('add-user', `accessKey=${user.accessKey}`, encrypted(added, minio.secretKey));
  await call('set-user-or-group-policy', `isGroup=false&policyName=${name}&userOrGroup=${user.accessKey}`);
}

/**
 * What the admin API takes of who has this secret key. As madmin-go's EncryptData: salt, 2 for PBKDF2 and AES-GCM, nonce, and one fragment of
 * sio-go's stream, the last.
 */
export function encrypted(text: string, password: string): Buffer {
  const salt = randomBytes(32);
  const nonce = randomBytes(8);
  const key = pbkdf2Sync(password, salt, 8192, 32, 'sha256');
  const sealed = (fragment: number, plain: string, associated: Buffer) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32LE(fragment);
    const cipher = createCipheriv('aes-256-gcm', key, Buffer.concat([nonce, counter])).setAAD(associated);
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  };
  const isLast = Buffer.concat([Buffer.of(0x80), sealed(0, '', Buffer.alloc(0))]);
  return Buffer.concat([salt, Buffer.of(2), nonce, sealed(1, text, isLast)]);
}
