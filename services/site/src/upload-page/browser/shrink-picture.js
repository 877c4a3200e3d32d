// @ts-check

// In pixels: twice what the list shows.
const maxSide = 400;

/**
 * A small copy of a picture.
 *
 * @param {Blob} picture
 * @returns {Promise<Blob | undefined>}
 * @throws {DOMException} if the browser cannot show the picture
 */
export async function shrinkPicture(picture) {
  const whole = await createImageBitmap(picture);
  try {
    const scale = Math.min(1, maxSide / Math.max(whole.width, whole.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(whole.width * scale);
    canvas.height = Math.ceil(whole.height * scale);
    canvas.getContext('2d')?.drawImage(whole, 0, 0, canvas.width, canvas.height);
    // Browsers without WebP make a PNG.
    return await new Promise((resolve) => canvas.toBlob((small) => resolve(small ?? undefined), 'image/webp'));
  } finally {
    whole.close();
  }
}
