import { encode } from 'uqr';
import { describe, expect, it } from 'vitest';
import { markupText } from '../pages/html.ts';
import { tagsOf, valuesOf } from '../pages/markup.fixture.ts';
import { qrSvg } from './steps/pay-step.ts';

const CONTENT = 'bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.00081667';

/** The modules that the drawn path darkens. */
function drawn(path: string, size: number): boolean[][] {
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  let [x, y] = [0, 0];
  for (const [, to, row, gap, width] of path.matchAll(/(?:M(\d+) (\d+)\.5|m(\d+) 0)h(\d+)/g)) {
    if (to !== undefined) [x, y] = [Number(to), Number(row)];
    else x += Number(gap);
    rows[y]?.fill(true, x, x + Number(width));
    x += Number(width);
  }
  return rows;
}

describe('qrSvg', () => {
  it('draws exactly the modules of the code, with the quiet zone of four that scanners need', () => {
    const markup = markupText(qrSvg(CONTENT, { id: 'qr', title: 't', description: 'd' }));
    const { data, size } = encode(CONTENT, { ecc: 'M', border: 4 });
    expect(valuesOf(markup, 'svg', 'viewBox')).toEqual([`0 0 ${size} ${size}`]);
    const rows = drawn(valuesOf(markup, 'path', 'd')[0] ?? '', size);
    expect(rows).toEqual(data);
    expect(rows.slice(0, 4).flat()).not.toContain(true);
    expect(rows.map((row) => row.slice(0, 4)).flat()).not.toContain(true);
  });

  it('is an image with a spoken name and description', () => {
    const markup = markupText(qrSvg(CONTENT, { id: 'qr', title: 'Pay <1>', description: 'Scan' }));
    expect(tagsOf(markup)[0]?.attributes.get('role')).toBe('img');
    expect(valuesOf(markup, 'svg', 'aria-labelledby')).toEqual(['qr-title qr-desc']);
    expect(markup).toContain('Pay &lt;1&gt;');
  });
});
