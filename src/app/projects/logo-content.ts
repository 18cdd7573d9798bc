import type { LogoType } from '../../store/schema/projects.ts';

/** The content of a file that claims to be a picture. */
export type LogoContent =
  /** `bytes`: the picture alone, without comments, metadata and previews. */
  | { readonly kind: 'still'; readonly bytes: Buffer }
  | { readonly kind: 'animated' }
  | { readonly kind: 'broken' }
  /** `extraBytes` follow the picture's end: the file may be another kind of file as well. */
  | { readonly kind: 'tail'; readonly extraBytes: number };

const BROKEN = { kind: 'broken' } as const;

/**
 * Reads a picture to its end and keeps only the parts that are needed to show it, without texts, camera data or another
 * file inside.
 *
 * @param orientation of a photograph, 1 to 8 (Exif 2.32, 4.6.4), which is kept
 */
export function logoContent(type: LogoType, bytes: Buffer, orientation: number): LogoContent {
  switch (type) {
    case 'image/png':
      return pngContent(bytes);
    case 'image/jpeg':
      return jpegContent(bytes, orientation);
    case 'image/webp':
      return webpContent(bytes);
  }
}

export function nameAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

export const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** The chunks that decide how the pixels look (PNG 3, 11). */
const PNG_CHUNKS = new Set('IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP bKGD pHYs'.split(' '));

/** IHDR comes first, IEND last; acTL, which marks an animation, before the pixels (PNG 3, 5.6). */
function pngContent(bytes: Buffer): LogoContent {
  if (nameAt(bytes, 12) !== 'IHDR') return BROKEN;
  const kept = [bytes.subarray(0, PNG_SIGNATURE.length)];
  for (let at = PNG_SIGNATURE.length; at + 12 <= bytes.length;) {
    const name = nameAt(bytes, at + 4);
    const end = at + 12 + bytes.readUInt32BE(at);
    if (name === 'acTL') return { kind: 'animated' };
    if (end > bytes.length) return BROKEN;
    if (PNG_CHUNKS.has(name)) kept.push(bytes.subarray(at, end));
    if (name === 'IEND') return ended(bytes, end, kept);
    at = end;
  }
  return BROKEN;
}

const JPEG_MARKERS = {
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  jfif: 0xe0,
  exif: 0xe1,
  icc: 0xe2,
  adobe: 0xee,
  comment: 0xfe,
};
/** Some programs pad the file after its end. */
const MAX_PADDING_BYTES = 64;

/** Reads the segments and, between them, the coded pixels (ITU-T T.81, annex B). */
function jpegContent(bytes: Buffer, orientation: number): LogoContent {
  const kept = [bytes.subarray(0, 2)];
  if (orientation > 1) kept.push(orientationSegment(orientation));
  for (let at = 2; at + 2 <= bytes.length;) {
    if (bytes[at] !== 0xff) return BROKEN;
    const marker = bytes[at + 1] ?? 0;
    // Any number of these bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === JPEG_MARKERS.end) {
      const rest = bytes.subarray(at + 2);
      const isPadding = rest.length <= MAX_PADDING_BYTES && rest.every((byte) => byte === 0);
      kept.push(bytes.subarray(at, at + 2));
      return ended(bytes, isPadding ? bytes.length : at + 2, kept);
    }
    if (marker === JPEG_MARKERS.start || at + 4 > bytes.length) return BROKEN;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) return BROKEN;
    kept.push(keptSegment(marker, bytes.subarray(at, end)));
    at = end;
    if (marker === JPEG_MARKERS.scan) {
      at = scanEnd(bytes, end);
      kept.push(bytes.subarray(end, at));
    }
  }
  return BROKEN;
}

/** The position of the next marker after coded pixels, where stuffed bytes and restart markers do not count. */
function scanEnd(bytes: Buffer, from: number): number {
  for (let at = from; at + 1 < bytes.length; at += 1) {
    const next = bytes[at + 1] ?? 0;
    if (bytes[at] === 0xff && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}

const NOTHING = Buffer.alloc(0);
/** Marker, length, version and density; the preview follows. */
const JFIF_BYTES = 18;

function keptSegment(marker: number, segment: Buffer): Buffer {
  const isNamed = (name: string): boolean => segment.toString('latin1', 4, 4 + name.length) === name;
  if (marker === JPEG_MARKERS.jfif && isNamed('JFIF\0') && segment.length >= JFIF_BYTES) {
    const head = Buffer.from(segment.subarray(0, JFIF_BYTES));
    head.writeUInt16BE(JFIF_BYTES - 2, 2);
    head.writeUInt16BE(0, JFIF_BYTES - 2);
    return head;
  }
  if (marker === JPEG_MARKERS.icc) return isNamed('ICC_PROFILE\0') ? segment : NOTHING;
  if (marker === JPEG_MARKERS.adobe) return isNamed('Adobe') ? segment : NOTHING;
  const isExtra = (marker >= JPEG_MARKERS.jfif && marker <= 0xef) || marker === JPEG_MARKERS.comment;
  return isExtra ? NOTHING : segment;
}

/** A segment that contains only the orientation of a photograph. */
function orientationSegment(orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  return Buffer.concat([Buffer.from([0xff, JPEG_MARKERS.exif, 0, content.length + 2]), content]);
}

const WEBP_CHUNKS = new Set(['VP8X', 'ICCP', 'ALPH', 'VP8 ', 'VP8L']);
/** Flags of the extended header (RFC 9649, 2.7). */
const WEBP_FLAGS = { animation: 0x02, xmp: 0x04, exif: 0x08 } as const;
const WEBP_HEAD_BYTES = 12;

function webpContent(bytes: Buffer): LogoContent {
  if (bytes.length < 30) return BROKEN;
  const end = bytes.readUInt32LE(4) + 8;
  if (end > bytes.length) return BROKEN;
  const isExtended = nameAt(bytes, WEBP_HEAD_BYTES) === 'VP8X';
  if (isExtended && (bytes.readUInt8(20) & WEBP_FLAGS.animation) !== 0) return { kind: 'animated' };
  const kept: Buffer[] = [];
  for (let at = WEBP_HEAD_BYTES; at + 8 <= end;) {
    const name = nameAt(bytes, at);
    const size = bytes.readUInt32LE(at + 4);
    const after = at + 8 + size + (size % 2);
    if (after > end) return BROKEN;
    const chunk = Buffer.from(bytes.subarray(at, after));
    if (name === 'VP8X' && chunk.length > 8) {
      chunk.writeUInt8(chunk.readUInt8(8) & ~(WEBP_FLAGS.xmp | WEBP_FLAGS.exif), 8);
    }
    if (WEBP_CHUNKS.has(name)) kept.push(chunk);
    at = after;
  }
  const body = Buffer.concat(kept);
  const head = Buffer.from(bytes.subarray(0, WEBP_HEAD_BYTES));
  head.writeUInt32LE(body.length + 4, 4);
  return ended(bytes, end, [head, body]);
}

function ended(bytes: Buffer, end: number, kept: readonly Buffer[]): LogoContent {
  const extraBytes = bytes.length - end;
  return extraBytes > 0 ? { kind: 'tail', extraBytes } : { kind: 'still', bytes: Buffer.concat(kept) };
}
