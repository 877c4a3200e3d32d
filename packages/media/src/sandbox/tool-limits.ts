/** The time that a tool gets. Rendition jobs have the budgets of their lane (services/rendition-worker/src/lane-limits.ts). */
export interface ToolBudget {
  /** The longest elapsed time. */
  readonly seconds: number;
  /** The most CPU time of all threads together. */
  readonly cpuSeconds: number;
  /** The niceness, from 0 to 19 (the lowest priority); 0 unless set. */
  readonly niceness?: number;
}

/** Resource limits of a tool; it is killed if it exceeds one. */
export interface ToolLimits extends ToolBudget {
  readonly addressBytes: number;
  /** The most writable memory; unlimited unless set. */
  readonly dataBytes?: number;
  /** The largest file that the tool may write. */
  readonly fileBytes: number;
}

export interface FfmpegLimits extends ToolBudget {
  /** The largest file that it may write. */
  readonly fileBytes: number;
  /** The largest width x height of a frame that it decodes. */
  readonly maxPixels: number;
}

const GiB = 1024 ** 3;

/** The address space of each media tool, in bytes. JavaScript and WebAssembly reserve far more than they use. */
export const addressBytesOf = { ffprobe: GiB, ffmpeg: 4 * GiB, node: 16 * GiB } as const;

/** The largest file that a tool may write. */
export const maxOutputBytes = { picture: GiB, video: 2 * GiB };

/** The limit for all files of a job: a video, its pictures, and the stills that these are made of. */
export const maxFolderBytes = 3 * GiB;

/** What a tool may print to stdout and stderr together: if the run keeps it, and if it is read as it comes. */
export const maxPrintedBytes = { kept: 256 * 1024, passedOn: 2 * 1024 * 1024 };

/** The limits of ffprobe when it reads tracks. Honest media takes 50 ms of CPU time and 60 MiB. */
export const probeLimits: ToolLimits = {
  seconds: 10,
  cpuSeconds: 3,
  addressBytes: addressBytesOf.ffprobe,
  fileBytes: 0,
};

/** The limits of ffprobe when it decodes frames. */
export const frameProbeLimits: ToolLimits = {
  seconds: 20,
  cpuSeconds: 20,
  addressBytes: addressBytesOf.ffmpeg,
  fileBytes: 0,
};

/** The limits of the process that makes pictures, besides its budget. */
export const pictureProcessLimits = {
  addressBytes: addressBytesOf.node,
  // JavaScript and WebAssembly reserve far more address space than they use, so this limits what is written to. Node takes
  // half a GiB; a photo of 100 million pixels needs one or two GiB more, an AVIF three.
  dataBytes: 4 * GiB,
  fileBytes: maxOutputBytes.picture,
};
