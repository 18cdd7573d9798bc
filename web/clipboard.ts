/** Whether the text was copied; `button` gets the focus back. */
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
  // Through CSSOM: the page's policy refuses style attributes. Off the screen, but not `display: none`, which selects
  // nothing.
  Object.assign(area.style, { position: 'fixed', top: '0', opacity: '0' });
  document.body.append(area);
  area.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    // As good as refused.
  }
  area.remove();
  button.focus({ preventScroll: true });
  return copied;
}
