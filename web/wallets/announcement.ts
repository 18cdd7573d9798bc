import type { WalletProvider } from './send.ts';

/** A browser wallet that announced itself (EIP-6963), with its own data made safe to show. */
export interface Wallet {
  readonly uuid: string;
  readonly rdns: string;
  readonly name: string;
  /** A `data:image/` URI, or null: anything else would be a request to another host. */
  readonly icon: string | null;
  readonly provider: WalletProvider;
}

const NAME_LENGTH = 40;
const ICON_LENGTH = 200_000;
/** Nobody has more wallets; another extension's script could announce them endlessly. */
const MAX_WALLETS = 12;
/** They would let a wallet's name reorder the words around it. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A valid announcement; null for an invalid one: any script of the page can dispatch the event. */
export function readAnnouncement(detail: unknown): Wallet | null {
  const { info, provider } = Object(detail);
  const { uuid, rdns, name, icon } = Object(info);
  if (typeof uuid !== 'string' || typeof Object(provider).request !== 'function') return null;
  const text = typeof name === 'string' ? name.replace(BIDI_CONTROLS, '').trim().slice(0, NAME_LENGTH) : '';
  const domain = typeof rdns === 'string' ? rdns : '';
  const isImage = typeof icon === 'string' && icon.length <= ICON_LENGTH && /^data:image\//i.test(icon);
  return { uuid, rdns: domain, name: text || domain || 'Wallet', icon: isImage ? icon : null, provider };
}

/**
 * A wallet may announce itself again, even with a new uuid; the first one stays, so that no button changes under a
 * finger.
 */
export function addWallet(wallets: readonly Wallet[], wallet: Wallet): readonly Wallet[] {
  if (wallets.length >= MAX_WALLETS) return wallets;
  const isKnown = wallets.some(({ uuid, rdns }) => uuid === wallet.uuid || (rdns !== '' && rdns === wallet.rdns));
  return isKnown ? wallets : [...wallets, wallet];
}
