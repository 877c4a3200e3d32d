// @ts-check
import { element } from '/scripts/elements.js';

const dialog = element('confirm', HTMLDialogElement);

/**
 * Asks the person whether to delete an upload.
 *
 * @param {string} title of the upload
 * @returns {Promise<boolean>}
 */
export function confirmDelete(title) {
  element('confirm-title', HTMLElement).textContent = title;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'delete'), { once: true });
  });
}

// The page's policy allows no form submission, not even `method=dialog` in every browser.
for (const button of dialog.querySelectorAll('button')) {
  button.addEventListener('click', () => dialog.close(button.value));
}
