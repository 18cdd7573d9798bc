import { createHash } from 'node:crypto';
import { imageSize } from 'image-size';
import type { Logo, PictureName } from '../../store/projects/projects.ts';
import type { LogoType } from '../../store/schema/projects.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { logoContent, nameAt, PNG_SIGNATURE } from './logo-content.ts';

/** Small, because the page should load fast on a slow phone; a good logo needs a tenth of this. */
export const MAX_LOGO_BYTES = 65_536;
const LOGO_SIDES = { min: 16, max: 2_048 } as const;

/** An uploaded picture; `file` is its name in answers. */
export interface LogoFile {
  readonly file: string;
  readonly bytes: Buffer;
}

/**
 * Accepts a picture whose content, whatever its name says, is a still PNG, JPEG or WebP of an acceptable size with
 * nothing after it. Everything else in the file is left out. An icon must be square, because tabs show icons so.
 */
export function parseLogo({ file, bytes }: LogoFile, param: PictureName): Logo | Rejected {
  const where = { param, file } as const;
  if (bytes.length > MAX_LOGO_BYTES) return rejected('logo_size', { ...where, max: MAX_LOGO_BYTES / 1_024 });
  const type = logoTypeOf(bytes);
  if (type === null) return rejected('logo_type', where);
  const size = sizeOf(bytes);
  const content = logoContent(type, bytes, size?.orientation ?? 1);
  if (content.kind === 'animated') return rejected('logo_animated', where);
  if (content.kind === 'tail') return rejected('logo_tail', { ...where, extra: content.extraBytes });
  if (content.kind === 'broken' || size === null) return rejected('logo_broken', where);
  const { width, height } = size;
  const { min, max } = LOGO_SIDES;
  if (Math.min(width, height) < min || Math.max(width, height) > max) {
    return rejected('logo_sides', { ...where, width, height, min, max: max.toLocaleString('en') });
  }
  if (param === 'icon' && width !== height) return rejected('icon_square', { ...where, width, height });
  const hash = createHash('sha256').update(content.bytes).digest('hex');
  return { hash, type, width, height, bytes: content.bytes };
}

const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);

function logoTypeOf(bytes: Buffer): LogoType | null {
  if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return 'image/png';
  if (bytes.subarray(0, 3).equals(JPEG_START)) return 'image/jpeg';
  const isWebp = nameAt(bytes, 0) === 'RIFF' && nameAt(bytes, 8) === 'WEBP';
  return isWebp ? 'image/webp' : null;
}

interface Sides {
  readonly width: number;
  readonly height: number;
  /** 1 to 8 (Exif 2.32, 4.6.4). */
  readonly orientation: number;
}

/** The sides as a browser shows them: a photograph's orientation may rotate it. */
function sizeOf(bytes: Buffer): Sides | null {
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    return orientation >= 5 ? { width: height, height: width, orientation } : { width, height, orientation };
  } catch {
    return null;
  }
}
