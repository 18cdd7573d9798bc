/** What a file of a signed transaction holds, as text: as it is, or in base64 if it is binary. */
export function textOfFile(bytes: Uint8Array): string {
  const isText = bytes.every((byte) => byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127));
  return isText ? new TextDecoder().decode(bytes).trim() : base64OfBytes(bytes);
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function base64OfBytes(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
