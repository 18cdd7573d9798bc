import { html, raw, type Html } from '../pages/html.ts';
import { qrPath } from '../pages/qr-path.ts';

/**
 * A QR code as inline SVG, always dark on light (many scanners fail on inverted codes). `id` starts the ids of its
 * title and description, which screen readers announce.
 */
export function qrSvg(
  content: string,
  { id, title, description }: { readonly id: string; readonly title: string; readonly description: string },
): Html {
  const { path, size } = codeOf(content);
  return html`<svg
    class="qr"
    role="img"
    aria-labelledby="${id}-title ${id}-desc"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <title id="${id}-title">${title}</title>
    <desc id="${id}-desc">${description}</desc>
    <rect width="${size}" height="${size}" fill="#fff" />
    <path stroke="#000" d="${path}" />
  </svg>`;
}

interface Code {
  readonly path: Html;
  readonly size: number;
}

/** A code takes 1.5 ms, and its page is requested again and again. At 5 KB each, this many are 2.5 MB. */
const MAX_KEPT = 500;
const kept = new Map<string, Code>();

function codeOf(content: string): Code {
  const known = kept.get(content);
  if (known !== undefined) return known;
  const { path, size } = qrPath(content);
  const code = { path: raw(path), size };
  // A map keeps the order of insertion: its first key was made longest ago.
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(content, code);
  return code;
}
