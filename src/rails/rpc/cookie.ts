import { readFile } from 'node:fs/promises';

/** A cookie file that cannot be used; the message names it and contains nothing of its content. */
export class CookieError extends Error {
  override readonly name = 'CookieError';
}

/** Credentials that prove to a node that its client can read its data folder. */
export interface Cookie {
  /** The HTTP header with the credentials. Throws `CookieError` if the file cannot be read. */
  header(): Promise<string>;
  /** Reads the file again at the next call: the node writes another cookie at each start. */
  forget(): void;
  /** All its latest forms, so that they can be kept out of messages. */
  secrets(): readonly string[];
}

/** A cookie is `__cookie__:` and 64 hex digits; a much longer file is something else. */
const MAX_COOKIE_LENGTH = 256;

/**
 * The cookie file of Bitcoin Core and Litecoin Core (`.cookie` in the chain's data folder). Nothing is read before the
 * first call.
 */
export function createCookie(file: string): Cookie {
  let content: string | null = null;

  async function read(): Promise<string> {
    const text = await readFile(file, 'utf8').catch((fault: NodeJS.ErrnoException) => {
      throw new CookieError(
        `its cookie file ${file} cannot be read (${fault.code ?? 'unknown fault'}). Start the node, and allow the user that runs Cointill to read the file (-rpccookieperms=group)`,
      );
    });
    const cookie = text.trim();
    if (cookie.length > MAX_COOKIE_LENGTH || !/^[^:\s]+:\S+$/.test(cookie)) {
      throw new CookieError(`${file} is not the cookie file of a node`);
    }
    return cookie;
  }

  return {
    header: async () => {
      content ??= await read();
      return basicAuthorization(content);
    },
    forget: () => {
      content = null;
    },
    secrets: () =>
      content === null
        ? []
        : [content, content.slice(content.indexOf(':') + 1), Buffer.from(content).toString('base64')],
  };
}

/** RFC 7617, for `user:password`. */
export function basicAuthorization(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
