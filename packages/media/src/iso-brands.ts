type IsoType = 'mp4' | 'mov' | '3gp' | 'avif' | 'heic';

/** The brands of each type (ISO/IEC 14496-12 section 4.3; registry: mp4ra.org). The first match wins. */
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

// Other types in the same container format: Canon raw photos, JPEG 2000 and its videos.
const otherBrands = /^(crx |jp2 |jpx |jpm |mjp2|mj2s)$/;

// A picture or sequence of any codec, which only the compatible brands reveal.
const genericPicture = /^(mif1|mif2|msf1|miaf)$/;

const oldQuickTime = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'];

/** The type of a file of ISO boxes by its brands, or of QuickTime from before brands by its first box. */
export function detectIsoType(head: Buffer): IsoType | undefined {
  if (head.length < 12) return undefined;
  const firstBox = head.toString('latin1', 4, 8);
  if (firstBox === 'ftyp') return typeOfBrands(readBrands(head));
  const size = head.readUInt32BE(0);
  return oldQuickTime.includes(firstBox) && (size === 1 || size >= 8 || size === 0) ? 'mov' : undefined;
}

function readBrands(head: Buffer): string[] {
  const end = Math.min(head.readUInt32BE(0), head.length - 3);
  const brands = [head.toString('latin1', 8, 12)];
  for (let at = 16; at < end; at += 4) brands.push(head.toString('latin1', at, at + 4));
  return brands;
}

// The major brand decides if it is known; some vendors invent one and list a known one as compatible.
function typeOfBrands([major = '', ...compatible]: string[]): IsoType | undefined {
  if (otherBrands.test(major)) return undefined;
  const known = genericPicture.test(major) ? brandsOf.filter(([type]) => type === 'avif' || type === 'heic') : brandsOf;
  return (
    known.find(([, brand]) => brand.test(major))?.[0] ??
    known.find(([, brand]) => compatible.some((b) => brand.test(b)))?.[0]
  );
}
