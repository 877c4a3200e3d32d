import { text } from './env.ts';

/** An `https:` or `mailto:` address. */
export function contactAddress() {
  return text().refine(
    (value) => /^(https:\/\/|mailto:)\S+$/.test(value) && URL.canParse(value),
    'must be an https: or mailto: address',
  );
}
