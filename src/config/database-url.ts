import path from 'node:path';
import { pemProblem } from './tls.ts';

/** The part between protocol and path, without credentials. */
const POSTGRES_HOSTS = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/;

/**
 * Reads the URL of a PostgreSQL database and checks as much as is possible without connecting, because the driver
 * treats an unknown TLS mode as another one and reads certificate files only when it connects. No message repeats the
 * value, which may contain a password.
 */
export function readDatabaseUrl(name: string, value: string | null, cwd: string, problems: string[]): string | null {
  if (value === null) return null;
  const hosts = POSTGRES_HOSTS.exec(value)?.[1];
  const url = URL.parse(value);
  if (hosts?.includes(',') || url?.searchParams.get('host')?.includes(',')) {
    problems.push(
      `${name} names several hosts, but Cointill can use only one. Name one host that always leads to the primary, such as a proxy in front of the hosts.`,
    );
  } else if (hosts === undefined || url === null) {
    problems.push(
      hosts === undefined
        ? `${name} must begin with postgres:// or postgresql://.${name === 'DATABASE_URL' ? ` To use the embedded database, leave ${name} unset.` : ''}`
        : `${name} is not a valid URL. Its port must be a number up to 65535, and special characters in the user name and the password must be written as in a URL, such as %40 for @.`,
    );
  } else {
    problems.push(...tlsProblems(url.searchParams, cwd).map((problem) => `${name}: ${problem}`));
  }
  return value;
}

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const NEGOTIATIONS = ['postgres', 'direct'];
/** The TLS parameters that the driver reads. It ignores every other name and continues in plain text. */
const TLS_PARAMETERS = ['sslmode', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey', 'ssl', 'uselibpqcompat'];
const LOOKS_LIKE_TLS = /ssl|tls/i;
const SSL_VALUES = ['true', 'false', '1', '0'];

const FILES = { sslrootcert: 'certificate', sslcert: 'certificate', sslkey: 'private key' } as const;

function tlsProblems(parameters: URLSearchParams, cwd: string): readonly string[] {
  // If a parameter is repeated, the driver uses the last one.
  const last = (name: string): string | null => parameters.getAll(name).at(-1) ?? null;
  const oneOf = (name: string, choices: readonly string[]): readonly string[] => {
    const value = last(name);
    return value === null || choices.includes(value)
      ? []
      : [`${name} must be one of ${choices.join(', ')}, not "${value}".`];
  };
  const files = (['sslrootcert', 'sslcert', 'sslkey'] as const).flatMap((name) => {
    const file = last(name);
    if (file === null) return [];
    if (name === 'sslrootcert' && file === 'system')
      return [
        'sslrootcert must be the path of a file. To use the authorities that Node.js trusts, leave sslrootcert out.',
      ];
    const problem = pemProblem(name, path.resolve(cwd, file), FILES[name]);
    return problem === null ? [] : [problem];
  });
  const compatible =
    last('uselibpqcompat') === 'true' && last('sslmode') === 'verify-ca' && last('sslrootcert') === null;
  return [
    ...mistaken(parameters),
    ...oneOf('ssl', SSL_VALUES),
    ...oneOf('sslmode', SSL_MODES),
    ...oneOf('sslnegotiation', NEGOTIATIONS),
    ...files,
    ...(compatible
      ? ['With uselibpqcompat, sslmode=verify-ca needs sslrootcert. Without sslrootcert, use sslmode=verify-full.']
      : []),
  ];
}

/** Finds parameters that the driver would ignore although the operator most likely wants TLS. */
function mistaken(parameters: URLSearchParams): readonly string[] {
  const names = [...new Set(parameters.keys())];
  const unknown = names.filter((name) => LOOKS_LIKE_TLS.test(name) && !TLS_PARAMETERS.includes(name));
  const twice = TLS_PARAMETERS.filter((name) => parameters.getAll(name).length > 1);
  const asks = ['sslmode', 'ssl', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey'].some((name) =>
    names.includes(name),
  );
  return [
    ...unknown.map((name) => `${name} is not a parameter. For TLS, set sslmode to one of ${SSL_MODES.join(', ')}.`),
    ...twice.map((name) => `${name} is given more than once. Give it once.`),
    ...(names.includes('ssl') && names.includes('sslmode')
      ? ['ssl and sslmode are both given. Give only sslmode.']
      : []),
    ...(parameters.get('channel_binding') === 'require' && !asks
      ? ['channel_binding=require needs TLS. Add sslmode=verify-full, or another mode that uses TLS.']
      : []),
  ];
}
