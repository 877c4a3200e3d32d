import type { ResumableUpload } from '@echodrop/archive/resumable-uploads';
import type { Caller } from '@echodrop/contracts/verification';
import type { AdmittedUpload } from '../admit/admission.ts';
import type { Published } from '../idempotency/idempotency.ts';
import type { UploadContext } from '../upload-context.ts';
import type { WriterLease } from './writer-leases.ts';

/** One request of the tus protocol, and what is known of its upload so far. */
export interface TusRequest {
  readonly context: UploadContext;
  readonly method: string;
  admitted?: AdmittedUpload;
  caller?: Caller;
  /** Held while the upload is read or changed. */
  lease?: WriterLease;
  upload?: ResumableUpload;
  published?: Published;
  /** Whether a refusal for good has ended the upload. */
  hasEnded?: boolean;
  /** What the library turned into a response. */
  failure?: unknown;
}

/** A request whose caller is admitted. */
export type AdmittedRequest = TusRequest & Required<Pick<TusRequest, 'admitted' | 'caller'>>;
/** A request that holds the lease of its upload. */
export type LeasedRequest = AdmittedRequest & Required<Pick<TusRequest, 'lease' | 'upload'>>;
