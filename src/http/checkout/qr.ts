import { encode } from 'uqr';
import { html, raw, type Html } from '../pages/html.ts';

/** Light modules around the code; ISO/IEC 18004 requires 4. */
const QUIET_ZONE = 4;

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

/** A code takes 1.5 ms, and its page is requested again and again. At 5 KB each these are 2.5 MB. */
const MAX_KEPT = 500;
const kept = new Map<string, Code>();

function codeOf(content: string): Code {
  const known = kept.get(content);
  if (known !== undefined) return known;
  // M corrects 15 %, enough for a screen; Q's smaller modules would force phones to come closer.
  const { data, size } = encode(content, { ecc: 'M', border: QUIET_ZONE });
  const code = { path: raw(darkModules(data)), size };
  // A map keeps the order of insertion: its first key was made longest ago.
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(content, code);
  return code;
}

/**
 * One path for all dark modules, with a stroke through the middle of each run in a row: a tenth of the bytes of one
 * square per module.
 */
function darkModules(rows: readonly (readonly boolean[])[]): string {
  const strokes: string[] = [];
  for (const [y, row] of rows.entries()) {
    let pen: number | null = null;
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x += 1;
      // Relative to the pen's position once it is in the row.
      const move = pen === null ? `M${start} ${y}.5` : `m${start - pen} 0`;
      pen = x + 1;
      strokes.push(`${move}h${pen - start}`);
    }
  }
  // Joined instead of concatenated: a cached string would otherwise be flattened for every page that contains it.
  return strokes.join('');
}
