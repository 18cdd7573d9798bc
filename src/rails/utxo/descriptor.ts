import { invalid, type Invalid } from '../../domain/sentence.ts';
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

export type DescriptorCheck = { readonly kind: 'ok'; readonly descriptor: Descriptor } | Invalid;
type KeyCheck = { readonly kind: 'ok'; readonly key: DescriptorKey } | Invalid;
type StepCheck = { readonly kind: 'ok'; readonly step: KeyStep } | Invalid;

/** Longer than any accepted descriptor: 16 keys with long origins. */
const MAX_LENGTH = 8_192;
/** Numbers up to 16 are one byte in a script, and the library writes no more keys than that. */
const MAX_KEYS = 16;
/** BIP 32 stores the depth of a key in one byte. */
const MAX_DEPTH = 255;
/** The chain that BIP 44 wallets use for change. */
const CHANGE_CHAIN = 1;

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
 * there is one. No fault repeats any part of the input. The caller must check for private keys before.
 */
export function parseDescriptor(params: UtxoParams, text: string): DescriptorCheck {
  if (text.length > MAX_LENGTH) return invalid('descriptor_long', { max: MAX_LENGTH });
  const mark = text.indexOf('#');
  const body = mark === -1 ? text : text.slice(0, mark);
  const wrong = wrongChecksum(body, mark === -1 ? null : text.slice(mark + 1));
  if (wrong) return wrong;
  for (const [form, scriptType] of SINGLE_KEY_FORMS) {
    const content = form.exec(body)?.[1];
    if (content !== undefined) return parseKeys(params, scriptType, 1, [content]);
  }
  const [, threshold, list] = MULTISIG_FORM.exec(body) ?? [];
  if (threshold !== undefined && list !== undefined) {
    return parseKeys(params, 'p2wsh', Number(threshold), list.split(','));
  }
  return unknownForm(body);
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

function wrongChecksum(body: string, checksum: string | null): Invalid | null {
  if (body === '') return invalid('descriptor_empty');
  const expected = descriptorChecksum(body);
  if (expected === null) return invalid('descriptor_character');
  return checksum === null || checksum === expected ? null : invalid('descriptor_checksum');
}

function unknownForm(body: string): Invalid {
  if (/^\[|^[a-zA-Z]{4}[1-9A-HJ-NP-Za-km-z]{100}/.test(body)) return invalid('descriptor_is_key');
  if (body.split('(').length !== body.split(')').length) return invalid('descriptor_parentheses');
  return invalid(body.startsWith('tr(') ? 'descriptor_tree' : 'descriptor_kind');
}

function parseKeys(
  params: UtxoParams,
  scriptType: ScriptType,
  threshold: number,
  texts: readonly string[],
): DescriptorCheck {
  if (scriptType === 'p2tr' && texts.some((text) => text.includes(','))) return invalid('descriptor_tree');
  if (texts.length > MAX_KEYS || threshold < 1 || threshold > texts.length) {
    return invalid('descriptor_threshold', { max: MAX_KEYS });
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
    : invalid('descriptor_same_key');
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
  if (!match) return invalid('descriptor_key_form');
  const [, originText, keyText = '', pathText = ''] = match;
  const origin = originText === undefined ? null : parseOrigin(originText);
  if (originText !== undefined && !origin) return invalid('descriptor_origin');
  const read = readExtendedKey(params, keyText);
  if (read.kind === 'invalid') return read;
  const { key } = read;
  if (key.version.scriptType !== 'p2pkh' && key.version.scriptType !== scriptType) {
    return invalid('descriptor_key_type', { prefix: key.version.prefix });
  }
  const path = parsePath(pathText.split('/').slice(1));
  if (path.kind === 'invalid') return path;
  const { depth, index } = key.node;
  if (depth + path.steps.length >= MAX_DEPTH) return invalid('descriptor_depth', { max: MAX_DEPTH });
  const chain = receiveSteps(path.steps).at(-1) ?? (depth === 0 ? null : index);
  return chain === CHANGE_CHAIN
    ? invalid('descriptor_change')
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

function parsePath(texts: readonly string[]): { readonly kind: 'ok'; readonly steps: readonly KeyStep[] } | Invalid {
  const last = texts.at(-1);
  if (last !== '*') return invalid(/^\*['hH]$/.test(last ?? '') ? 'descriptor_hardened_end' : 'descriptor_single');
  const steps: KeyStep[] = [];
  for (const text of texts.slice(0, -1)) {
    const parsed = parseStep(text);
    if (parsed.kind === 'invalid') return parsed;
    steps.push(parsed.step);
  }
  return steps.filter((step) => typeof step !== 'number').length > 1
    ? invalid('descriptor_two_choices')
    : { kind: 'ok', steps };
}

function parseStep(text: string): StepCheck {
  if (/['hH]/.test(text)) return invalid('descriptor_hardened');
  const [, receive, change] = /^<(\d{1,10});(\d{1,10})>$/.exec(text) ?? [];
  if (receive !== undefined && change !== undefined) {
    const step = { receive: Number(receive), change: Number(change) };
    return isStep(step.receive) && isStep(step.change) && step.receive !== step.change
      ? { kind: 'ok', step }
      : invalid('descriptor_choice');
  }
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return isStep(number) ? { kind: 'ok', step: number } : invalid('descriptor_step');
}

function isStep(value: number): boolean {
  return value >= 0 && value < HARDENED;
}
