import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { made } from '@echodrop/testkit/samples/sample-media';
import {
  withBoxNotes,
  withJunkNotes,
  withPacketNotes,
  withPictureNotes,
  withSoundNotes,
  withUnitNotes,
  withVoidNotes,
} from '@echodrop/testkit/samples/sample-video-notes';
import type { VideoType } from '../detect-media-type.ts';
import { mark } from './marked-media.fixture.ts';

const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=25:duration=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=duration=1'];

const chapters = `;FFMETADATA1\ntitle=${mark}\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=900\ntitle=${mark}\n`;
const subtitles = `1\n00:00:00,000 --> 00:00:00,900\n${mark}\n`;

const tags = [
  ...['-map_metadata', '2', '-map_chapters', '2', '-movflags', 'use_metadata_tags'],
  ...['title', 'comment', 'artist', 'copyright', 'location'].flatMap((tag) => ['-metadata', `${tag}=${mark}`]),
  ...['-metadata', `service_name=${mark}`, '-metadata', `service_provider=${mark}`],
  ...['v', 'a'].flatMap((kind) =>
    ['title', 'comment', 'handler_name'].flatMap((tag) => [`-metadata:s:${kind}`, `${tag}=${mark}`]),
  ),
];
const attached = ['-attach', import.meta.filename, '-metadata:s:t', `mimetype=text/${mark}`];

type Tracks = 'pictures and sound of notes' | 'pictures of notes' | 'plain';
interface Making {
  readonly tracks: Tracks;
  /** What the format has for the words of a video. */
  readonly subtitles?: string;
  readonly coding: readonly string[];
  readonly withNotes?: (video: Buffer, note: string) => Buffer;
}

const copied = ['-c:v', 'copy', '-c:a', 'copy'];
const makings: Record<VideoType, Making> = {
  mp4: iso('mp4', 'mov_text'),
  mov: iso('mov', 'mov_text'),
  '3gp': iso('3gp'),
  mkv: {
    tracks: 'pictures and sound of notes',
    subtitles: 'srt',
    coding: [...copied, ...attached, '-f', 'matroska'],
    withNotes: withVoidNotes,
  },
  ts: { tracks: 'pictures and sound of notes', coding: [...copied, '-f', 'mpegts'] },
  flv: { tracks: 'pictures and sound of notes', coding: [...copied, '-f', 'flv'] },
  mpg: {
    tracks: 'pictures of notes',
    coding: ['-c:v', 'copy', '-c:a', 'mp2', '-f', 'vob'],
    withNotes: withPacketNotes,
  },
  webm: {
    tracks: 'plain',
    subtitles: 'webvtt',
    coding: ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libopus', '-f', 'webm'],
    withNotes: withVoidNotes,
  },
  avi: { tracks: 'plain', coding: ['-c:v', 'mpeg4', '-c:a', 'libmp3lame', '-f', 'avi'], withNotes: withJunkNotes },
  ogv: { tracks: 'plain', coding: ['-c:v', 'libtheora', '-c:a', 'libvorbis', '-f', 'ogg'] },
  wmv: { tracks: 'plain', coding: ['-c:v', 'wmv2', '-c:a', 'wmav2', '-f', 'asf'] },
};

function iso(format: string, words?: string): Making {
  const said = words ? { subtitles: words } : {};
  const coding = [...copied, '-f', format];
  return { tracks: 'pictures and sound of notes', ...said, coding, withNotes: withBoxNotes };
}

/**
 * A video of a second with the mark in all places that its type has: tags of the video, its tracks and chapters,
 * subtitles, attachments, padding, and between the coded pictures and the coded sounds.
 */
export async function markedVideo(type: VideoType): Promise<Buffer> {
  const { tracks, subtitles: words, coding, withNotes = (video: Buffer) => video } = makings[type];
  await using folder = await mkdtempDisposable(join(tmpdir(), 'marked-'));
  const file = async (name: string, content: string | Buffer) => {
    await writeFile(join(folder.path, name), content);
    return ['-i', join(folder.path, name)];
  };
  const seen = tracks === 'plain' ? picture : ['-r', '25', ...(await file('pictures', await notedPictures(tracks)))];
  const heard = tracks === 'pictures and sound of notes' ? await file('sound.aac', await notedSound()) : tone;
  const chaptered = ['-f', 'ffmetadata', ...(await file('chapters', chapters))];
  const said = words ? ['-f', 'srt', ...(await file('words', subtitles))] : [];
  const maps = ['-map', '0:v', '-map', '1:a', ...(words ? ['-map', '3:s', '-c:s', words] : [])];
  return withNotes(await made([...seen, ...heard, ...chaptered, ...said, ...maps, ...tags, ...coding]), mark);
}

async function notedPictures(tracks: Tracks): Promise<Buffer> {
  if (tracks === 'pictures of notes') {
    return withPictureNotes(await made([...picture, '-c:v', 'mpeg2video', '-f', 'mpeg2video']), mark);
  }
  // With parameters of the High profile: notes behind those of others make them unreadable, and the video is transcoded.
  const coding = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '0', '-pix_fmt', 'yuv420p', '-f', 'h264'];
  return withUnitNotes(await made([...picture, ...coding]), mark);
}

async function notedSound(): Promise<Buffer> {
  return withSoundNotes(await made([...tone, '-c:a', 'aac', '-f', 'adts']), mark);
}
