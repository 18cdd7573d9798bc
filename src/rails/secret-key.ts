import { invalid, type Invalid, type Sentence } from '../domain/sentence.ts';

/** Matches at the start of a word, so that no xpub contains one by chance; also within a descriptor. */
const EXTENDED_PRIVATE_KEY = /(?:^|[^1-9A-HJ-NP-Za-km-z])(?:[tuvxyzUVYZ]prv|[LM]tpv|ttpv)/;

/** A descriptor's checksum (BIP 380) is eight arbitrary characters: it may spell `zprv`. */
const DESCRIPTOR_CHECKSUM = /#[02-9ac-hj-np-z]{8}$/;

/** The form of the wallet import format of Bitcoin (5, K, L), Litecoin (6, T) and their test networks (9, c). */
const WALLET_IMPORT_FORMAT = /^[59KLTc6][1-9A-HJ-NP-Za-km-z]{50,51}$/;

/**
 * The refusal if a text that should contain only public keys contains a secret, without any part of the text. Null: no
 * secret was found. A damaged private key is still private, so the form alone decides.
 *
 * @param wayOut what the merchant should enter instead
 */
export function secretKeyRefusal(text: string, wayOut: Sentence): Invalid | null {
  const secret = secretKind(text.trim().replace(DESCRIPTOR_CHECKSUM, ''));
  return secret === null ? null : invalid(secret, { wayOut });
}

/** A kind of secret: the code of its refusal. */
export type SecretKind = 'secret_extended_key' | 'secret_key' | 'secret_phrase';

function secretKind(text: string): SecretKind | null {
  if (EXTENDED_PRIVATE_KEY.test(text)) return 'secret_extended_key';
  // Within a descriptor 64 digits are a Taproot public key; alone they are treated as a private key.
  if (/^(?:0x)?[0-9a-fA-F]{64}$/.test(text)) return 'secret_key';
  if (text.split(/[^0-9A-Za-z]+/).some((word) => WALLET_IMPORT_FORMAT.test(word))) return 'secret_key';
  return text.split(/\s+/).length >= 12 ? 'secret_phrase' : null;
}
