import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Mode } from '../domain/permission.ts';
import type { TextValues } from '../domain/refusal-values.ts';
import { invalid, sentence, type Invalid, type Sentence } from '../domain/sentence.ts';
import { urlAmbiguity } from '../domain/web-url.ts';

/** The settings that decide about the destinations of webhooks. */
export type WebhookPolicy = {
  readonly mode: Mode;
  /** NODE_ENV=production: then test mode is as strict as live mode. */
  readonly production: boolean;
  /** WEBHOOK_ALLOW_CIDRS, each accepted by `parseCidr`. */
  readonly allowCidrs: readonly string[];
};

/** A range of addresses; `text` is its canonical form. */
export type Cidr = {
  readonly text: string;
  readonly network: ipaddr.IPv4 | ipaddr.IPv6;
  readonly prefixLength: number;
};

export type WebhookUrlCheck = { readonly kind: 'ok'; readonly url: URL } | Invalid;

const MAX_URL_LENGTH = 2048;

/** The refusals of the address registries' ranges. Ranges without one here are "reserved". */
const RANGE_REFUSALS: Readonly<Record<string, Extract<keyof TextValues, `range_${string}`>>> = {
  private: 'range_private',
  uniqueLocal: 'range_private',
  deprecatedSiteLocal: 'range_private',
  loopback: 'range_loopback',
  linkLocal: 'range_link_local',
  carrierGradeNat: 'range_carrier',
  multicast: 'range_multicast',
  broadcast: 'range_broadcast',
  unspecified: 'range_unspecified',
  '6to4': 'range_tunnelled',
  teredo: 'range_tunnelled',
  cloudService: 'range_cloud',
  rfc6052: 'range_translated',
  rfc6145: 'range_translated',
};

/**
 * Addresses that are public according to the registries, but are a cloud's own services inside that cloud: Azure's wire
 * server and DHCP, which hand out a machine's configuration, and IBM Cloud's service networks
 * (https://cloud.ibm.com/docs/cloud-infrastructure, "IBM Cloud IP ranges"). Other clouds have theirs in link-local,
 * unique local and carrier-grade NAT ranges (169.254.169.254, fd00:ec2::254, 100.100.100.200); Oracle Classic's
 * 192.0.0.192 is reserved.
 */
const CLOUD_SERVICES: readonly (readonly [string, number])[] = [
  ['168.63.129.16', 32],
  ['161.26.0.0', 16],
  ['166.8.0.0', 14],
];

/** Never allowed by any CIDR: nobody can be reached there, except that 0.0.0.0 means "this host" to Linux. */
const NEVER_OPENED: ReadonlySet<string> = new Set(['multicast', 'broadcast', 'unspecified']);

/** 2000::/3 is all the unicast space that IANA has assigned; outside are ::a.b.c.d and future kinds of addresses. */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parse('2000::');

/**
 * Whether a webhook may be sent to a URL, judged only by the URL. Names are not resolved here: a name's owner can
 * change its addresses at any time, so these are checked when a connection is made (`addressRefusal`).
 *
 * Store and use the returned URL, not the given text: it is the text as parsed by the WHATWG URL standard, so that
 * `http://2130706433/` has become the `http://127.0.0.1/` that was judged.
 */
export function checkWebhookUrl(text: string, policy: WebhookPolicy): WebhookUrlCheck {
  if (text.length > MAX_URL_LENGTH) return invalid('url_long', { max: MAX_URL_LENGTH });
  // The parser would silently drop tabs and line breaks; the stored URL should be the intended one.
  if (/[\s\p{Cc}]/u.test(text)) return invalid('url_spaces');
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return invalid('url_absolute');
  if (url.href.length > MAX_URL_LENGTH) return invalid('url_encoded_long', { max: MAX_URL_LENGTH });
  if (url.username !== '' || url.password !== '') return invalid('url_credentials');
  if (url.href.includes('#')) return invalid('url_fragment');
  if (url.port === '0') return invalid('url_port');
  const fault = schemeRefusal(url.protocol, policy) ?? hostRefusal(url, policy);
  return fault === null ? { kind: 'ok', url } : { kind: 'invalid', fault };
}

/**
 * Whether a webhook may be registered for a URL: like {@link checkWebhookUrl}, but all parsers must also read it the
 * same way. URLs already registered remain valid. An IP address may have any spelling, because the parsed form is
 * stored.
 */
export function checkNewWebhookUrl(text: string, policy: WebhookPolicy): WebhookUrlCheck {
  const checked = checkWebhookUrl(text, policy);
  if (checked.kind === 'invalid') return checked;
  const ambiguity = urlAmbiguity(text, checked.url);
  if (ambiguity === null || (ambiguity === 'host' && isIP(checked.url.hostname) !== 0)) return checked;
  return invalid(`url_${ambiguity}`);
}

/**
 * Why a webhook must not go to an IP address; null if it may. Used for literal hosts, for every address of a name, and
 * for a connection's actual address.
 *
 * Public addresses are those that the address registries call global unicast. An IPv4-mapped IPv6 address is judged as
 * its IPv4 address. Tunnels and translations that contain an IPv4 address (6to4, Teredo, NAT64, IPv4-compatible) could
 * reach a private one and are refused.
 *
 * @param ip as `net.isIP` accepts it, IPv6 without brackets
 * @param protocol `http:` narrows a strict test-mode policy to the listed ranges; see `schemeRefusal`
 */
export function addressRefusal(ip: string, policy: WebhookPolicy, protocol: string = 'https:'): Sentence | null {
  const address = parseAddress(ip);
  if (address === null) return sentence('webhook_no_ip', { ip });
  const range = rangeOf(address);
  if (protocol === 'http:' && !isRelaxed(policy)) {
    return isListed(address, policy) && !NEVER_OPENED.has(range) ? null : sentence('webhook_http', { ip });
  }
  if (range === 'unicast') return null;
  if (range === 'loopback' && isRelaxed(policy)) return null;
  if (!NEVER_OPENED.has(range) && isListed(address, policy)) return null;
  return sentence(RANGE_REFUSALS[range] ?? 'range_reserved', { ip });
}

/**
 * Parses a range of addresses in CIDR notation (RFC 4632, RFC 4291), IPv4 or IPv6; a single address is a range of one.
 * Bits after the prefix are cleared. A range of IPv4-mapped addresses becomes the IPv4 range.
 */
export function parseCidr(text: string): { readonly kind: 'ok'; readonly cidr: Cidr } | Invalid {
  const [host = '', prefix, ...rest] = text.split('/');
  const address = parseAddress(host);
  const bits = isIP(host) === 4 ? 32 : 128;
  const prefixLength = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (address === null || rest.length > 0 || prefixLength < 0 || prefixLength > bits) {
    return invalid('cidr', { text: JSON.stringify(text) });
  }
  // A range written as IPv6 but parsed as the IPv4 inside: a mapped range, which must be within ::ffff:0:0/96.
  const mappedBits = address.kind() === 'ipv4' ? bits - 32 : 0;
  if (prefixLength < mappedBits) return invalid('cidr_mixed', { text: JSON.stringify(text) });
  return { kind: 'ok', cidr: cidrOf(address, prefixLength - mappedBits) };
}

/** Test mode on a developer's machine: plain http and this machine itself are allowed. */
function isRelaxed(policy: WebhookPolicy): boolean {
  return policy.mode === 'test' && !policy.production;
}

/**
 * Plain http: allowed everywhere when relaxed, never in live mode. Test mode in production allows it inside
 * WEBHOOK_ALLOW_CIDRS; whether a name is inside is known when connecting.
 */
function schemeRefusal(protocol: string, policy: WebhookPolicy): Sentence | null {
  if (protocol === 'https:' || isRelaxed(policy)) return null;
  if (policy.mode === 'test' && policy.allowCidrs.length > 0) return null;
  return sentence('url_https');
}

function hostRefusal(url: URL, policy: WebhookPolicy): Sentence | null {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  if (isIP(host) !== 0) return addressRefusal(host, policy, url.protocol);
  // RFC 6761: these names always resolve to loopback, so there is no need to wait for the first attempt.
  if (!/^(?:.+\.)?localhost\.?$/.test(host)) return null;
  const refusal = addressRefusal('127.0.0.1', policy, url.protocol);
  return refusal === null || addressRefusal('::1', policy, url.protocol) === null
    ? null
    : { ...refusal, values: { ip: host } };
}

function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const version = isIP(text);
  if (version === 0 || text.includes('%')) return null;
  if (version === 4) return ipaddr.IPv4.parse(text);
  // ipaddr.js reads "::1.2.3.4" as if it were "::ffff:1.2.3.4". The URL parser's spelling has no dots.
  return ipaddr.process(new URL(`http://[${text}]/`).hostname.slice(1, -1));
}

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range: string = address.range();
  if (range !== 'unicast') return range;
  if (address.kind() === 'ipv4') {
    const isService = CLOUD_SERVICES.some(([network, bits]) => address.match(ipaddr.IPv4.parse(network), bits));
    return isService ? 'cloudService' : range;
  }
  return address.match(GLOBAL_UNICAST_IPV6, 3) ? 'unicast' : 'reserved';
}

function isListed(address: ipaddr.IPv4 | ipaddr.IPv6, policy: WebhookPolicy): boolean {
  return policy.allowCidrs.some((text) => {
    const parsed = parseCidr(text);
    if (parsed.kind === 'invalid') throw new TypeError(`WEBHOOK_ALLOW_CIDRS: ${text} is not a CIDR range.`);
    const { network, prefixLength } = parsed.cidr;
    return network.kind() === address.kind() && address.match(network, prefixLength);
  });
}

function cidrOf(address: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number): Cidr {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefixLength - index * 8));
    return byte & (0xff00 >> kept) & 0xff;
  });
  const network = ipaddr.fromByteArray(bytes);
  return { text: `${network.toString()}/${prefixLength}`, network, prefixLength };
}
