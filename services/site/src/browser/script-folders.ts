/** The scripts of pages, by the path below which they are served. `packages/build` makes JavaScript of them. */
export const scriptFolders = {
  scripts: new URL('./scripts/', import.meta.url),
  signIn: new URL('./sign-in/', import.meta.url),
  upload: new URL('./upload/', import.meta.url),
  mine: new URL('./mine/', import.meta.url),
};
