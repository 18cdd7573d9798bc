import { isIP } from 'node:net';
import { parseCidr } from '../webhooks/guard.ts';
import { fileSettingOf, readSecretFile } from './secret-files.ts';

/** RFC 1123, 2.1, and the underscores of container names. Numbers and points alone are an IP address, not a name. */
const HOST_NAME = /^(?![\d.]+$)[a-z0-9](?:[\w-]*[a-z0-9])?(?:\.[a-z0-9](?:[\w-]*[a-z0-9])?)*$/i;
const LINE_BREAK = /[\n\r]/;
type Environment = Readonly<Record<string, string | undefined>>;

const NODE_EXAMPLE = 'http://user:password@127.0.0.1:8332';

/**
 * Reads settings by name, and secrets also from their files; an empty one counts as unset. Errors are added to
 * `problems`, each with its rule and the way out; secrets are never repeated.
 */
export function reader(env: Environment, cwd: string, problems: string[]) {
  const { text, variable, ...read } = valuesOf(env, cwd, problems);
  const list = (name: string): readonly string[] =>
    (text(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const httpUrl = (name: string, value: string, example: string): URL | null => {
    const url = URL.parse(value);
    if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
    problems.push(`${name} must be an absolute http or https URL, such as ${example}.`);
    return null;
  };
  return {
    ...read,
    text,
    integer(name: string, fallback: number, min: number, max: number): number {
      const value = text(name);
      if (value === null) return fallback;
      const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
      if (number >= min && number <= max) return number;
      problems.push(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
      return fallback;
    },
    choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
      const value = text(name);
      if (value === null) return fallback;
      const choice = choices.find((candidate) => candidate === value);
      if (choice !== undefined) return choice;
      problems.push(`${name} must be one of ${choices.join(', ')}, not "${value}".`);
      return fallback;
    },
    host: (name: string): string | null => hostOf(name, text(name), problems),
    /** A base URL: no query, no fragment, no trailing slash. */
    url(name: string): string | null {
      const value = text(name);
      if (value === null) return null;
      const url = httpUrl(name, value, 'https://pay.shop.example');
      if (url === null) return null;
      if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
        problems.push(`${name} must have no query, fragment or credentials.`);
      }
      return (url.origin + url.pathname).replace(/\/+$/, '');
    },
    urls(name: string): readonly string[] {
      const values = list(name);
      // No message repeats a URL, which may contain a password.
      const nameOf = (index: number): string =>
        values.length === 1 ? name : `${name}, URL ${index + 1} of ${values.length},`;
      return values.filter((value, index) => httpUrl(nameOf(index), value, NODE_EXAMPLE) !== null);
    },
    /** Returns CIDRs in their normal form. */
    cidrs(name: string): readonly string[] | null {
      if (variable(name) === null) return null;
      return list(name).flatMap((part) => {
        const parsed = parseCidr(part);
        if (parsed.kind === 'ok') return [parsed.cidr.text];
        problems.push(`${name}: ${JSON.stringify(part)} is not a range such as 10.0.0.0/8 or fd00::/8.`);
        return [];
      });
    },
  };
}

/** The values of settings as they stand, secrets in files included. */
function valuesOf(env: Environment, cwd: string, problems: string[]) {
  const names = new Set<string>();
  const files = new Map<string, string>();
  const variable = (name: string): string | null => {
    names.add(name);
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const text = (name: string): string | null => {
    const value = variable(name);
    const setting = fileSettingOf(name);
    const file = setting === null ? null : variable(setting);
    if (setting === null || file === null) return value;
    if (value !== null) {
      problems.push(`${name} and ${setting} are both set. Set only one of them.`);
      return value;
    }
    const secret = readSecretFile(name, file, cwd);
    if (secret.kind === 'read') {
      files.set(name, secret.file);
      return secret.value;
    }
    problems.push(secret.problem);
    return null;
  };
  return {
    variable,
    text,
    /** Whether a setting or its file is set, even if its value is not valid. */
    isSet(name: string): boolean {
      const setting = fileSettingOf(name);
      return variable(name) !== null || (setting !== null && variable(setting) !== null);
    },
    lineBreaks: (): readonly string[] => lineBreaksOf(names, variable),
    /** Every name that was read so far. */
    names: (): ReadonlySet<string> => names,
    /** The files that secrets were read from so far, by the setting whose value they hold. */
    files: (): ReadonlyMap<string, string> => files,
  };
}

/**
 * The problems of values with several lines. A quote that is not closed in systemd's `EnvironmentFile=` takes the lines
 * below it, and the secrets in them, into its value.
 */
function lineBreaksOf(names: ReadonlySet<string>, variable: (name: string) => string | null): readonly string[] {
  return [...names]
    .filter((name) => LINE_BREAK.test(variable(name) ?? ''))
    .map(
      (name) =>
        `The value of ${name} contains a line break. Look for a quote that is not closed, and write the value on one line.`,
    );
}

/** Checks the form of an IP address or a host name, not whether this machine has it. */
function hostOf(name: string, value: string | null, problems: string[]): string | null {
  if (value === null || isIP(value) !== 0 || (value.length <= 253 && HOST_NAME.test(value))) return value;
  problems.push(`${name} must be only an IP address or a host name, such as 127.0.0.1 or 0.0.0.0, not "${value}".`);
  return null;
}

export type Reader = ReturnType<typeof reader>;
