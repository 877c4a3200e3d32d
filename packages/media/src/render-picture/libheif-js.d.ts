/** The part of libheif's wrapper for JavaScript that is used; the package brings no types for this way into it. */
declare module 'libheif-js/wasm-bundle.js' {
  type Context = { readonly context: unique symbol };
  type Handle = { readonly handle: unique symbol };
  interface HeifImage {
    get_width(): number;
    get_height(): number;
    /** Fills `data` with RGBA and passes it to `done`, or null if the picture cannot be decoded. */
    display<T extends { data: Uint8ClampedArray; width: number; height: number }>(
      target: T,
      done: (shown: T | null) => void,
    ): void;
  }
  const libheif: {
    readonly HeifImage: new (handle: Handle) => HeifImage;
    heif_context_alloc(): Context;
    heif_context_read_from_memory(context: Context, file: Uint8Array): unknown;
    heif_js_context_get_primary_image_handle(context: Context): Handle | { readonly code: object };
  };
  export = libheif;
}
