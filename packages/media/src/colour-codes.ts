/** Colours as numbers: colour primaries and transfer characteristics of ITU-T H.273. 2: unspecified. */
export interface ColourCodes {
  readonly primaries: number;
  readonly transfer: number;
}
