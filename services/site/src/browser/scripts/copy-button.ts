import { announce, unseen } from './elements.ts';

const shownMs = 2000;

/**
 * A button that copies a text, and says so on itself and to screen readers. `what` is the kind of text, like "link"; with `hidesWhat`, only screen
 * readers get it, as they do `of`: to what the text belongs.
 */
export function copyButton(
  what: string,
  text: () => string,
  { hidesWhat = false, of }: { hidesWhat?: boolean; of?: string } = {},
): HTMLButtonElement {
  const button = document.createElement('button');
  const verb = document.createTextNode('Copy');
  button.type = 'button';
  button.className = 'button copy';
  button.append(verb, hidesWhat ? unseen(` ${what}`) : ` ${what}`);
  if (of !== undefined) button.append(unseen(` of ${of}`));
  let restoring = 0;
  button.addEventListener('click', async () => {
    const isCopied = await copy(text());
    verb.data = isCopied ? 'Copied' : 'Not copied:';
    say(
      isCopied
        ? `Copied ${what}.`
        : 'The browser does not allow copying. Select the text and copy it with the keyboard.',
    );
    clearTimeout(restoring);
    restoring = setTimeout(() => {
      verb.data = 'Copy';
    }, shownMs);
  });
  return button;
}

/** @returns whether the clipboard has it */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** A page on plain HTTP has no `navigator.clipboard`. */
function copySelected(text: string) {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'unseen';
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

let news: HTMLElement | undefined;

function say(sentence: string) {
  if (!news) {
    news = document.createElement('p');
    news.className = 'unseen';
    news.setAttribute('role', 'status');
    document.querySelector('main')?.append(news);
  }
  announce(news, sentence);
}
