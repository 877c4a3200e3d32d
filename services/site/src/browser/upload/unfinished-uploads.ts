// A gateway keeps the bytes of an unfinished upload for 24 hours.
const keptMs = 24 * 3600 * 1000;
// `signOut` removes it: fingerprints contain captions.
const key = 'echodrop.unfinished';

type UnfinishedUploads = Readonly<Record<string, { readonly id: string; readonly begun: number }>>;

/** Names an upload by its file and by everything else that distinguishes it. It does not read the file, which can be large. */
export function fingerprintOf(file: File, texts: readonly string[]): string {
  return JSON.stringify([file.name, file.size, file.lastModified, ...texts]);
}

/** The id of an unfinished upload that this browser began, also before a reload of the page. */
export function findUnfinished(fingerprint: string): string | undefined {
  return readAll()[fingerprint]?.id;
}

export function keepUnfinished(fingerprint: string, id: string) {
  const begun = Date.now();
  writeAll({ ...readAll(), [fingerprint]: { id, begun } });
}

export function forgetUnfinished(fingerprint: string) {
  const { [fingerprint]: _, ...others } = readAll();
  writeAll(others);
}

function readAll(): UnfinishedUploads {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}');
  } catch {
    return {};
  }
}

/** If storage is full or blocked, another attempt begins at the first byte. */
function writeAll(uploads: UnfinishedUploads) {
  const recent = Object.entries(uploads).filter(([, { begun }]) => begun > Date.now() - keptMs);
  try {
    if (recent.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(Object.fromEntries(recent)));
  } catch {}
}
