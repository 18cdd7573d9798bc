import { readFile } from 'node:fs/promises';

/** A cookie file that cannot be used; the message names it and holds nothing of what is in it. */
export class CookieError extends Error {
  override readonly name = 'CookieError';
}

/** What proves to a node that one may read its data folder. */
export interface Cookie {
  /** The header that carries it. Throws `CookieError` when the file cannot be read. */
  header(): Promise<string>;
  /** Reads the file anew at the next call: the node writes another cookie at each of its starts. */
  forget(): void;
  /** Every form that it has had last, to be kept out of messages. */
  secrets(): readonly string[];
}

/** A cookie is `__cookie__:` and 64 hex digits; a file much longer is another one. */
const MAX_COOKIE_LENGTH = 256;

/**
 * The cookie file of Bitcoin Core and Litecoin Core (`.cookie` in the data folder of the chain). Nothing is read before
 * the first call.
 */
export function createCookie(file: string): Cookie {
  let known: string | null = null;

  async function read(): Promise<string> {
    const text = await readFile(file, 'utf8').catch((fault: NodeJS.ErrnoException) => {
      throw new CookieError(
        `its cookie file ${file} cannot be read (${fault.code ?? 'unknown fault'}): start the node, and let the user that runs Cointill read the file (-rpccookieperms=group)`,
      );
    });
    const cookie = text.trim();
    if (cookie.length > MAX_COOKIE_LENGTH || !/^[^:\s]+:\S+$/.test(cookie)) {
      throw new CookieError(`${file} is no cookie file of a node`);
    }
    return cookie;
  }

  return {
    header: async () => {
      known ??= await read();
      return basicAuthorization(known);
    },
    forget: () => {
      known = null;
    },
    secrets: () =>
      known === null ? [] : [known, known.slice(known.indexOf(':') + 1), Buffer.from(known).toString('base64')],
  };
}

/** RFC 7617, of `user:password`. */
export function basicAuthorization(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
