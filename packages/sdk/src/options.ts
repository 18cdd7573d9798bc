import { invalid } from './errors.ts';

const KEY = /^[sp]k_(?:test|live)_[0-9A-Za-z]{38}$/;

/** The key. @throws InvalidRequestError that says what is wrong with it, without showing it */
export function checkedKey(key: unknown): string {
  if (typeof key !== 'string' || key === '') {
    throw invalid('key', 'key is missing. Give an API key, for example that of COINTILL_KEY.');
  }
  if (/\s/.test(key)) {
    throw invalid('key', 'key contains a space or a line end. Remove it: key.trim().');
  }
  if (!KEY.test(key)) {
    throw invalid(
      'key',
      `key is not an API key: it begins with sk_test_, sk_live_, pk_test_ or pk_live_ and has 46 characters, but this one has ${key.length}. Copy the whole key.`,
    );
  }
  if (key.startsWith('sk_') && 'document' in globalThis) {
    throw invalid('key', 'key is secret, and every visitor could read it. Use a public key (pk_…) in browsers.');
  }
  return key;
}

/** The origin of the address. @throws InvalidRequestError that says what is wrong with it */
export function checkedUrl(url: unknown): string {
  const example = 'such as https://pay.example.com or http://127.0.0.1:4001';
  if (typeof url !== 'string' || url === '')
    throw invalid('url', `url is missing. Give the address of the service, ${example}.`);
  if (!/^https?:\/\//i.test(url)) throw invalid('url', `url must begin with https:// or http://, ${example}.`);
  if (!URL.canParse(url)) throw invalid('url', `url is not a valid address. Give one ${example}.`);
  const { origin, pathname, search, hash, username, password } = new URL(url);
  if (pathname !== '/' || `${search}${hash}${username}${password}` !== '') {
    throw invalid('url', `url must be the address alone, without a path, a query or a user: ${origin}`);
  }
  return origin;
}
