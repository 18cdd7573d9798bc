import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { takeSealingKey } from '../service/sealing-key.ts';
import { KEY_FILE_NAME } from '../webhooks/secret.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

/** `cointill recover key`. */
export function addKeyCommand(recover: Command): void {
  printsRecord(
    recover
      .command('key')
      .description("make the SECRET_KEY or secret.key that is set now the database's, where that of before is lost"),
    // Options that both commands have are parsed by the parent command.
  ).action((_options: unknown, own: Command) => take(own.optsWithGlobals()));
}

function take(options: OutputOptions): Promise<void> {
  const { secretKey } = readConfig(process.env, process.cwd());
  return withCointill(async ({ handle, sealingKey }) => {
    await takeSealingKey(handle.db, await sealingKey({ lost: true }));
    const key = secretKey === null ? KEY_FILE_NAME : 'SECRET_KEY';
    print(options, { key: secretKey === null ? 'file' : 'setting' }, () => [
      `${key} is the key of this database from now on. Every process and every command needs the same one.`,
    ]);
  });
}
