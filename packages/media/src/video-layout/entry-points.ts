import { boxContents, contentAt, entryCount, handlerType, readMoov } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';

/**
 * Whether an MP4 of H.264 from ffmpeg, which has one video track, plays from each of its sync samples: each is an IDR picture
 * and has the parameters with which the video begins. Decoders do not start at other pictures without the notes that a copy
 * loses (recovery points), and players keep the first size.
 * @throws OutputRefused
 */
export async function hasCleanEntryPoints(path: string): Promise<boolean> {
  await using video = await openToolOutput(path, 'mp4');
  const moov = await readMoov(video.reader);
  const trak = moov && boxContents(moov, 'trak').find((each) => handlerType(each) === 'vide');
  const table = trak && contentAt(trak, 'mdia', 'minf', 'stbl');
  const setup = table && readSetup(table);
  if (!table || !setup) return false;
  let count = 0;
  for (const sample of syncSamples(table)) {
    count += 1;
    if (!(await isEntryPoint(video.reader, sample, setup))) return false;
  }
  return count > 0;
}

/** How many bytes a unit's length takes, and the one sequence parameter set. */
interface Setup {
  readonly lengthBytes: number;
  readonly parameters: Buffer;
}

// ISO/IEC 14496-15 section 5.3.3.1, within a sample entry (ISO/IEC 14496-12 section 12.1.3).
function readSetup(table: Buffer): Setup | undefined {
  const visualEntryBytes = 78;
  const descriptions = contentAt(table, 'stsd');
  const [entry] = descriptions ? boxContents(descriptions, 'avc1', 8) : [];
  const [config] = entry ? boxContents(entry, 'avcC', visualEntryBytes) : [];
  if (!config || config.length < 6) return undefined;
  // Several sets may state different sizes, and each slice chooses one.
  const hasOne = (config.readUInt8(5) & 31) === 1 && config.length >= 8;
  if (!hasOne) return undefined;
  const parameters = config.subarray(8, 8 + config.readUInt16BE(6));
  return { lengthBytes: (config.readUInt8(4) & 3) + 1, parameters };
}

interface Sample {
  readonly offset: number;
  readonly end: number;
}

/** The samples at which decoding may start, in the order of the file; all of them if the track does not list them. */
function* syncSamples(table: Buffer): Generator<Sample> {
  const listed = contentAt(table, 'stss');
  const sync =
    listed && new Set(Array.from({ length: entryCount(listed, 4) }, (_, n) => listed.readUInt32BE(8 + n * 4)));
  let number = 0;
  for (const sample of samples(table)) {
    number += 1;
    if (!sync || sync.has(number)) yield sample;
  }
}

// Nine hours of 120 pictures a second have so many samples.
const maxSamples = 4_000_000;

// ISO/IEC 14496-12 sections 8.7.3 to 8.7.5: sizes of samples, runs of chunks with as many samples, and offsets of chunks.
function* samples(table: Buffer): Generator<Sample> {
  const tableOf = (type: string) => contentAt(table, type) ?? Buffer.alloc(12);
  const sizes = tableOf('stsz');
  const runs = tableOf('stsc');
  const commonSize = sizes.readUInt32BE(4);
  const count = commonSize ? sizes.readUInt32BE(8) : Math.min(sizes.readUInt32BE(8), (sizes.length - 12) >> 2);
  const isLong = contentAt(table, 'stco') === undefined;
  const chunks = tableOf(isLong ? 'co64' : 'stco');
  const chunkCount = entryCount(chunks, isLong ? 8 : 4);
  const runCount = entryCount(runs, 12);
  // A table of a few bytes may state any number.
  if (count > maxSamples) return;
  for (let chunk = 0, run = 0, sample = 0; chunk < chunkCount && sample < count && runCount > 0; chunk += 1) {
    while (run + 1 < runCount && runs.readUInt32BE(8 + (run + 1) * 12) <= chunk + 1) run += 1;
    let offset = isLong ? Number(chunks.readBigUInt64BE(8 + chunk * 8)) : chunks.readUInt32BE(8 + chunk * 4);
    for (let left = runs.readUInt32BE(12 + run * 12); left > 0 && sample < count; left -= 1, sample += 1) {
      const end = offset + (commonSize || sizes.readUInt32BE(12 + sample * 4));
      yield { offset, end };
      offset = end;
    }
  }
}

// ITU-T H.264 table 7-1.
const idrSlice = 5;
const sequenceParameters = 7;
const pictureParameters = 8;
const maxUnits = 1000;
const maxParameterBytes = 64 * 1024;

async function isEntryPoint(reader: SourceReader, { offset, end }: Sample, { lengthBytes, parameters }: Setup) {
  for (let units = 0, at = offset; units < maxUnits && at < end; units += 1) {
    const header = await reader.at(at, lengthBytes + 1);
    if (header.length <= lengthBytes) return false;
    const start = at + lengthBytes;
    const length = header.readUIntBE(0, lengthBytes);
    const type = header.readUInt8(lengthBytes) & 31;
    if (type === idrSlice) return true;
    if (type !== sequenceParameters && type !== pictureParameters) return false;
    if (type === sequenceParameters) {
      const unit = await reader.at(start, Math.min(length, maxParameterBytes));
      if (!parameters.equals(unit)) return false;
    }
    at = start + length;
  }
  return false;
}
