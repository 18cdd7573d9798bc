import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { encodeId } from '../domain/id.ts';
import { rotateSealingKey, type KeyRotation } from '../service/rotate-sealing-key.ts';
import { isoTime } from '../wire/time.ts';
import { fields } from '../wire/fields.ts';
import { KEY_FILE_NAME } from '../webhooks/secret.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

/** `cointill secret rotate`. */
export function addSecretCommands(secret: Command): void {
  printsRecord(
    secret
      .command('rotate')
      .description('encrypt all secrets with the current SECRET_KEY or secret.key instead of SECRET_KEY_PREVIOUS'),
  ).action((options: OutputOptions) => {
    const { secretKey, secretKeyPrevious } = readConfig(process.env, process.cwd());
    const key = secretKey === null ? KEY_FILE_NAME : 'SECRET_KEY';
    return withCointill(async ({ app, sealingKeys }) => {
      const rotation = await rotateSealingKey(app, await sealingKeys());
      const { webhook_endpoints: endpoints, people } = rotation.unopened;
      const isComplete = endpoints.length + people.length === 0;
      const record = {
        rotated: rotation.kind === 'rotated',
        key: secretKey === null ? 'file' : 'setting',
        endpoints: rotation.endpoints,
        people: rotation.people,
        unopened_endpoints: unopenedEndpoints(rotation),
        unopened_people: people,
      };
      print(options, record, () => [
        ...linesOf(rotation, key, {
          isPreviousSet: secretKeyPrevious !== null,
          isComplete,
          now: isoTime(app.clock()),
        }),
        ...unopenedLines(rotation),
      ]);
      if (!isComplete) process.exitCode = 1;
    });
  });
}

function unopenedEndpoints({ unopened }: KeyRotation): readonly string[] {
  return unopened.webhook_endpoints.map((id) => encodeId('endpoint', id));
}

function linesOf(
  { kind, endpoints, people }: KeyRotation,
  key: string,
  {
    isPreviousSet,
    isComplete,
    now,
  }: { readonly isPreviousSet: boolean; readonly isComplete: boolean; readonly now: string },
): readonly string[] {
  if (kind === 'none') {
    const next = isPreviousSet
      ? 'You may remove SECRET_KEY_PREVIOUS from the settings of every process.'
      : 'To change the key, set SECRET_KEY to the new key for every process, and SECRET_KEY_PREVIOUS to the current SECRET_KEY, or SECRET_KEY_PREVIOUS_FILE to the current secret.key. Restart them, and run this command again.';
    return isComplete ? [`Everything is encrypted with ${key} already. ${next}`] : ['Nothing was changed.'];
  }
  return [
    ...fields([
      ['Key', `${key} encrypts everything from now on`],
      ['Endpoints', `the secrets of ${endpoints}`],
      ['People', `the one-time codes of ${people}`],
    ]),
    '',
    'You may now remove SECRET_KEY_PREVIOUS from the settings of every process.',
    `Backups made before ${now} need the former key. Keep that key as long as you keep those backups.`,
  ];
}

function unopenedLines(rotation: KeyRotation): readonly string[] {
  const endpoints = unopenedEndpoints(rotation);
  const { people } = rotation.unopened;
  return [
    ...(endpoints.length === 0
      ? []
      : [
          '',
          `No key opens the secrets of ${endpoints.join(', ')}. They stay as they are. If a key of before is not lost, set it as SECRET_KEY_PREVIOUS and run this command again. Otherwise run: cointill webhook rotate ID`,
        ]),
    ...(people.length === 0
      ? []
      : ['', `No key opens the one-time codes of ${people.join(', ')}. Run: cointill user reset EMAIL`]),
  ];
}
