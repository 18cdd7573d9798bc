import { LOGO_ID } from './render.ts';

/** The mail server of `SMTP_URL`. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /**
   * `implicit`: from the first byte. `required`: by STARTTLS, or nothing is sent. `offered`: by STARTTLS where the
   * server offers it. `off`: never.
   */
  readonly tls: 'implicit' | 'required' | 'offered' | 'off';
  readonly login: { readonly user: string; readonly password: string } | null;
}

/** A mail that is ready to be sent. */
export interface Mail {
  /**
   * The id with its angle brackets. It is the same for each attempt, so that a mail that was sent twice is shown once.
   */
  readonly messageId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The URL at which the holder of the mail switches its kind off (RFC 8058); null: it cannot be switched off. */
  readonly unsubscribeUrl: string | null;
  /** The sender in place of `MAIL_FROM`; null as an address: that of `MAIL_FROM`, under this name. */
  readonly from?: { readonly name: string; readonly address: string | null };
  readonly replyTo?: string | null;
  /** The picture that the HTML shows as {@link LOGO_ID}. */
  readonly logo?: { readonly type: string; readonly bytes: Buffer } | null;
  readonly attachments?: readonly { readonly name: string; readonly type: string; readonly bytes: Buffer }[];
}

/**
 * `refused`: the server never accepts this mail (5xx), for example for an unknown address; `deferred`: not now (4xx).
 * `failed`: it accepts no mail at all. `problem` is in plain words, without the password.
 */
export type SendOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'deferred'; readonly problem: string }
  /** `isOfSender`: it accepts no mail from `MAIL_FROM`, which connecting and signing in do not reveal. */
  | { readonly kind: 'failed'; readonly problem: string; readonly isOfSender: boolean };

export interface MailSender {
  send(mail: Mail): Promise<SendOutcome>;
  /** Connects and signs in, without a mail. Returns the problem in plain words; null if there is none. */
  check(): Promise<string | null>;
}

export interface MailSenderOptions {
  readonly server: SmtpServer;
  readonly from: { readonly name: string; readonly address: string };
  /** How long the server may take for each of its answers, and six times as long for all of them. */
  readonly answerMs?: number;
}

/** An id derived from the mail's own id, so that it is the same for each attempt. */
export function messageIdOf(id: string, from: string): string {
  return `<${id}@${from.split('@').at(-1) ?? 'localhost'}>`;
}

const ANSWER_MS = 10_000;
const MAX_ANSWERS = 6;
const MAX_PROBLEM = 300;

/** Sends by SMTP, on a new connection for each mail, because mails are few. */
export function createMailSender({ server, from, answerMs = ANSWER_MS }: MailSenderOptions): MailSender {
  const open = async () => {
    // Loaded with the first mail, because most commands send none.
    const { createTransport } = await import('nodemailer');
    const { host, port, tls, login } = server;
    return createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'required',
      ignoreTLS: tls === 'off',
      ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
      name: from.address.split('@').at(-1),
      connectionTimeout: answerMs,
      greetingTimeout: answerMs,
      socketTimeout: answerMs,
      dnsTimeout: answerMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
  type Transport = Awaited<ReturnType<typeof open>>;
  const run = async (work: (transport: Transport, signal: AbortSignal) => Promise<unknown>): Promise<SendOutcome> => {
    const transport = await open();
    const late = Promise.withResolvers<never>();
    const ended = new AbortController();
    // A server that sends a byte now and then would hold the connection forever, and could accept the mail in the end.
    const timer = setTimeout(() => {
      late.reject(new Error(`it did not accept the mail within ${(answerMs * MAX_ANSWERS) / 1000} s`));
      ended.abort();
    }, answerMs * MAX_ANSWERS);
    try {
      await Promise.race([work(transport, ended.signal), late.promise]);
      return { kind: 'sent' };
    } catch (error) {
      return outcomeOf(error, server);
    } finally {
      clearTimeout(timer);
      transport.close();
    }
  };
  return {
    send: (mail) => run((transport, signal) => transport.sendMail({ ...messageOf(mail, from), signal })),
    check: async () => {
      const outcome = await run((transport) => transport.verify());
      return outcome.kind === 'sent' ? null : outcome.problem;
    },
  };
}

function messageOf(
  { to, unsubscribeUrl, from: own, replyTo, logo, attachments = [], ...mail }: Mail,
  from: MailSenderOptions['from'],
) {
  const picture = logo ? [{ cid: LOGO_ID, content: logo.bytes, contentType: logo.type, filename: false as const }] : [];
  return {
    ...mail,
    from: { ...from, ...own, address: own?.address ?? from.address },
    ...(replyTo === null || replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
    attachments: [
      ...picture,
      ...attachments.map(({ name, type, bytes }) => ({ filename: name, content: bytes, contentType: type })),
    ],
    // An object is one address, whatever its text contains.
    to: { name: '', address: to },
    headers: {
      // RFC 3834: nobody's out-of-office reply is sent to it.
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl === null
        ? {}
        : { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
  };
}

/** The fields that Nodemailer adds to its errors. */
interface SmtpError {
  readonly code: string;
  /** The server's answer. */
  readonly command: string;
  readonly responseCode: number;
  readonly response: string;
}

function outcomeOf(error: unknown, server: SmtpServer): SendOutcome {
  const { code = '', command = '', responseCode = 0, response } = error as Partial<SmtpError>;
  const isOfMail = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== 0;
  const isOfSender = isOfMail && responseCode >= 500 && command === 'MAIL FROM';
  const message = error instanceof Error ? error.message : String(error);
  const words = response ?? message;
  const problem = shown(isOfSender ? senderProblem(words, server) : problemOf(code, message, words, server), server);
  if (!isOfMail || isOfSender) return { kind: 'failed', problem, isOfSender };
  return responseCode >= 500 ? { kind: 'refused', problem } : { kind: 'deferred', problem };
}

function senderProblem(response: string, { host, port }: SmtpServer): string {
  return `The mail server ${host}:${port} does not accept mail from the address in MAIL_FROM (${response}). Set MAIL_FROM to an address that the user in SMTP_URL may send from.`;
}

/** Node's codes for certificates from an unknown authority. */
const UNKNOWN_AUTHORITY = /SELF.SIGNED|self-signed|UNABLE_TO_(?:GET_ISSUER|VERIFY)|unable to (?:get|verify)/;

function problemOf(code: string, message: string, response: string, { host, port }: SmtpServer): string {
  const where = `The mail server ${host}:${port}`;
  if (UNKNOWN_AUTHORITY.test(`${code} ${message}`)) {
    return `${where} has a certificate from an authority that is not trusted here (${message}). Set NODE_EXTRA_CA_CERTS to the file with the certificate of that authority.`;
  }
  switch (code) {
    case 'EAUTH':
      return `${where} rejects the user or password in SMTP_URL (${response}).`;
    case 'ETLS':
      return `${where} does not offer TLS that can be used (${message}). Use smtps:// with the right port, or a server with STARTTLS.`;
    case 'EENVELOPE':
    case 'EMESSAGE':
      return `${where} does not accept the mail (${response}).`;
    default:
      return `${where} does not respond as expected (${message}).`;
  }
}

/** The problem on one line, of a bounded length, and without the password, even if the server repeats it. */
function shown(problem: string, { login }: SmtpServer): string {
  const secrets =
    login === null
      ? []
      : [
          login.password,
          Buffer.from(login.password).toString('base64'),
          Buffer.from(`\0${login.user}\0${login.password}`).toString('base64'),
        ];
  const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), problem);
  const line = hidden.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
  return line.length <= MAX_PROBLEM ? line : `${line.slice(0, MAX_PROBLEM)}…`;
}
