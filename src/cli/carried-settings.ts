import path from 'node:path';
import { shellWord } from '../config/called-as.ts';
import type { Config } from '../config/config.ts';

/** What stands for a database's password: it can be seen that it has to be replaced. */
const PASSWORD = 'PASSWORD';

/**
 * The settings that a command of another terminal needs in order to find this service's data, as a shell takes them
 * before a command; empty if there are none. `usualDir` is where a command of that terminal finds an embedded database
 * by itself. Secrets are left out: `lacks` says which have to be put in.
 */
export function carriedSettings(
  config: Config,
  usualDir: string,
): { readonly prefix: string; readonly lacks: readonly string[] } {
  const { databaseUrl, databaseDirectUrl, dataDir, secretKey } = config;
  const urls = { DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: databaseDirectUrl };
  const shownUrls = Object.entries(urls).flatMap(([name, url]) => (url === null ? [] : [[name, withoutSecret(url)]]));
  const settings = [
    ...(dataDir === path.resolve(usualDir, 'data') ? [] : [['DATA_DIR', dataDir]]),
    ...shownUrls,
    ...(secretKey === null ? [] : [['SECRET_KEY', 'SECRET_KEY']]),
  ];
  const isHidden = Object.values(urls).some((url) => url !== null && withoutSecret(url) !== url);
  return {
    prefix: settings.map(([name = '', value = '']) => `${name}=${shellWord(value)} `).join(''),
    lacks: [...(isHidden ? [PASSWORD] : []), ...(secretKey === null ? [] : ['SECRET_KEY'])],
  };
}

/** Which database it is, for people. */
export function databasePlace({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string {
  return databaseUrl === null ? `embedded, in ${dataDir}` : withoutSecret(databaseUrl);
}

/** A URL of a database with PASSWORD in place of what is secret in it; itself if nothing is. */
export function withoutSecret(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url === null) return databaseUrl;
  const hidden = ['password', 'sslpassword'].filter((name) => url.searchParams.has(name));
  if (url.password === '' && hidden.length === 0) return databaseUrl;
  if (url.password !== '') url.password = PASSWORD;
  for (const name of hidden) url.searchParams.set(name, PASSWORD);
  return url.href;
}
