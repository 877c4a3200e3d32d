import type { Track } from './ffprobe.ts';
import { coloursOf, isHighDynamicRange, screenColours, type VideoColours } from './video-colours.ts';

/** ffmpeg filters, and the colours of the frames that they put out. */
export interface ColourFilters {
  /** Gives frames the colours of their track, which the decoder may not know. Must be the first: others convert by it. */
  readonly statement: string;
  readonly mapping: readonly string[];
  readonly colours: VideoColours;
}

const toneMapping = [
  'zscale=transfer=linear:npl=203',
  'format=gbrpf32le',
  'zscale=primaries=bt709',
  'tonemap=mobius:desat=0',
  'zscale=transfer=bt709:matrix=bt709:range=tv',
  'format=yuv420p',
];
// swscale converts from these matrices and RGB, zscale from others.
const scaledMatrices = ['gbr', 'bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'bt2020nc', 'bt2020c'];

/**
 * Filters that map a high dynamic range to the range and colours of common screens; without that, it looks grey. The second
 * attempt is for one that cannot be mapped.
 */
export function colourAttempts(track: Track): readonly [ColourFilters, ...ColourFilters[]] {
  const colours = coloursOf(track);
  const statement = stateColours(colours);
  const opaque = track.hasAlpha ? [showOnWhite(colours)] : [];
  if (isHighDynamicRange(track)) {
    const unmapped = { ...screenColours, matrix: colours.matrix, range: colours.range };
    return [
      { statement, mapping: [...opaque, ...toneMapping], colours: screenColours },
      { statement: stateColours(unmapped), mapping: opaque, colours: unmapped },
    ];
  }
  if (scaledMatrices.includes(colours.matrix)) return [{ statement, mapping: opaque, colours }];
  const matrix = 'bt709';
  return [{ statement, mapping: [...opaque, `zscale=matrix=${matrix}`], colours: { ...colours, matrix } }];
}

// H.264 has no alpha, and would show the colours that transparent pixels have. Pictures of photos are on white, too.
function showOnWhite({ matrix }: VideoColours): string {
  const [format, white] =
    matrix === 'gbr'
      ? ['format=rgba', 'lutrgb=r=255:g=255:b=255:a=255']
      : ['scale=out_range=tv,format=yuva444p', 'lutyuv=y=235:u=128:v=128:a=255'];
  return `${format},split[picture][canvas];[canvas]${white}[white];[white][picture]overlay=format=auto`;
}

// Browsers know these matrices.
const codedMatrices = ['bt709', 'bt470bg', 'smpte170m', 'bt2020nc'];

/** Filters that scale frames of these colours for an encoder of 4:2:0, and state every colour: browsers guess the others. */
export function scaleForEncoder(size: { readonly width: number; readonly height: number }, colours: VideoColours) {
  const matrix = codedMatrices.includes(colours.matrix) ? colours.matrix : 'bt709';
  const scale = `scale=${size.width}:${size.height}:out_color_matrix=${matrix}:out_range=tv`;
  return [scale, 'format=yuv420p', stateColours({ ...colours, matrix, range: 'tv' }), 'setsar=1'];
}

function stateColours({ matrix, primaries, transfer, range }: VideoColours): string {
  return `setparams=colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}:range=${range}`;
}
