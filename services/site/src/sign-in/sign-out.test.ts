import { afterEach, beforeEach, expect, test, vi } from 'vitest';

// Not type-checked here, because they need the types of browsers.
const browser = new URL('../browser/', import.meta.url);
const { signOut } = await import(new URL('sign-in/session.ts', browser).pathname);
const { findUnfinished, keepUnfinished } = await import(new URL('upload/unfinished-uploads.ts', browser).pathname);

const stored = new Map<string, string>();

beforeEach(() => {
  stored.clear();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('sessionStorage', storage);
  vi.stubGlobal('window', {});
  vi.stubGlobal('document', { getElementById: () => null });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

test('signing out deletes the unfinished uploads that the browser remembers, with their captions', async () => {
  keepUnfinished('["a.jpg","a caption"]', 'id');
  expect(findUnfinished('["a.jpg","a caption"]')).toBe('id');
  await signOut();
  expect(findUnfinished('["a.jpg","a caption"]')).toBeUndefined();
  expect([...stored]).toEqual([]);
});
