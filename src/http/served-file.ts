import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

type Encoding = 'br' | 'gzip' | 'identity';

/** Content that is the same for everybody, plain and compressed, all in memory: every answer sends the same bytes. */
export interface ServedFile {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A weak tag, the same for every encoding of the content. */
  readonly etag: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
}

/** The weak tag of a content (RFC 9110, 8.8.1). */
export function etagOf(content: Buffer): string {
  return `W/"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`;
}

/** Almost as small as the best quality, in a tenth of the time. */
const BROTLI_QUALITY = 9;

/** A text made by this process; compressed on another thread. */
export async function servedText(
  text: string,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): Promise<ServedFile> {
  const identity = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [br, gz] = await Promise.all([promisify(brotliCompress)(identity, { params }), promisify(gzip)(identity)]);
  return { contentType, headers, etag: etagOf(identity), bodies: { identity, br, gzip: gz } };
}

/** Sends the file in the best encoding that the client accepts, or says that the client already has it. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  void reply.headers(file.headers).headers({ etag: file.etag, vary: 'accept-encoding' });
  // A client cannot already have what is not there.
  if (reply.statusCode === 200 && matchesEtag(request.headers['if-none-match'], file.etag))
    return reply.code(304).send();
  const encoding = negotiateEncoding(request.headers['accept-encoding']);
  if (encoding !== 'identity') void reply.header('content-encoding', encoding);
  return reply.header('content-type', file.contentType).send(file.bodies[encoding]);
}

/**
 * The smallest encoding that the client accepts (RFC 9110, section 12.5.3): among equally preferred ones, Brotli before
 * gzip. A client that accepts none gets plain text.
 */
export function negotiateEncoding(header: string | string[] | undefined): Encoding {
  const weights = new Map<string, number>();
  for (const part of String(header ?? '').split(',')) {
    const [name = '', ...parameters] = part.toLowerCase().split(';');
    const weight = parameters.map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
    weights.set(name.trim(), Number(weight ?? 1));
  }
  const weigh = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0;
  const best = weigh('br') >= weigh('gzip') ? 'br' : 'gzip';
  return weigh(best) > 0 && weigh(best) >= (weights.get('identity') ?? 0) ? best : 'identity';
}

function matchesEtag(header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*');
}
