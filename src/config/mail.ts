import { isIP } from 'node:net';
import type { SmtpServer } from '../mail/send.ts';
import { isLoopback } from './addresses.ts';
import type { Reader } from './reader.ts';

/** How the service sends mail. */
export interface MailConfig {
  readonly server: SmtpServer;
  readonly from: { readonly name: string; readonly address: string };
}

const FORM = 'smtp://user:password@mail.shop.example:587 or smtps://user:password@mail.shop.example';
const ESCAPED = 'special characters in user and password are written as in a URL, such as %40 for @';
const USUAL_NAME = 'Cointill';
/** RFC 5321, as far as an address is written in a setting: no quotes, no comments. */
const ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?!-)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;

/** Reads `SMTP_URL` and `MAIL_FROM`; null: no mail. No problem repeats a value, because the URL has a password. */
export function readMail(read: Reader, dashboardUrl: string, problems: string[]): MailConfig | null {
  const url = read.text('SMTP_URL');
  const from = read.text('MAIL_FROM');
  if (url === null) {
    if (from !== null && !read.isSet('SMTP_URL'))
      problems.push('MAIL_FROM is set, but SMTP_URL is not. To send mails, set SMTP_URL too.');
    return null;
  }
  const server = readServer(url, problems);
  if (server === null) return null;
  const sender = readSender(from ?? usualSender(server, dashboardUrl));
  if (sender !== null) return { server, from: sender };
  problems.push(
    from === null
      ? 'MAIL_FROM must be set to the sender of mails, such as payments@shop.example, because Cointill cannot take a sender from SMTP_URL or DASHBOARD_URL.'
      : 'MAIL_FROM must be an e-mail address, such as payments@shop.example, or a name and an address, such as Shop <payments@shop.example>.',
  );
  return null;
}

function readServer(text: string, problems: string[]): SmtpServer | null {
  const fault = (rule: string): null => {
    problems.push(`SMTP_URL ${rule}`);
    return null;
  };
  if (!/^smtps?:\/\//.test(text)) return fault(`must begin with smtp:// or smtps://, such as ${FORM}.`);
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return fault(`is not a valid URL. Write ${FORM}; ${ESCAPED}.`);
  const user = decoded(url.username);
  const password = decoded(url.password);
  if (user === null || password === null) return fault(`is not a valid URL: ${ESCAPED}, and %25 for %.`);
  if ((user === '') !== (password === '')) return fault('must have both a user and a password, or neither.');
  const isImplicit = url.protocol === 'smtps:';
  const options = [...url.searchParams].map(([name, value]) => `${name}=${value}`);
  const isWithoutTls = !isImplicit && options.length === 1 && options[0] === 'starttls=off';
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '' || (options.length > 0 && !isWithoutTls)) {
    return fault('must end after the host and port. Only ?starttls=off may follow them, and only with smtp://.');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isWithoutTls && user !== '' && !isLoopback(host)) {
    return fault(
      'must not have both starttls=off and a password, because everybody in the network could read the password.',
    );
  }
  const port = url.port === '' ? (isImplicit ? 465 : 587) : Number(url.port);
  if (port === 0) return fault('must have a port from 1 to 65535, or none.');
  const tls = isImplicit ? 'implicit' : isWithoutTls ? 'off' : isLoopback(host) ? 'offered' : 'required';
  return { host, port, tls, login: user === '' ? null : { user, password } };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The default sender: most mail servers accept only the user who logs in. */
function usualSender({ login }: SmtpServer, dashboardUrl: string): string {
  const host = URL.parse(dashboardUrl)?.hostname ?? '';
  if (login !== null && ADDRESS.test(login.user)) return login.user;
  return host.includes('.') && isIP(host) === 0 ? `cointill@${host}` : '';
}

/** Parses `address` or `name <address>`. */
function readSender(text: string): MailConfig['from'] | null {
  const { name = '', address = text } = /^(?<name>[^<>]*)<(?<address>[^<>]+)>$/.exec(text)?.groups ?? {};
  if (!ADDRESS.test(address.trim()) || /[\p{Cc}\p{Cf}]/u.test(name)) return null;
  const shown = name.trim().replace(/^"(.*)"$/, '$1');
  return { name: shown === '' ? USUAL_NAME : shown, address: address.trim() };
}
