// The gateway's limit for a text field (docs/reference/interface.md, "Limits").
const maxBytes = 64 * 1024;

/** Makes the browser reject an alternative text that is too long for the gateway. */
export function validateAlternativeText(alt: HTMLTextAreaElement) {
  const max = Number(alt.dataset['maxCharacters']);
  alt.addEventListener('input', () => {
    const count = [...alt.value.trim()].length;
    alt.setCustomValidity(
      count > max ? `This text is too long: ${format(count)} characters; the limit is ${format(max)}.` : '',
    );
  });
}

/** Makes the browser reject a caption that is too long for the gateway. */
export function validateCaption(caption: HTMLTextAreaElement) {
  caption.addEventListener('input', () => {
    // As sent: UTF-8, and CRLF as line ends (HTML, "constructing entry list").
    const bytes = new TextEncoder().encode(caption.value.replaceAll(/\r\n?|\n/g, '\r\n')).length;
    const isTooLong = bytes > maxBytes;
    caption.setCustomValidity(
      isTooLong ? `This caption is too long: ${format(bytes)} bytes; the limit is ${format(maxBytes)}.` : '',
    );
  });
}

function format(count: number) {
  return count.toLocaleString('en');
}
