import { copyButton } from './copy-button.ts';

// Adds a Copy button to each field of the share section. Without scripts, people select the text.
for (const field of document.querySelectorAll('.share .field')) {
  const input = field.querySelector('input');
  const label = field.querySelector('label');
  if (!input || !label) continue;
  field.classList.add('with-copy');
  field.append(copyButton(label.textContent ?? '', () => input.value, { hidesWhat: true }));
}
