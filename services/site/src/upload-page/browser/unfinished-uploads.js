// @ts-check

// As long as a gateway of 0.1.0 may keep them.
const keptMs = 30 * 24 * 3600 * 1000;
const openMs = 2000;
const name = 'unfinished-uploads';
// Some private windows store nothing.
/** @type {Map<string, string>} */
const ofThisPage = new Map();
let canOpen = true;

/**
 * Names an upload by its file and what it publishes. It does not read the file, which can be large.
 *
 * @param {File} file
 * @param {string[]} texts everything else that distinguishes uploads
 */
export function fingerprintOf(file, texts) {
  return JSON.stringify([file.name, file.size, file.lastModified, ...texts]);
}

/**
 * The id of an unfinished upload that this browser began, also before a reload of the page.
 *
 * @param {string} fingerprint
 * @returns {Promise<string | undefined>}
 */
export async function findUnfinished(fingerprint) {
  if (ofThisPage.has(fingerprint)) return ofThisPage.get(fingerprint);
  const entry = await withStore('readonly', (store) => store.get(fingerprint)).catch(() => undefined);
  return entry?.id;
}

/**
 * @param {string} fingerprint
 * @param {string} id
 */
export async function keepUnfinished(fingerprint, id) {
  ofThisPage.set(fingerprint, id);
  const old = IDBKeyRange.upperBound(Date.now() - keptMs);
  await withStore('readwrite', (store) => {
    const removeOld = store.index('begun').openCursor(old);
    removeOld.addEventListener('success', () => {
      removeOld.result?.delete();
      removeOld.result?.continue();
    });
    return store.put({ id, begun: Date.now() }, fingerprint);
  }).catch(() => {});
}

/** @param {string} fingerprint */
export async function forgetUnfinished(fingerprint) {
  ofThisPage.delete(fingerprint);
  await withStore('readwrite', (store) => store.delete(fingerprint)).catch(() => {});
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} use
 * @returns {Promise<T>}
 */
async function withStore(mode, use) {
  if (!canOpen) throw new Error('no database');
  const opening = indexedDB.open(name, 1);
  opening.addEventListener('upgradeneeded', () => {
    opening.result.createObjectStore(name).createIndex('begun', 'begun');
  });
  // After a failure this page does without, and closes what opens late.
  opening.addEventListener('success', () => canOpen || opening.result.close());
  const database = await Promise.race([resultOf(opening), timeout()]).catch((error) => {
    canOpen = false;
    throw error;
  });
  try {
    return await resultOf(use(database.transaction(name, mode).objectStore(name)));
  } finally {
    database.close();
  }
}

/**
 * Safari may never open a database.
 *
 * @returns {Promise<never>}
 */
function timeout() {
  return new Promise((_, reject) => setTimeout(() => reject(new Error('no database')), openMs));
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}
