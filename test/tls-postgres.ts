import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../src/embedded/postgres.fixture.ts';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';
import { selfSigned } from '../src/webhooks/local-receivers.fixture.ts';
import { freePort } from './ports.ts';

/**
 * A real PostgreSQL on a port, which takes nothing but TLS, with a certificate for `localhost` that only its file
 * vouches for.
 */
export interface TlsPostgres {
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly authorityFile: string;
}

export async function tlsPostgres(): Promise<TlsPostgres> {
  const dataDir = await temporaryFolder();
  const made = await startEmbeddedPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } });
  const cluster = path.join(dataDir, 'postgres');
  const [program = ''] = (await readFile(path.join(cluster, 'postmaster.opts'), 'utf8')).split(' ');
  await made.stop();
  const { uid, gid } = await stat(cluster);
  const { cert, key } = selfSigned('localhost');
  for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
    await writeFile(path.join(cluster, name), text, { mode: 0o600 });
    await chown(path.join(cluster, name), uid, gid);
  }
  await writeFile(path.join(cluster, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 trust\n');
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'ssl=on', 'fsync=off'];
  const child = spawn(program, ['-D', cluster, ...settings.flatMap((one) => ['-c', one])], {
    uid,
    gid,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGINT');
    await gone;
  });
  for await (const line of createInterface({ input: child.stderr }))
    if (line.includes('ready to accept connections')) break;
  child.stderr.resume();
  const authorityFile = path.join(dataDir, 'authority.pem');
  await writeFile(authorityFile, cert);
  const { user, database } = made.connection;
  return { port, user, database, authorityFile };
}
