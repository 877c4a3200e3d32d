import { consumers, users } from './users.ts';

/** The page at `/`: which credentials the sandbox takes, and for which address they are signed. */
export function credentialsPage(origin: string): string {
  const rows = [
    ['address', `${escaped(origin)}/1/account/verify_credentials.json`],
    ...consumers.flatMap(({ key, secret }) => [
      ['consumer key', key],
      ['consumer secret', secret],
    ]),
    ...users.flatMap(({ token, tokenSecret, id, screenName }) => [
      ['token', token],
      ['token secret', tokenSecret],
      ['user', `${screenName}, id ${id}`],
    ]),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sandbox identity provider</title>
<h1>Sandbox identity provider</h1>
<p>An OAuth 1.0a provider for trying things out. It knows one application and one user; requests are signed with HMAC-SHA1.</p>
<table>
${rows.map(([name, value]) => `<tr><th align="left">${name}</th><td><code>${value}</code></td></tr>`).join('\n')}
</table>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
