import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { SmtpServer } from './send.ts';

/** A mail as a server took it. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly isEncrypted: boolean;
  readonly user: string | null;
  /** Headers and body, as they came. */
  readonly raw: string;
  /** By lower-case name; folded lines are one. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface LocalSmtp {
  readonly server: SmtpServer;
  /** The same, as `SMTP_URL` names it. */
  readonly url: string;
  readonly taken: TakenMail[];
  /** The answer to a mail's body from now on: the answer's code; 0: it accepts the mail; null: no answer, ever. */
  answer: (mail: TakenMail) => number | null;
  /** The answer to each recipient of a mail from this sender: the answer's code; 0: it takes the recipient. */
  answerRecipient: (from: string) => number;
}

export const USER = 'payments@shop.example';
export const PASSWORD = 'p@ss/w:rd 100%';

/**
 * A real mail server on this machine, which takes everything, without TLS and log-in unless `options` have them.
 * `finished` takes what ends it.
 */
export async function localSmtp(
  options: SMTPServerOptions = {},
  named: Partial<SmtpServer> = {},
  finished: (end: () => Promise<void>) => void = onTestFinished,
): Promise<LocalSmtp> {
  const taken: TakenMail[] = [];
  const local: Pick<LocalSmtp, 'taken' | 'answer' | 'answerRecipient'> = {
    taken,
    answer: () => 0,
    answerRecipient: () => 0,
  };
  const refusal = (responseCode: number) => Object.assign(new Error('Not this one.'), { responseCode });
  const smtp = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, done) =>
      username === USER && password === PASSWORD ? done(null, { user: username }) : done(new Error('Wrong.')),
    onRcptTo: (_address, { envelope: { mailFrom } }, done) => {
      const code = local.answerRecipient(mailFrom === false ? '' : mailFrom.address);
      done(code === 0 ? null : refusal(code));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const { mailFrom, rcptTo } = session.envelope;
        const mail: TakenMail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isEncrypted: session.secure,
          user: typeof session.user === 'string' ? session.user : null,
          raw,
          headers: headersOf(raw),
        };
        const code = local.answer(mail);
        if (code === null) return;
        if (code === 0) taken.push(mail);
        done(code === 0 ? null : refusal(code));
      });
    },
    ...options,
  });
  // A client that ends in the middle is the test's own doing.
  smtp.on('error', () => {});
  const listening = smtp.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  finished(() => new Promise<void>((resolve) => smtp.close(() => resolve())));
  const { port } = listening.address() as AddressInfo;
  const server: SmtpServer = { host: '127.0.0.1', port, tls: 'offered', login: null, ...named };
  return Object.assign(local, { server, url: `smtp://127.0.0.1:${port}` });
}

function headersOf(raw: string): ReadonlyMap<string, string> {
  const [head = ''] = raw.split('\r\n\r\n');
  return new Map(
    head
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
  );
}

/** The PDF that is attached to a mail; null if there is none. */
export function attachedPdf({ raw }: Pick<TakenMail, 'raw'>): { readonly name: string; readonly bytes: Buffer } | null {
  const [, head = '', body] = /(Content-Type: application\/pdf[^]*?)\r\n\r\n([^]*?)\r\n--/.exec(raw) ?? [];
  if (body === undefined) return null;
  return { name: /filename="?([^"\r\n;]+)/.exec(head)?.[1] ?? '', bytes: Buffer.from(body, 'base64') };
}
