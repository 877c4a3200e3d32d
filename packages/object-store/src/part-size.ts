/** Size of every part but the last. An upload that fits into one part is a single PUT. */
export const partBytes = 8 * 1024 * 1024;

/** Unit of allocation, so that a small upload does not hold a whole part. Each block is one write to a socket. */
export const blockBytes = 128 * 1024;
