import { element } from '/scripts/elements.js';

const drop = element('drop', HTMLElement);

/** Calls `add` with files that the person chooses, photographs, pastes, or drops anywhere on the page. */
export function onFiles(add: (files: readonly File[]) => void) {
  for (const id of ['media', 'camera']) {
    const input = element(id, HTMLInputElement);
    input.addEventListener('change', () => {
      add([...(input.files ?? [])]);
      // The same file can be chosen again.
      input.value = '';
    });
  }
  document.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0 || isTextForField(event)) return;
    event.preventDefault();
    add(files.map(numbered));
  });
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    drop.classList.add('over');
  });
  document.addEventListener('dragleave', clearHighlight);
  document.addEventListener('drop', (event) => {
    clearHighlight();
    if (!hasFiles(event)) return;
    // Otherwise the browser would open the file instead of the page.
    event.preventDefault();
    add([...(event.dataTransfer?.files ?? [])]);
  });
}

let pasted = 0;

/** Browsers call every picture of the clipboard `image.png`. */
function numbered(file: File) {
  if (file.name !== 'image.png') return file;
  pasted += 1;
  return new File([file], `pasted ${pasted}.png`, { type: file.type });
}

function clearHighlight() {
  drop.classList.remove('over');
}

/** Whether text is pasted into a field. Office programs copy it with a picture of it. */
function isTextForField({ target, clipboardData }: ClipboardEvent) {
  return target instanceof Element && target.matches('textarea, input') && clipboardData?.types.includes('text/plain');
}

function hasFiles(event: DragEvent) {
  return event.dataTransfer?.types.includes('Files');
}
