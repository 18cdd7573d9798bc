import { expect, it } from 'vitest';
import { program } from '../../src/cli/program.fixture.ts';
import { testDatabase } from '../database.ts';
import { tlsPostgres } from '../tls-postgres.ts';

/** The output of a command on such a database. */
async function said(env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stderr } = await (await program(env)).run('project', 'list');
  return `${code} ${stderr.trim()}`;
}

it('TLS that the server does not offer is reported with the setting that asks for it and the way out', async () => {
  const { url } = await testDatabase();
  const encrypted = `${url}?sslmode=require`;
  const problem =
    /^1 DATABASE_URL requires TLS \(by sslmode in the URL, or by PGSSLMODE\), but the server does not offer TLS\. .*sslmode=disable/;
  expect(await said({ DATABASE_URL: encrypted })).toMatch(problem);
  expect(await said({ DATABASE_URL: encrypted, DATABASE_DIRECT_URL: url })).toMatch(problem);
  expect(await said({ DATABASE_URL: url, DATABASE_DIRECT_URL: encrypted })).toMatch(
    /^1 DATABASE_DIRECT_URL requires TLS \(by sslmode in the URL, or by PGSSLMODE\), but the server does not offer TLS\./,
  );
});

it('a server that requires TLS, and an invalid certificate, are reported with the way out', async () => {
  const { port, user, database, authorityFile } = await tlsPostgres();
  const at = (host: string, parameters: string) => ({
    DATABASE_URL: `postgres://${user}@${host}:${port}/${database}${parameters}`,
  });
  expect(await said(at('127.0.0.1', ''))).toMatch(
    /^1 The database refuses the connection \(.*no encryption.*Check DATABASE_URL\. .*add sslmode=require\.$/,
  );
  expect(await said(at('localhost', '?sslmode=verify-full'))).toMatch(
    /^1 The certificate of the server that DATABASE_URL names is from an unknown authority .*sslrootcert=/,
  );
  expect(await said(at('127.0.0.1', `?sslmode=require&sslrootcert=${authorityFile}`))).toMatch(
    /^1 The certificate of the server that DATABASE_URL names is for another host .*Use the host name of the certificate in DATABASE_URL\.$/,
  );
  for (const parameters of [`?sslmode=verify-full&sslrootcert=${authorityFile}`, '?sslmode=no-verify']) {
    const made = await (await program(at('localhost', parameters))).json('project', 'create', '--name', 'Shop');
    expect(made).toMatchObject({ name: 'Shop' });
  }
});
