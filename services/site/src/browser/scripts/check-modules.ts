// Removes the text about missing scripts once every module of the page runs. If one fails, shows the text without its delay.
const missing = document.getElementById('scripts-missing');
const scripts: NodeListOf<HTMLScriptElement> = document.querySelectorAll('script[type=module]');
// Each module runs once: an import of it reports how that ended.
Promise.all([...scripts].map(({ src }) => import(src))).then(
  () => missing?.remove(),
  () => missing?.classList.remove('late'),
);
