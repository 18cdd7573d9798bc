import type { FastifyRequest } from 'fastify';

/** The client's address: through trusted proxies where `TRUST_PROXY` says so, IPv4 in its own form. */
export function clientAddress(request: FastifyRequest): string {
  const address = request.ip ?? '';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
