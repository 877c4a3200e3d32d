import { htmlEscape } from 'escape-goat';

/** A page of the sandbox. `content` is markup. */
export function htmlPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${htmlEscape`<title>${title}</title>`}
<link rel="stylesheet" href="/sandbox.css">
</head>
<body>
<main>
${htmlEscape`<h1>${title}</h1>`}
${content}
</main>
</body>
</html>
`;
}
