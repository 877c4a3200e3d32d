import type { VideoType } from '../detect-media-type.ts';

/** Types with a `moov` box, which lists tracks and their edits. */
export const isoTypes: readonly VideoType[] = ['mp4', 'mov', '3gp'];

/**
 * The ffmpeg demuxers for each type. No other may open a file, so that playlists and manifests are never followed
 * (docs/why/dependencies.md, "ffprobe and ffmpeg").
 */
const demuxers: Record<VideoType, readonly string[]> = {
  mp4: ['mov'],
  mov: ['mov'],
  '3gp': ['mov'],
  webm: ['matroska'],
  mkv: ['matroska'],
  avi: ['avi'],
  mpg: ['mpeg', 'mpegvideo'],
  ts: ['mpegts'],
  ogv: ['ogg'],
  flv: ['flv'],
  wmv: ['asf'],
};

/**
 * The accepted video codecs, in ffprobe's notation. No other is decoded, which keeps vulnerable rare decoders out (MagicYUV:
 * CVE-2026-8461). Listed are those of phones, cameras, discs, common editors, and QuickTime and AVI of the nineties, but not
 * those that only few professionals exchange (Ut Video, Hap, Lagarith).
 */
const videoCodecs = words(`
  h264 hevc av1 vp8 vp9
  mpeg1video mpeg2video mpeg4 msmpeg4v1 msmpeg4v2 msmpeg4v3 h261 h263 flv1 vp6f vp6a theora wmv1 wmv2 wmv3 vc1
  mjpeg mjpegb svq1 svq3 cinepak indeo3 indeo5 msvideo1 msrle rpza qtrle smc 8bps png
  dvvideo prores dnxhd cfhd huffyuv ffv1 rawvideo`);

// These decoders have another name than their codec.
const otherNames = words('libdav1d libaom-av1 libvpx libvpx-vp9 msmpeg4 flv');

// ffprobe 5.1 opens a decoder for every track and fails if it may not, so sound and subtitles are listed too.
const soundDecoders = words(`
  aac aac_latm mp1 mp1float mp2 mp2float mp3 mp3float mp3adu ac3 eac3 dca truehd mlp
  opus libopus vorbis libvorbis flac alac speex libspeex nellymoser qdm2 qdmc mace3 mace6 dvaudio
  amrnb amrwb libopencore_amrnb libopencore_amrwb qcelp evrc gsm gsm_ms wmav1 wmav2 wmapro wmalossless wmavoice
  pcm_s8 pcm_u8 pcm_s16le pcm_s16be pcm_s24le pcm_s24be pcm_s32le pcm_s32be pcm_f32le pcm_f32be pcm_f64le pcm_f64be
  wavpack tta g723_1 g726 g726le
  pcm_mulaw pcm_alaw pcm_bluray pcm_dvd s302m adpcm_ima_wav adpcm_ima_qt adpcm_ms adpcm_swf adpcm_yamaha`);
const subtitleDecoders = words(
  'srt subrip ass ssa text mov_text webvtt dvdsub dvbsub pgssub xsub cc_dec libzvbi_teletextdec',
);
// These codecs are for covers, which ffprobe lists as videos.
const coverDecoders = words('bmp gif tiff');

const decoders = [...videoCodecs, ...otherNames, ...soundDecoders, ...subtitleDecoders, ...coverDecoders].join(',');

/** How many bytes of a stream are searched for its first keyframe. */
export const maxStreamBytes = 8 * 1024 * 1024;
const streamProbeSize = ['-probesize', String(maxStreamBytes)];
// Half a minute: ffmpeg's default, 7 s, may be shorter than the distance of keyframes.
const streamAnalysis = [...streamProbeSize, '-analyzeduration', '30000000'];
// Recordings of a broadcast start anywhere. FLV describes its pictures where the first appears; the default analyses 90 s of
// its sound.
const probeOptions: Partial<Record<VideoType, readonly string[]>> = {
  ts: streamAnalysis,
  mpg: streamAnalysis,
  flv: streamProbeSize,
};

/** The maximum number of tracks; videos of phones and cameras have a handful. */
export const maxTracks = 64;

export function isListedCodec(name: string): boolean {
  return videoCodecs.includes(name);
}

/** Options before a video's path, for ffprobe and ffmpeg: the protocols, demuxers and codecs that may be used. */
export function videoGuards(type: VideoType): string[] {
  const [demuxer, ...others] = demuxers[type];
  return [
    ...['-protocol_whitelist', 'file'],
    ...['-format_whitelist', demuxers[type].join(',')],
    ...['-codec_whitelist', decoders],
    ...['-max_streams', String(maxTracks)],
    ...(probeOptions[type] ?? []),
    ...(demuxer && others.length === 0 ? ['-f', demuxer] : []),
  ];
}

interface CodedTrack {
  readonly index: number;
  readonly codec: string;
  readonly hasAlpha: boolean;
}

/** Options before a video's path: ffmpeg's own decoders of VP8 and VP9, which it prefers, ignore alpha. */
export function decoderOptions({ index, codec, hasAlpha }: CodedTrack): string[] {
  const decoder = new Map([
    ['vp8', 'libvpx'],
    ['vp9', 'libvpx-vp9'],
  ]).get(codec);
  return hasAlpha && decoder ? [`-c:${index}`, decoder] : [];
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
