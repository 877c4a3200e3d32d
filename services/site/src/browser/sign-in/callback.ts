// No static import: the code leaves the address before anything else is loaded. It stays in no history and no bookmark.
const response = new URLSearchParams(location.search);
history.replaceState(null, '', location.pathname);
const missing = document.getElementById('scripts-missing');
try {
  const { finishSignIn } = await import('./finish-sign-in.ts');
  missing?.remove();
  await finishSignIn(response);
} catch (error) {
  missing?.classList.remove('late');
  throw error;
}

export {};
