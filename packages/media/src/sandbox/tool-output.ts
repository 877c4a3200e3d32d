import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { detectMediaType, isPhoto, type MediaType } from '../detect-media-type.ts';
import { fileReader } from '../input/inspect-file.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { ToolFailed } from './run-tool.ts';
import { maxOutputBytes } from './tool-limits.ts';

type OutputFault = 'missing' | 'not_a_file' | 'link' | 'too_large' | 'wrong_format';

/** A tool reported success but left something other than its output file. It may be compromised. */
export class OutputRefused extends Error {
  override readonly name = 'OutputRefused';
  /** The file's name in the job folder. */
  readonly file: string;
  readonly fault: OutputFault;

  constructor(path: string, fault: OutputFault) {
    super(`output of a media tool refused: ${basename(path)}: ${fault}`);
    this.file = basename(path);
    this.fault = fault;
  }
}

/** A checked file that a tool wrote. All reads use the handle that was checked. */
export interface ToolOutput extends AsyncDisposable {
  readonly reader: SourceReader;
  /** Streams the file. Its tool has ended, so nothing changes it. */
  stream(): Readable;
  /** Replaces bytes of a file that was opened to change it. */
  overwrite(bytes: Buffer, offset: number): Promise<void>;
}

/**
 * Opens a file of this type that a tool wrote directly into its job folder, to read or change it. Call it after the tool has ended.
 * @throws OutputRefused if it is missing, no regular file, a symbolic or hard link, too large or of another format; ToolFailed if the folder is gone
 */
export async function openToolOutput(
  path: string,
  type: MediaType,
  use: 'read' | 'change' = 'read',
): Promise<ToolOutput> {
  const access = use === 'read' ? O_RDONLY : O_RDWR;
  const file = await openWithoutLinks(path, access).catch((error: NodeJS.ErrnoException) => {
    const fault = faults[error.code ?? ''];
    throw fault ? new OutputRefused(path, fault) : error;
  });
  const refuse = (fault: OutputFault): never => {
    throw new OutputRefused(path, fault);
  };
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) refuse('not_a_file');
    if (stats.nlink !== 1n) refuse('link');
    if (stats.size > maxOutputBytes[isPhoto(type) ? 'picture' : 'video']) refuse('too_large');
    const reader = await fileReader(file);
    if (detectMediaType(reader.head) !== type) refuse('wrong_format');
    return {
      reader,
      stream: () => file.createReadStream({ start: 0, autoClose: false }),
      overwrite: (bytes, offset) => writeAt(file, bytes, offset),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const faults: Readonly<Record<string, OutputFault>> = {
  ENOENT: 'missing',
  ELOOP: 'link',
  ENOTDIR: 'link',
  // A socket, or a file that its tool made unreadable.
  ENXIO: 'not_a_file',
  EACCES: 'not_a_file',
};

async function writeAt(file: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  const { bytesWritten } = await file.write(bytes, 0, bytes.length, offset);
  if (bytesWritten !== bytes.length) throw new Error('the scratch directory is full');
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

// Through the folder's handle, as Node has no openat and a tool may have replaced the folder by a link.
async function openWithoutLinks(path: string, access: number): Promise<FileHandle> {
  await using folder = await open(dirname(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((cause) => {
    throw cause.code === 'ENOENT' ? new ToolFailed('job folder missing', { cause }) : cause;
  });
  return await open(`/proc/self/fd/${folder.fd}/${basename(path)}`, access | O_NOFOLLOW | O_NONBLOCK);
}
