/** Copies the text and returns whether that worked; `button` gets the focus back. */
export async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  try {
    // Missing on plain http, and refused in frames that do not allow it.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, button);
  }
}

function copySelected(text: string, button: HTMLElement): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  // Through CSSOM, because the page's policy refuses style attributes. Off screen, but not `display: none`, which could
  // not be selected.
  Object.assign(area.style, { position: 'fixed', top: '0', opacity: '0' });
  document.body.append(area);
  area.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    // The same as a refusal.
  }
  area.remove();
  button.focus({ preventScroll: true });
  return copied;
}
