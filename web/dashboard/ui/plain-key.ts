const TAKES_KEYS = 'input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu], dialog';

/** Whether a key press is for the page, not for a field, a dialog, a menu or the browser. */
export function isPlainKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  const target = event.target instanceof Element ? event.target : null;
  return target === null || target.closest(TAKES_KEYS) === null;
}
