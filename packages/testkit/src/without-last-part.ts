/** The body of a CompleteMultipartUpload request that names all parts but the last. */
export function withoutLastPart(completion: Buffer): Buffer {
  return Buffer.from(completion.toString().replace(/(.*)<Part>.*<\/Part>/s, '$1'));
}
