import type { Track } from '../video-layout/ffprobe.ts';

// PQ and HLG (ITU-R BT.2100), in ffprobe's notation.
const highDynamicRange = ['smpte2084', 'arib-std-b67'];

/**
 * ffmpeg filters that map a high-dynamic-range video to the range and colours (BT.709) of common screens; none for other
 * videos. Without them such a video looks grey.
 */
export function toneMappingFilters({ transfer }: Track): readonly string[] {
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
