import { shellWord } from '/scripts/client.js';

/** What a program needs to upload as the person who has signed in. */
export type Access = { address: string; provider: string; authorization: string; key: string };

// From this version on, ShareX reads `{json:url}`.
const shareXVersion = '14.0.0';

/** A custom uploader of ShareX (https://getsharex.com/docs/custom-uploader). */
export function shareXFile({ address, provider, authorization, key }: Access, name: string) {
  const uploader = {
    Version: shareXVersion,
    Name: name,
    DestinationType: 'ImageUploader, FileUploader',
    RequestMethod: 'POST',
    RequestURL: address,
    Headers: {
      'X-Auth-Service-Provider': literal(provider),
      'X-Verify-Credentials-Authorization': literal(authorization),
    },
    Body: 'MultipartFormData',
    Arguments: { key: literal(key), message: '' },
    FileFormName: 'media',
    URL: '{json:url}',
    ThumbnailURL: '{json:url}/thumb.jpg',
    ErrorMessage: '{json:errors[0].message}',
  };
  return `${JSON.stringify(uploader, undefined, 2)}\n`;
}

/** A command for a POSIX shell. */
export function curlCommand({ address, provider, authorization, key }: Access) {
  return `curl ${shellWord(address)} \\
  -H ${shellWord(`X-Auth-Service-Provider: ${provider}`)} \\
  -H ${shellWord(`X-Verify-Credentials-Authorization: ${authorization}`)} \\
  --form-string ${shellWord(`key=${key}`)} \\
  --form-string 'message=At the sea' \\
  -F media=@photo.jpg`;
}

/**
 * A command for PowerShell and the Windows command prompt, which escape in different ways. @returns undefined if a value has a character that
 * one of them would replace
 */
export function windowsCurlCommand(access: Access): string | undefined {
  if (!Object.values(access).every((value) => /^[\w .:/?=&@+~,;-]*$/.test(value))) return undefined;
  const { address, provider, authorization, key } = access;
  return `curl.exe "${address}" -H "X-Auth-Service-Provider: ${provider}" -H "X-Verify-Credentials-Authorization: ${authorization}" --form-string "key=${key}" --form-string "message=At the sea" -F "media=@photo.jpg"`;
}

/** A text without ShareX's syntax for functions and dates. */
function literal(text: string) {
  return text.replaceAll(/[\\{}|%]/g, '\\$&');
}
