const maxName = 100;

/** How pages name an account: with the screen name, which its uploads show. Ignores what is no text. */
export function accountName(name: unknown, screenName: unknown) {
  const full = nameOf(name);
  const screen = nameOf(screenName);
  return full && screen && full !== screen ? `${full} (${screen})` : full || screen;
}

function nameOf(value: unknown) {
  return typeof value === 'string' ? value.trim().slice(0, maxName) : '';
}
