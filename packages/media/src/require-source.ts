import { access } from 'node:fs/promises';
import { ToolFailed } from './bounded-process.ts';

/** Of a file that is gone tools say that it is broken. @throws ToolFailed if it is, which names what was to read it */
export async function requireSource(path: string, reader: string): Promise<void> {
  await access(path).catch((cause: unknown) => {
    throw new ToolFailed(`what ${reader} was to read is gone`, { cause });
  });
}
