import type { Track } from '../video-layout/ffprobe.ts';

// PQ and HLG (ITU-R BT.2100), by ffprobe's names.
const highDynamicRange = ['smpte2084', 'arib-std-b67'];

/**
 * The filters of ffmpeg that bring a video of high dynamic range into the range and the colours (BT.709) of common
 * screens; none for all other videos. Without them such a video looks grey.
 */
export function toSdr({ transfer }: Track): readonly string[] {
  if (!highDynamicRange.includes(transfer)) return [];
  return [
    'zscale=transfer=linear:npl=203',
    'format=gbrpf32le',
    'zscale=primaries=bt709',
    'tonemap=mobius:desat=0',
    'zscale=transfer=bt709:matrix=bt709:range=tv',
    'format=yuv420p',
  ];
}
