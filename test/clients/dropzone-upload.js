import Dropzone from 'dropzone';

/** Uploads the form of the page with Dropzone, whose settings are the defaults. */
globalThis.uploads.Dropzone = (url, headers) =>
  new Promise((resolve) => {
    const [media] = document.querySelector('[name=media]').files;
    const dropzone = new Dropzone(document.createElement('div'), { url, headers, paramName: 'media' });
    dropzone.on('sending', (_file, _request, form) => {
      for (const name of ['key', 'message']) form.append(name, document.querySelector(`[name=${name}]`).value);
    });
    dropzone.on('complete', ({ xhr }) => resolve({ status: xhr.status, text: xhr.responseText }));
    dropzone.addFile(media);
  });
