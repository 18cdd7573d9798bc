import { createHash } from 'node:crypto';
import { imageSize } from 'image-size';
import type { Logo } from '../../store/projects.ts';
import type { LogoType } from '../../store/schema/projects.ts';
import { rejected, type Rejected } from '../rejected.ts';

/** The page should load fast on a slow phone; a good logo needs a tenth of this. */
export const MAX_LOGO_BYTES = 65_536;
const LOGO_SIDES = { min: 16, max: 2_048 } as const;

/** An uploaded picture; `file` is what answers call it. */
export interface LogoFile {
  readonly file: string;
  readonly bytes: Buffer;
}

/** Accepts a picture whose content (whatever its name says) is a still PNG, JPEG or WebP of an acceptable size. */
export function parseLogo({ file, bytes }: LogoFile): Logo | Rejected {
  const refuse = (why: string): Rejected => rejected(`--logo: ${file} ${why}`);
  if (bytes.length > MAX_LOGO_BYTES) {
    return refuse(`is larger than ${MAX_LOGO_BYTES / 1_024} KiB. Save it with fewer pixels or more compression.`);
  }
  const type = logoTypeOf(bytes);
  if (type === null) return refuse('is not a PNG, JPEG or WebP picture by its content. Save it as one of these.');
  const state = pictureState(type, bytes);
  if (state === 'animated') return refuse('is animated, and a logo must stand still. Save one frame of it.');
  const size = state === 'broken' ? null : sizeOf(bytes);
  if (size === null) return refuse('is damaged or cut off. Export the picture again.');
  const { width, height } = size;
  const { min, max } = LOGO_SIDES;
  if (Math.min(width, height) < min || Math.max(width, height) > max) {
    return refuse(
      `is ${width} × ${height} pixels; each side must have ${min} to ${max.toLocaleString('en')}. Scale the picture.`,
    );
  }
  return { hash: createHash('sha256').update(bytes).digest('hex'), type, width, height, bytes };
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);
const JPEG_END = Buffer.from([0xff, 0xd9]);
const MAX_JPEG_PADDING_BYTES = 64;

function logoTypeOf(bytes: Buffer): LogoType | null {
  if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return 'image/png';
  if (bytes.subarray(0, 3).equals(JPEG_START)) return 'image/jpeg';
  const isWebp = nameAt(bytes, 0) === 'RIFF' && nameAt(bytes, 8) === 'WEBP';
  return isWebp ? 'image/webp' : null;
}

/** Whether a picture is complete and not animated: browsers show half a file, and play some PNG and WebP files. */
function pictureState(type: LogoType, bytes: Buffer): 'still' | 'animated' | 'broken' {
  switch (type) {
    case 'image/png':
      return pngState(bytes);
    case 'image/jpeg':
      // An embedded thumbnail has its own end marker, so only the last one counts; some programs pad the file after it.
      return bytes.lastIndexOf(JPEG_END) >= bytes.length - MAX_JPEG_PADDING_BYTES ? 'still' : 'broken';
    case 'image/webp': {
      if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 > bytes.length) return 'broken';
      // The second bit of the extended header's flags (RFC 9649, 2.7).
      return nameAt(bytes, 12) === 'VP8X' && (bytes.readUInt8(20) & 2) !== 0 ? 'animated' : 'still';
    }
  }
}

/** Reads the chunks: IHDR comes first, IEND last; acTL, which marks an animation, before the pixels (PNG 3, 5.6). */
function pngState(bytes: Buffer): 'still' | 'animated' | 'broken' {
  if (nameAt(bytes, 12) !== 'IHDR') return 'broken';
  for (let at = PNG_SIGNATURE.length; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = nameAt(bytes, at + 4);
    if (name === 'acTL') return 'animated';
    if (name === 'IEND') return 'still';
  }
  return 'broken';
}

function nameAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

/** The sides as a browser shows them: a photograph's orientation may rotate it (Exif 2.32, 4.6.4). */
function sizeOf(bytes: Buffer): { readonly width: number; readonly height: number } | null {
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return null;
  }
}
