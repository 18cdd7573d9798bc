import { HARDENED } from '../public-key.ts';
import { descriptorChecksum } from './descriptor-checksum.ts';
import { readExtendedKey, type ExtendedKey } from './extended-key.ts';
import type { ScriptType } from '../family.ts';
import type { UtxoParams } from './params.ts';

/** A step below an extended key: an index, or for `<0;1>` the indexes for receiving and for change (BIP 389). */
export type KeyStep = number | { readonly receive: number; readonly change: number };

/** A key expression of BIP 380 that ends in `/*`. */
export interface DescriptorKey {
  readonly origin: { readonly fingerprint: number; readonly path: readonly number[] } | null;
  readonly key: ExtendedKey;
  /** The steps from the key down to the address index. */
  readonly steps: readonly KeyStep[];
}

export interface Descriptor {
  readonly scriptType: ScriptType;
  /** How many of the keys must sign; 1 except for `p2wsh`. */
  readonly threshold: number;
  readonly keys: readonly DescriptorKey[];
}

type Bad = { readonly kind: 'invalid'; readonly message: string };
export type DescriptorCheck = { readonly kind: 'ok'; readonly descriptor: Descriptor } | Bad;
type KeyCheck = { readonly kind: 'ok'; readonly key: DescriptorKey } | Bad;
type StepCheck = { readonly kind: 'ok'; readonly step: KeyStep } | Bad;

/** Longer than any accepted descriptor: 16 keys with long origins. */
const MAX_LENGTH = 8_192;
/** Numbers up to 16 are one byte in a script, and the library writes no more keys than that. */
const MAX_KEYS = 16;
/** BIP 32 stores the depth of a key in one byte. */
const MAX_DEPTH = 255;
/** The chain that BIP 44 wallets use for change. */
const CHANGE_CHAIN = 1;

const TAKEN = 'pkh(KEY), wpkh(KEY), sh(wpkh(KEY)), tr(KEY) and wsh(sortedmulti(k,KEY,…))';
const TREE_MESSAGE = 'tr() is accepted only with one key, as in tr(KEY). Script trees are not accepted.';
const WITH_WILDCARD = 'Every payment needs its own address. End the key with /0/*, as in wpkh(xpub…/0/*).';

/** The functions that contain one key. None of them may contain another function, so keys have no parentheses. */
const SINGLE_KEY_FORMS: readonly (readonly [RegExp, ScriptType])[] = [
  [/^pkh\(([^()]*)\)$/, 'p2pkh'],
  [/^wpkh\(([^()]*)\)$/, 'p2wpkh'],
  [/^sh\(wpkh\(([^()]*)\)\)$/, 'p2sh-p2wpkh'],
  [/^tr\(([^()]*)\)$/, 'p2tr'],
];
const MULTISIG_FORM = /^wsh\(sortedmulti\((\d{1,2}),([^()]*)\)\)$/;

/**
 * Parses an output descriptor (BIP 380 and related) of one wallet's receiving addresses. The checksum is verified if
 * there is one. No message repeats any part of the input. The caller must check for private keys before.
 */
export function parseDescriptor(params: UtxoParams, text: string): DescriptorCheck {
  if (text.length > MAX_LENGTH)
    return bad(`A descriptor has at most ${MAX_LENGTH} characters. Copy the descriptor again.`);
  const mark = text.indexOf('#');
  const body = mark === -1 ? text : text.slice(0, mark);
  const checksumMessage = wrongChecksumMessage(body, mark === -1 ? null : text.slice(mark + 1));
  if (checksumMessage) return bad(checksumMessage);
  for (const [form, scriptType] of SINGLE_KEY_FORMS) {
    const content = form.exec(body)?.[1];
    if (content !== undefined) return parseKeys(params, scriptType, 1, [content]);
  }
  const [, threshold, list] = MULTISIG_FORM.exec(body) ?? [];
  if (threshold !== undefined && list !== undefined) {
    return parseKeys(params, 'p2wsh', Number(threshold), list.split(','));
  }
  return bad(unknownFormMessage(body));
}

/** Formats a descriptor in the form that all readers of descriptors understand: `h` for hardened, with checksum. */
export function formatDescriptor({ scriptType, threshold, keys }: Descriptor): string {
  const list = keys.map(formatKey).join(',');
  const body = {
    p2pkh: `pkh(${list})`,
    p2wpkh: `wpkh(${list})`,
    'p2sh-p2wpkh': `sh(wpkh(${list}))`,
    p2tr: `tr(${list})`,
    p2wsh: `wsh(sortedmulti(${threshold},${list}))`,
  }[scriptType];
  return `${body}#${descriptorChecksum(body)}`;
}

function formatKey({ origin, key, steps }: DescriptorKey): string {
  const path = (origin?.path ?? []).map((step) => (step < HARDENED ? `/${step}` : `/${step - HARDENED}h`)).join('');
  const from = origin ? `[${origin.fingerprint.toString(16).padStart(8, '0')}${path}]` : '';
  const below = steps.map((step) => (typeof step === 'number' ? `/${step}` : `/<${step.receive};${step.change}>`));
  return `${from}${key.text}${below.join('')}/*`;
}

function wrongChecksumMessage(body: string, checksum: string | null): string | null {
  if (body === '') return 'The descriptor is empty.';
  const expected = descriptorChecksum(body);
  if (expected === null)
    return 'The descriptor contains a character that is not allowed in descriptors. Copy the descriptor again.';
  return checksum === null || checksum === expected
    ? null
    : 'The checksum of the descriptor (eight characters after #) does not match, so a character is wrong or missing. Copy the whole descriptor again.';
}

function unknownFormMessage(body: string): string {
  if (/^\[|^[a-zA-Z]{4}[1-9A-HJ-NP-Za-km-z]{100}/.test(body)) {
    return 'This is a key, not a descriptor. Write the kind of addresses that your wallet uses around the key, as in wpkh(KEY/0/*), or give the key alone as an extended key.';
  }
  if (body.split('(').length !== body.split(')').length) {
    return 'The parentheses of the descriptor do not match. Copy the whole descriptor again, and put it in single quotes on the command line.';
  }
  if (body.startsWith('tr(')) return TREE_MESSAGE;
  return `These descriptors are accepted: ${TAKEN}. This is not one of them. Export a descriptor of one of these kinds from your wallet.`;
}

function parseKeys(
  params: UtxoParams,
  scriptType: ScriptType,
  threshold: number,
  texts: readonly string[],
): DescriptorCheck {
  if (scriptType === 'p2tr' && texts.some((text) => text.includes(','))) return bad(TREE_MESSAGE);
  if (texts.length > MAX_KEYS || threshold < 1 || threshold > texts.length) {
    return bad(`sortedmulti(k,…) takes up to ${MAX_KEYS} keys, and k must be a number from 1 to the number of keys.`);
  }
  const keys: DescriptorKey[] = [];
  for (const text of texts) {
    const parsed = parseKey(params, scriptType, text);
    if (parsed.kind === 'invalid') return parsed;
    keys.push(parsed.key);
  }
  // Two keys that derive the same addresses are one signer less than the merchant believes.
  const distinct = new Set(keys.map(({ key, steps }) => `${key.text} ${receiveSteps(steps).join('/')}`));
  return distinct.size === keys.length
    ? { kind: 'ok', descriptor: { scriptType, threshold, keys } }
    : bad('The descriptor names the same key twice. Give the key of every signer once.');
}

/** The steps to receiving addresses. */
export function receiveSteps(steps: readonly KeyStep[]): readonly number[] {
  return steps.map((step) => (typeof step === 'number' ? step : step.receive));
}

/** The steps to change addresses; null if the descriptor does not say. */
export function changeSteps(steps: readonly KeyStep[]): readonly number[] | null {
  const known = steps.some((step) => typeof step !== 'number');
  return known ? steps.map((step) => (typeof step === 'number' ? step : step.change)) : null;
}

function parseKey(params: UtxoParams, scriptType: ScriptType, text: string): KeyCheck {
  const match = /^(?:\[([^[\]]*)\])?([^/[\]]*)((?:\/[^/[\]]*)*)$/.exec(text);
  if (!match) return bad('A key of the descriptor is not well formed. It must look like [fingerprint/path]xpub…/0/*.');
  const [, originText, keyText = '', pathText = ''] = match;
  const origin = originText === undefined ? null : parseOrigin(originText);
  if (originText !== undefined && !origin) {
    return bad('The origin in [ ] is not well formed. It must be eight hex digits and a path such as /84h/0h/0h.');
  }
  const read = readExtendedKey(params, keyText);
  if (read.kind === 'invalid') return read;
  const { key } = read;
  if (key.version.scriptType !== 'p2pkh' && key.version.scriptType !== scriptType) {
    return bad(
      `The key begins with ${key.version.prefix}, which stands for another kind of address than the descriptor. Write the key as your wallet exports it in descriptors, as xpub… or tpub….`,
    );
  }
  const path = parsePath(pathText.split('/').slice(1));
  if (path.kind === 'invalid') return path;
  const { depth, index } = key.node;
  if (depth + path.steps.length >= MAX_DEPTH) return bad(`The path of a key has more than ${MAX_DEPTH} steps.`);
  const chain = receiveSteps(path.steps).at(-1) ?? (depth === 0 ? null : index);
  return chain === CHANGE_CHAIN
    ? bad(
        'This descriptor is for chain 1, where your wallet sends its own change. The change would be mistaken for payments. Give the descriptor for receiving, which ends in /0/*.',
      )
    : { kind: 'ok', key: { origin, key, steps: path.steps } };
}

function parseOrigin(text: string): DescriptorKey['origin'] {
  const [fingerprint = '', ...steps] = text.split('/');
  if (!/^[0-9a-fA-F]{8}$/.test(fingerprint) || steps.length > MAX_DEPTH) return null;
  const path = steps.map((step) => {
    const match = /^(\d{1,10})(['hH]?)$/.exec(step);
    const number = match ? Number(match[1]) : HARDENED;
    return number < HARDENED ? number + (match?.[2] ? HARDENED : 0) : null;
  });
  return path.includes(null)
    ? null
    : { fingerprint: Number.parseInt(fingerprint, 16), path: path.filter((step) => step !== null) };
}

function parsePath(texts: readonly string[]): { readonly kind: 'ok'; readonly steps: readonly KeyStep[] } | Bad {
  const last = texts.at(-1);
  if (last !== '*') {
    return /^\*['hH]$/.test(last ?? '')
      ? bad(
          'Addresses below a hardened /*h can only be derived with the private key. Use a descriptor that ends in /0/*.',
        )
      : bad(`The descriptor stands for a single address. ${WITH_WILDCARD}`);
  }
  const steps: KeyStep[] = [];
  for (const text of texts.slice(0, -1)) {
    const parsed = parseStep(text);
    if (parsed.kind === 'invalid') return parsed;
    steps.push(parsed.step);
  }
  return steps.filter((step) => typeof step !== 'number').length > 1
    ? bad('A key of the descriptor has more than one <…>, but BIP 389 allows only one.')
    : { kind: 'ok', steps };
}

function parseStep(text: string): StepCheck {
  if (/['hH]/.test(text)) {
    return bad(
      'Hardened steps below an extended public key need the private key. Put these steps into the origin, and use the public key that lies below them, as in [fingerprint/84h/0h/0h]xpub…/0/*.',
    );
  }
  const [, receive, change] = /^<(\d{1,10});(\d{1,10})>$/.exec(text) ?? [];
  if (receive !== undefined && change !== undefined) {
    const step = { receive: Number(receive), change: Number(change) };
    return isStep(step.receive) && isStep(step.change) && step.receive !== step.change
      ? { kind: 'ok', step }
      : bad('The two numbers of <…;…> must be different and below 2147483648, as in <0;1>.');
  }
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return isStep(number)
    ? { kind: 'ok', step: number }
    : bad(
        'The steps below a key must be numbers below 2147483648, or <0;1> for receiving and change, as in xpub…/<0;1>/*.',
      );
}

function isStep(value: number): boolean {
  return value >= 0 && value < HARDENED;
}

function bad(message: string): Bad {
  return { kind: 'invalid', message };
}
