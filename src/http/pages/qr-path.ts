import { encode } from 'uqr';

/** Light modules around the code; ISO/IEC 18004 asks for 4. */
const QUIET_ZONE = 4;

/** A QR code as one SVG path of strokes, in a square of `size` modules with its quiet zone. */
export function qrPath(content: string): { readonly path: string; readonly size: number } {
  // Level M corrects 15 %: enough for a screen; the smaller modules of Q would make phones come closer.
  const { data, size } = encode(content, { ecc: 'M', border: QUIET_ZONE });
  return { path: darkModules(data), size };
}

/** One path for all dark modules, with a stroke for each run in a row: a tenth of the bytes of one square each. */
function darkModules(rows: readonly (readonly boolean[])[]): string {
  const strokes: string[] = [];
  for (const [y, row] of rows.entries()) {
    let pen: number | null = null;
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x += 1;
      // Relative to the pen's place, once it is in the row.
      const move = pen === null ? `M${start} ${y}.5` : `m${start - pen} 0`;
      pen = x + 1;
      strokes.push(`${move}h${pen - start}`);
    }
  }
  // Joined rather than concatenated: a flat string is faster to copy into every page that contains it.
  return strokes.join('');
}
