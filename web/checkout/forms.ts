/** After this long without an answer the customer may try again. */
const GIVE_UP_MS = 15_000;

/** Makes a second click, on the same button or another, submit nothing while the first is being submitted. */
export function submitOnce(): void {
  let busy = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const free = () => {
    busy = false;
    clearTimeout(timer);
    for (const form of document.querySelectorAll('form[aria-busy]')) form.removeAttribute('aria-busy');
  };
  document.addEventListener('submit', (event) => {
    if (busy) {
      event.preventDefault();
      return;
    }
    if (event.defaultPrevented || !(event.target instanceof HTMLFormElement)) return;
    busy = true;
    event.target.setAttribute('aria-busy', 'true');
    timer = setTimeout(free, GIVE_UP_MS);
  });
  // Also for a page restored from the history in its old state.
  addEventListener('pageshow', free);
}
