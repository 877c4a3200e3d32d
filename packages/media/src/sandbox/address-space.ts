const GiB = 1024 ** 3;

/** The address space of each media tool, in bytes. JavaScript and WebAssembly reserve far more than they use. */
export const addressBytesOf = { ffprobe: GiB, ffmpeg: 4 * GiB, node: 16 * GiB } as const;
