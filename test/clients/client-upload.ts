/** An upload of version 2, or a resumable one. */
export interface ClientUpload {
  readonly address: string;
  readonly provider: string;
  readonly authorization: string;
  readonly key: string;
  readonly message: string;
  /** The path of the media. */
  readonly file: string;
}

export interface ClientResponse {
  readonly status: number;
  readonly text: string;
}
