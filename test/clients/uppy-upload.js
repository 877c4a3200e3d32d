import Uppy from '@uppy/core';
import Tus from '@uppy/tus';

/** Uploads the file of the page's input with Uppy. The values of `options` are those of its tus plugin. */
globalThis.uploadWithUppy = async ({ metadata, ...options }) => {
  const uppy = new Uppy({ meta: metadata }).use(Tus, { ...options, allowedMetaFields: Object.keys(metadata) });
  const [data] = document.querySelector('input').files;
  uppy.addFile({ name: data.name, type: data.type, data });
  const { failed } = await uppy.upload();
  if (failed.length > 0) throw new Error(failed[0].error);
};
