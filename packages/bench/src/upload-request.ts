import { multipartForm } from '@echodrop/testkit/multipart-form';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { sandbox } from '@echodrop/testkit/start-stack';
import { bytesOf, type Media } from './media.ts';

/** How the load generator treats a system. The pass-through responds without a record. */
export type SystemKind = 'echodrop' | 'naive' | 'pass-through';

/** The address that clients sign for. The stub represents it. */
export const providerAddress = 'http://identity.example/1/account/verify_credentials.json';

const boundary = '------------------------5f0c7a7f7b1d4e0a';
const mark = '\0media\0';

/** The body of an upload: the same form for all systems. */
export function formOf(media: Media): Buffer[] {
  const { body } = multipartForm(
    [
      { name: 'key', content: sandbox.apiKey },
      { name: 'message', content: 'a caption' },
      { name: 'media', filename: `media.${media.type}`, type: contentTypes[media.type], content: mark },
    ],
    boundary,
  );
  const at = body.indexOf(mark);
  return [body.subarray(0, at), ...bytesOf(media), body.subarray(at + mark.length)];
}

const contentTypes = { jpg: 'image/jpeg', mp4: 'video/mp4' };

/** The path of an upload. */
export function uploadPathOf(kind: SystemKind): string {
  return kind === 'echodrop' ? '/2/upload.json' : '/upload';
}

/** The headers of an upload; for Echodrop with a fresh proof. */
export function uploadHeaders(kind: SystemKind, bodyBytes: number): Record<string, string> {
  return {
    'User-Agent': 'bench',
    ...(kind === 'echodrop' && {
      'X-Auth-Service-Provider': providerAddress,
      'X-Verify-Credentials-Authorization': signEcho(providerAddress, sandbox),
    }),
    'Content-Type': `multipart/form-data; boundary=${boundary}`,
    'Content-Length': `${bodyBytes}`,
  };
}
