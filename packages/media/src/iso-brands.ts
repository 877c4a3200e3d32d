type IsoType = 'mp4' | 'mov' | '3gp' | 'avif' | 'heic';

/**
 * The brands of each type (ISO/IEC 14496-12 section 4.3; the registry is mp4ra.org). Where several speak, the first
 * row wins.
 */
const brandsOf: readonly (readonly [IsoType, RegExp])[] = [
  ['avif', /^avi[fs]$/],
  ['heic', /^(hei[cxms]|hev[cxms])$/],
  ['mov', /^qt {2}$/],
  ['3gp', /^3g[a-z2][0-9a-z]$/],
  [
    'mp4',
    /^(iso[m2-9a-c]|isml|piff|mp4[12]|mp71|mmp4|avc1|hvc1|hev1|av01|dash|cmf[2cfl]|MSNV|M4[ABPV].|[fF]4[ABPVabpv] )$/,
  ],
];

// Containers of the same build that are something else: Canon's raw photos, JPEG 2000 and its videos.
const somethingElse = /^(crx |jp2 |jpx |jpm |mjp2|mj2s)$/;

// "A picture or a sequence of pictures", whatever their coding: only the compatible brands tell.
const anyPicture = /^(mif1|mif2|msf1|miaf)$/;

const oldQuickTime = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'];

/**
 * What a file built of ISO boxes is, by its brands; videos of before the brands (QuickTime of the nineties) are known
 * by their first box.
 */
export function isoMediaType(head: Buffer): IsoType | undefined {
  if (head.length < 12) return undefined;
  const firstBox = head.toString('latin1', 4, 8);
  if (firstBox === 'ftyp') return typeOfBrands(brandsIn(head));
  const size = head.readUInt32BE(0);
  return oldQuickTime.includes(firstBox) && (size === 1 || size >= 8 || size === 0) ? 'mov' : undefined;
}

function brandsIn(head: Buffer): string[] {
  const end = Math.min(head.readUInt32BE(0), head.length - 3);
  const brands = [head.toString('latin1', 8, 12)];
  for (let at = 16; at < end; at += 4) brands.push(head.toString('latin1', at, at + 4));
  return brands;
}

// The major brand decides where it is known; makers invent majors of their own and then name a known one among the
// compatible.
function typeOfBrands([major = '', ...compatible]: string[]): IsoType | undefined {
  if (somethingElse.test(major)) return undefined;
  const known = anyPicture.test(major) ? brandsOf.filter(([type]) => type === 'avif' || type === 'heic') : brandsOf;
  return (
    known.find(([, brand]) => brand.test(major))?.[0] ??
    known.find(([, brand]) => compatible.some((b) => brand.test(b)))?.[0]
  );
}
