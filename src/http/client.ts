import { isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { MAIL_LANGUAGES, type MailLanguage } from '../domain/notification.ts';

/**
 * The client's address: as reported by trusted proxies if `TRUST_PROXY` is set, with IPv4 in its own form and without a
 * port.
 */
export function clientAddress(request: FastifyRequest): string {
  return plainAddress(request.ip ?? '');
}

/**
 * The address by which a client's requests are counted. A client may forge the address that a proxy reports. If it is
 * not a valid address, the request counts for the proxy, because otherwise every forged text would be a new client.
 */
export function countedAddress(request: FastifyRequest): string {
  const address = clientAddress(request);
  return isIP(address) === 0 ? connectedAddress(request) : address;
}

/** The address of the connection itself, whatever headers say, with IPv4 in its own form. */
export function connectedAddress(request: FastifyRequest): string {
  return plainAddress(request.raw.socket.remoteAddress ?? '');
}

/** The language codes of an `accept-language` header, preferred first (RFC 9110, 12.5.4). */
export function acceptedLanguages(header: string): readonly string[] {
  const ranges = header.split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';');
    const quality = parameters.map((text) => /^\s*q=([\d.]+)\s*$/i.exec(text)?.[1]).find((text) => text !== undefined);
    return { code: languageCode(tag), quality: quality === undefined ? 1 : Number(quality) };
  });
  // A quality of 0 refuses the language.
  const accepted = ranges.filter(({ quality }) => quality > 0);
  return accepted.toSorted((a, b) => b.quality - a.quality).map(({ code }) => code);
}

/** The code of a language tag: `pt` of `pt-BR`. */
export function languageCode(tag: string): string {
  return tag.trim().toLowerCase().split('-')[0] ?? '';
}

/** Some proxies include the client's port: `203.0.113.7:50412`, `[2001:db8::7]:50412`. */
const WITH_PORT = /^(?:\[(?<ipv6>[\da-f.:]*:[\da-f.:]*)\](?::\d{1,5})?|(?<ipv4>\d+\.\d+\.\d+\.\d+):\d{1,5})$/i;

/** An address without its port; an IPv4-mapped one (RFC 4291, 2.5.5.2) in any spelling becomes the IPv4 address. */
function plainAddress(text: string): string {
  // Usually there is nothing to do: sockets report no port.
  if (!text.includes(':')) return text;
  const parts = WITH_PORT.exec(text)?.groups;
  const address = parts?.['ipv6'] ?? parts?.['ipv4'] ?? text;
  return mappedIpv4(address) ?? address;
}

function mappedIpv4(address: string): string | null {
  if (!/ffff:/i.test(address) || !isIPv6(address)) return null;
  // The URL parser's spelling is the shortest one in lower case, with the last 32 bits in two groups.
  const groups = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(URL.parse(`http://[${address}]/`)?.hostname ?? '');
  if (groups === null) return null;
  const bits = groups.slice(1).map((group) => Number.parseInt(group, 16));
  return bits.flatMap((sixteen) => [sixteen >> 8, sixteen & 0xff]).join('.');
}

/** The first of the languages that the browser accepts and the dashboard has. */
export function dashboardLanguage({ headers }: FastifyRequest): MailLanguage | null {
  const accepted = acceptedLanguages(headers['accept-language'] ?? '');
  return accepted.flatMap((code) => MAIL_LANGUAGES.filter((language) => language === code))[0] ?? null;
}
