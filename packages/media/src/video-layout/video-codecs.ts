import type { VideoType } from '../media-type.ts';

/**
 * ffmpeg's demuxers for each type: nothing else may open a file, so that no playlist or manifest is ever followed
 * (docs/dependencies.md, "ffprobe and ffmpeg").
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
 * The codecs of videos that are let in, as ffprobe names them. What is not here is not decoded, which keeps the holes
 * of rare decoders out (MagicYUV: CVE-2026-8461). Each one is code that strangers may feed, if only within limits and
 * without a network, so it has to be worth it: it is in videos of phones, cameras, discs, common editors, or QuickTime
 * and AVI of the nineties. What only few professionals exchange (Ut Video, Hap, Lagarith) is not.
 */
const videoCodecs = words(`
  h264 hevc av1 vp8 vp9
  mpeg1video mpeg2video mpeg4 msmpeg4v1 msmpeg4v2 msmpeg4v3 h261 h263 flv1 vp6f vp6a theora wmv1 wmv2 wmv3 vc1
  mjpeg mjpegb svq1 svq3 cinepak indeo3 indeo5 msvideo1 msrle rpza qtrle smc 8bps png
  dvvideo prores dnxhd cfhd huffyuv ffv1 rawvideo`);

// Decoders that are not named as their codec is.
const otherNames = words('libdav1d libaom-av1 libvpx libvpx-vp9 msmpeg4 flv');

// ffprobe opens a decoder for every track and gives up where it may not (5.1): the sound and the subtitles of honest
// videos are listed too.
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
// Of covers, which ffprobe lists among the videos.
const coverDecoders = words('bmp gif tiff');

const decoders = [...videoCodecs, ...otherNames, ...soundDecoders, ...subtitleDecoders, ...coverDecoders].join(',');

/** How many bytes of a stream that may begin anywhere are looked at until it says what its pictures are. */
export const mostOfStream = 8 * 1024 * 1024;
const beginsAnywhere: readonly VideoType[] = ['ts', 'mpg'];
// Of a video at a low rate that is half a minute; ffmpeg's own bound, 7 s, may be shorter than from key to key.
const mostMicroseconds = 30_000_000;
const longLook = [...['-probesize', String(mostOfStream)], ...['-analyzeduration', String(mostMicroseconds)]];
// FLV tells of its pictures when they come; of its sound ffmpeg listens to 90 s for that.
const lateTracks = ['-probesize', String(mostOfStream)];

/** How many tracks a video may have: those of phones and cameras have a handful. */
export const mostStreams = 64;

export function isListedCodec(name: string): boolean {
  return videoCodecs.includes(name);
}

/**
 * The options that come before a video's path, for ffprobe and ffmpeg alike: what may be opened, and what may open it.
 */
export function videoGuards(type: VideoType): string[] {
  const [demuxer, ...others] = demuxers[type];
  return [
    ...['-protocol_whitelist', 'file'],
    ...['-format_whitelist', demuxers[type].join(',')],
    ...['-codec_whitelist', decoders],
    ...['-max_streams', String(mostStreams)],
    ...(beginsAnywhere.includes(type) ? longLook : []),
    ...(type === 'flv' ? lateTracks : []),
    ...(demuxer && others.length === 0 ? ['-f', demuxer] : []),
  ];
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
