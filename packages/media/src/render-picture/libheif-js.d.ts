/** The part of libheif's wrapper for JavaScript that is used; the package brings no types for this way into it. */
declare module 'libheif-js/wasm-bundle.js' {
  interface HeifImage {
    get_width(): number;
    get_height(): number;
    is_primary(): boolean;
    /** Fills `data` with RGBA and hands it to `done`; null where the picture cannot be decoded. */
    display<T extends { data: Uint8ClampedArray; width: number; height: number }>(
      target: T,
      done: (shown: T | null) => void,
    ): void;
  }
  const libheif: { readonly HeifDecoder: new () => { decode(file: Uint8Array): HeifImage[] } };
  export = libheif;
}
