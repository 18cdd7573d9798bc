import { encode } from 'uqr';
import { useMemo } from 'react';
import css from './qr-code.module.css';

/** Light modules around the code; ISO/IEC 18004 asks for 4. */
const BORDER = 4;

interface QrCodeProps {
  readonly content: string;
  readonly label: string;
  /** Whether the code is one of a sequence: these are read from near, where larger modules matter more than damage. */
  readonly isFrame?: boolean;
}

/** A QR code, dark on light in both themes, because many scanners fail on inverted codes. */
export function QrCode({ content, label, isFrame = false }: QrCodeProps) {
  const { path, size } = useMemo(() => {
    const code = encode(content, { ecc: isFrame ? 'L' : 'M', border: BORDER });
    const rows = code.data.map((row) => row.map((isDark) => (isDark ? '#' : ' ')).join(''));
    const runs = rows.flatMap((row, y) =>
      [...row.matchAll(/#+/g)].map((run) => `M${run.index} ${y}.5h${run[0].length}`),
    );
    return { path: runs.join(''), size: code.size };
  }, [content, isFrame]);
  return (
    <svg className={css.qr} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}
