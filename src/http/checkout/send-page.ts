import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { negotiateEncoding } from './assets.ts';
import { givenHeaders } from './events.ts';
import { pageHeaders } from './layout.ts';
import type { Page } from './view.ts';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Half of what brotli can do to a page, for a tenth of its time. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: 1 } };

/** Sends a page, compressed for whoever takes it so: on another thread, so that others are served meanwhile. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, html, isAscii }: Page,
  framedBy: readonly string[] = [],
): Promise<FastifyReply> {
  void reply.code(status).headers(pageHeaders(framedBy));
  const encoding = negotiateEncoding(request.headers['accept-encoding']);
  if (encoding === 'identity') return isAscii ? sendAscii(reply, html) : reply.send(html);
  void reply.header('content-encoding', encoding);
  return reply.send(await (encoding === 'br' ? brotli(html, QUALITY) : zip(html)));
}

/** Head and page go out in one write of plain bytes: encoding them would take as long as drawing the page. */
function sendAscii(reply: FastifyReply, html: string): FastifyReply {
  reply.hijack();
  void reply.header('content-length', html.length);
  reply.raw.writeHead(reply.statusCode, givenHeaders(reply));
  reply.raw.end(html, 'latin1');
  return reply;
}
