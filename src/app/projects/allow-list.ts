import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Compiled CIDRs. */
export interface AllowList {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

export function isOn(list: AllowList, address: string): boolean {
  if (isIPv4(address)) return list.ipv4.check(address, 'ipv4');
  return isIPv6(address) && list.ipv6.check(address, 'ipv6');
}

/** The range in which IPv6 maps IPv4 addresses (RFC 4291, 2.5.5.2). */
const IPV4_MAPPED = new BlockList();
IPV4_MAPPED.addSubnet('::ffff:0:0', 96, 'ipv6');

/**
 * One list per family: a single list would find an IPv4 client in `::/0`, because Node also looks it up as IPv4-mapped.
 */
export function compileCidrs(cidrs: readonly string[]): AllowList {
  const list = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const clients = family === 'ipv4' || IPV4_MAPPED.check(address, 'ipv6') ? list.ipv4 : list.ipv6;
    clients.addSubnet(address, prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix), family);
  }
  return list;
}
