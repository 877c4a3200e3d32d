import { ftyp, isoBox } from '../samples/sample-iso.ts';
import { type Canary, type HostileMedia, hostile } from './hostile-sample.ts';

const segments = (address: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${address}\n#EXT-X-ENDLIST\n`;
const manifest = (address: string) =>
  `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>${address}</BaseURL><SegmentBase/></Representation></AdaptationSet></Period></MPD>`;

const plain: Record<string, (canary: Canary) => string> = {
  'an HLS playlist of a file': ({ file }) => segments(file),
  'an HLS playlist of an address': ({ address }) => segments(`${address}/hls.ts`),
  'an HLS playlist with a remote key': ({ file, address }) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI="${address}/key"\n#EXTINF:1,\n${file}\n`,
  'an HLS playlist of protocols in protocols': ({ file, address }) =>
    segments(`concat:${address}/a.txt|subfile,,start,0,end,64,,:${file}`),
  'a DASH manifest': ({ address }) => manifest(`${address}/dash.mp4`),
  'a Smooth Streaming manifest': ({ address }) =>
    `<?xml version="1.0"?><SmoothStreamingMedia MajorVersion="2"><StreamIndex Type="video" Url="${address}/q"/></SmoothStreamingMedia>`,
  'a concat script': ({ file }) => `ffconcat version 1.0\nfile '${file}'\n`,
  'a concat script of an address': ({ address }) => `ffconcat version 1.0\nfile '${address}/concat.mp4'\n`,
  'a session description': ({ address }) =>
    `v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nc=IN IP4 127.0.0.1\r\nm=video ${new URL(address).port} RTP/AVP 96\r\n`,
  'a Winamp playlist': ({ address }) => `[playlist]\nFile1=${address}/pls.mp4\nNumberOfEntries=1\n`,
  'a playlist of addresses': ({ address }) => `${address}/a.mp4\n${address}/b.mp4\n`,
  'an ASX playlist': ({ address }) => `<asx version="3"><entry><ref href="${address}/asx.wmv"/></entry></asx>`,
  'a playlist in QuickTime markup': ({ address }) =>
    `<?xml version="1.0"?><?quicktime type="application/x-quicktime-media-link"?><embed src="${address}/qtl.mov"/>`,
  'SubRip subtitles': () => '1\n00:00:00,000 --> 00:00:01,000\n<font face="x">hello</font>\n',
  'ASS subtitles': ({ file }) => `[Script Info]\nScriptType: v4.00+\nVideo File: ${file}\n[Events]\n`,
  'WebVTT subtitles': ({ address }) => `WEBVTT\n\nSTYLE\n::cue { background: url(${address}/vtt.png) }\n`,
  'MicroDVD subtitles': () => '{1}{25}hello\n{26}{50}world\n',
  'VobSub subtitles': () => '# VobSub index file, v7 (do not modify this line!)\nsize: 720x576\n',
  'SAMI subtitles': () => '<SAMI><BODY><SYNC Start=0><P>hello</SAMI>',
  'an SVG of an address': ({ address }) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${address}/svg.png"/></svg>`,
  'an SVG with entities of entities': ({ file }) =>
    `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a SYSTEM "file://${file}"><!ENTITY b "&a;&a;&a;">]><svg>&b;</svg>`,
  'a PDF': ({ address }) => `%PDF-1.7\n1 0 obj<</OpenAction<</S/URI/URI(${address}/pdf)>>>>endobj\n%%EOF`,
  'a PostScript program': ({ file }) => `%!PS-Adobe-3.0\n(${file}) (r) file pop showpage\n`,
  'an encapsulated PostScript': ({ file }) => `%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(${file}) run\n`,
  'a drawing in MVG': ({ address }) => `push graphic-context\nviewbox 0 0 9 9\nfill 'url(${address}/mvg.png)'\n`,
  'an ImageMagick script': ({ file }) => `<?xml version="1.0"?><image><read filename="${file}"/></image>`,
  'a page': ({ address }) => `<!DOCTYPE html><img src="${address}/html.png"><script>1</script>`,
  'a shell script': ({ address }) => `#!/bin/sh\ncurl ${address}/sh\n`,
  'a PHP script': () => '<?php system($_GET["x"]); ?>',
  'an X11 pixmap': () => '/* XPM */ static char *x[] = {"9 9 1 1","a c #fff"};',
  'a portable pixmap of 2^31 pixels': () => 'P6\n65536 32768\n255\n',
  'a text that begins with BM': () => 'BMW sells cars, and this text is long enough for two headers of a bitmap.',
};

const latin1: Record<string, string> = {
  'an encapsulated PostScript with a preview': '\xc5\xd0\xd3\xc6\x1e\0\0\0',
  'a zip': 'PK\x03\x04\x14\0\0\0\0\0',
  'a Linux executable': '\x7fELF\x02\x01\x01',
  'a Windows executable': 'MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff',
  'a Java class': '\xca\xfe\xba\xbe\0\0\0\x34',
  gzip: '\x1f\x8b\x08\0\0\0\0\0\0\x03',
  'a Canon raw photo in a TIFF': 'II*\0\x10\0\0\0CR\x02\0',
  'a Fuji raw photo': 'FUJIFILMCCD-RAW 0201',
  'an Olympus raw photo': 'IIRO\x08\0\0\0',
  'a Panasonic raw photo': 'IIU\0\x18\0\0\0',
  'a Sigma raw photo': 'FOVb\x01\0\x02\0',
  'a JPEG XL codestream': '\xff\x0a\xfa\x1f',
  'a JPEG XL': '\0\0\0\x0cJXL \r\n\x87\n',
  'a JPEG 2000': '\0\0\0\x0cjP  \r\n\x87\n',
  'a JPEG 2000 codestream': '\xff\x4f\xff\x51\0\x2f',
  'a JPEG XR': 'II\xbc\x01\x20\0\0\0',
  'a Photoshop document': '8BPS\0\x01\0\0\0\0\0\0',
  'a Bink video': 'BIKi\0\0\0\0',
  'a RealMedia video': '.RMF\0\0\0\x12\0\x01',
  'a WAVE file': 'RIFF\x24\0\0\0WAVEfmt ',
  'an animated cursor': 'RIFF\x24\0\0\0ACONanih',
  'an icon': '\0\0\x01\0\x01\0\x10\x10',
};

/** Files that begin like a video, but contain a playlist for the demuxer. */
const disguised: Record<string, (canary: Canary) => Buffer> = {
  'a DASH manifest after the brand of an MP4': ({ address }) =>
    Buffer.concat([ftyp('isom'), isoBox('free', Buffer.from(manifest(`${address}/x.mp4`)))]),
  'a DASH manifest in the index of an MP4': ({ address }) =>
    Buffer.concat([ftyp('isom'), isoBox('moov', Buffer.from(manifest(`${address}/x.mp4`)))]),
  'an HLS playlist after the beginning of an Ogg': ({ file }) => Buffer.from(`OggS${segments(file)}`),
  'an HLS playlist after the beginning of an FLV': ({ address }) =>
    Buffer.from(`FLV\x01\n${segments(`${address}/x.ts`)}`),
  'an HLS playlist after the beginning of MPEG': ({ file }) => Buffer.from(`\0\0\x01\xba${segments(file)}`, 'latin1'),
  'a concat script after the beginning of an AVI': ({ file }) =>
    Buffer.from(`RIFF\0\0\0\0AVI \nffconcat version 1.0\nfile '${file}'\n`, 'latin1'),
};

/** Files that are neither photo nor video: refused, and no reference in them is followed. */
export const hostileDocuments: readonly HostileMedia[] = [
  ...Object.entries(plain).map(([name, text]) => hostile(name, 'unknown_type', (canary) => Buffer.from(text(canary)))),
  ...Object.entries(latin1).map(([name, text]) =>
    hostile(name, 'unknown_type', () => Buffer.from(text.padEnd(64, '\0'), 'latin1')),
  ),
  hostile('a Word document', 'unknown_type', () => Buffer.from('PK\x03\x04\x14\0\x06\0[Content_Types].xml', 'latin1')),
  hostile('an ID3 tag that claims 256 MiB', 'unknown_type', () => Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1')),
  hostile('a Canon raw photo in ISO boxes', 'unknown_type', () => ftyp('crx ', 'crx ', 'isom')),
  hostile('only zeros', 'unknown_type', () => Buffer.alloc(4096)),
  hostile('one byte', 'unknown_type', () => Buffer.from('G')),
  ...Object.entries(disguised).map(([name, make]) => hostile(name, 'refused', make)),
];
