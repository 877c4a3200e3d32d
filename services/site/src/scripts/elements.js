// @ts-check

/**
 * The element with this id and type.
 *
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`missing element #${id}`);
  return found;
}

/**
 * The first element below `root` with this selector and type.
 *
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} kind
 * @returns {T}
 */
export function partOf(root, selector, kind) {
  const found = root.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`missing element ${selector}`);
  return found;
}

/**
 * A copy of the element in a template.
 *
 * @param {string} id of the template
 * @returns {HTMLElement}
 */
export function fromTemplate(id) {
  const { content } = element(id, HTMLTemplateElement);
  const copy = content.firstElementChild?.cloneNode(true);
  if (!(copy instanceof HTMLElement)) throw new Error(`empty template #${id}`);
  return copy;
}

/**
 * Text for screen readers only.
 *
 * @param {string} text
 */
export function unseen(text) {
  const span = document.createElement('span');
  span.className = 'unseen';
  span.textContent = text;
  return span;
}

/**
 * Lets screen readers read a sentence.
 *
 * @param {HTMLElement} status a live region
 * @param {string} sentence
 */
export function announce(status, sentence) {
  // They read changes only, and the same text again would be none.
  status.textContent = '';
  requestAnimationFrame(() => {
    status.textContent = sentence;
  });
}
