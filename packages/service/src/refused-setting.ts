/** A server refuses what a setting says. Unlike an outage, the refusal does not pass by itself. */
export class RefusedSetting extends Error {
  override readonly name = 'RefusedSetting';
}
