/** The element with this id and type. */
export function element<T extends Element>(id: string, kind: new () => T): T {
  return partOf(document, `#${id}`, kind);
}

/** The first element below `root` with this selector and type. */
export function partOf<T extends Element>(root: ParentNode, selector: string, kind: new () => T): T {
  const found = root.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`missing element ${selector}`);
  return found;
}

/** A copy of the element in the template with this id. */
export function fromTemplate(id: string): HTMLElement {
  const { content } = element(id, HTMLTemplateElement);
  const copy = content.firstElementChild?.cloneNode(true);
  if (!(copy instanceof HTMLElement)) throw new Error(`empty template #${id}`);
  return copy;
}

/** Text for screen readers only. */
export function unseen(text: string) {
  const span = document.createElement('span');
  span.className = 'unseen';
  span.textContent = text;
  return span;
}

/** Lets screen readers read a sentence, which it puts into a live region. */
export function announce(status: HTMLElement, sentence: string) {
  // Screen readers read changes only, and the same text again would be no change.
  status.textContent = '';
  requestAnimationFrame(() => {
    status.textContent = sentence;
  });
}
