import { InvalidArgumentError, Option, type Command } from 'commander';
import { createKey, keysOf, MAX_OVERLAP_HOURS, removeKey, rollKey } from '../app/projects/keys.ts';
import { encodeId } from '../domain/id.ts';
import {
  KEY_KINDS,
  MODES,
  PERMISSIONS,
  SCOPES,
  type KeyKind,
  type Mode,
  type Permission,
  type Scope,
} from '../domain/permission.ts';
import { isoTime, isoTimeOrNull } from '../wire/time.ts';
import type { StoredKey } from '../store/projects/api-keys.ts';
import { actsOnId } from './act-on-id.ts';
import { commaSeparated, keyIdOf, projectIdOf, wholeNumber } from './arguments.ts';
import { UsageFailure } from './failure.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, secretFields, table, type OutputOptions } from './output.ts';

interface CreateOptions extends OutputOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly kind: KeyKind;
  readonly permission?: Permission;
  readonly scopes?: readonly Scope[];
  readonly name: string;
}

interface RollOptions extends OutputOptions {
  readonly overlap: number;
}

const DEFAULT_OVERLAP_HOURS = 24;

/** `cointill key create|list|roll|revoke`. */
export function addKeyCommands(key: Command): void {
  printsRecord(key.command('create').description('create a key, which is shown only once'))
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .addOption(required('--mode <mode>', 'test: the sandbox; live: real money', MODES))
    .addOption(required('--kind <kind>', 'secret: for your server; public: for web pages and apps', KEY_KINDS))
    .addOption(new Option('--permission <permission>', 'what the key may do').choices(PERMISSIONS))
    .addOption(
      new Option('--scopes <scopes>', `narrower rights than a permission, comma-separated: ${SCOPES.join(', ')}`)
        .argParser(scopesIn)
        .conflicts('permission'),
    )
    .requiredOption('--name <name>', "the key's name")
    .action((options: CreateOptions) => {
      const { project: projectId, mode, kind, permission = null, scopes = null, name } = options;
      if (permission === null && scopes === null) {
        throw new UsageFailure(`Say what the key may do, with --permission (${PERMISSIONS.join(', ')}) or --scopes.`);
      }
      const request = { projectId, mode, kind, permission, scopes, name };
      return withCointill(async ({ app }) => {
        const { stored, key: text } = done(await createKey(app, request));
        print(options, newKeyRecord(stored, text), () => newKeyLines(stored, text));
      });
    });

  printsRecord(key.command('list').description("list a project's keys, without the keys themselves"))
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .action((options: OutputOptions & { readonly project: string }) =>
      withCointill(async ({ app }) => {
        const { keys } = done(await keysOf(app, options.project));
        print(options, keys.map(keyRecord), () => keyTable(keys));
      }),
    );

  printsRecord(key.command('roll').description('replace a key with a new one; both work for a while'))
    .argument('<id>', "the old key's id, key_…", keyIdOf)
    .option(
      '--overlap <hours>',
      `how long the old key still works, 0 to ${MAX_OVERLAP_HOURS}`,
      wholeNumber(0, MAX_OVERLAP_HOURS),
      DEFAULT_OVERLAP_HOURS,
    )
    .action((id: string, options: RollOptions) =>
      withCointill(async ({ app }) => {
        const rolled = done(await rollKey(app, id, { overlapHours: options.overlap }));
        const replaced = { id: encodeId('key', id), ends_at: isoTime(rolled.endsAt) };
        print(options, { ...newKeyRecord(rolled.stored, rolled.key), replaces: replaced }, () => [
          ...newKeyLines(rolled.stored, rolled.key),
          '',
          `${replaced.id} works until ${replaced.ends_at}.`,
        ]);
      }),
    );

  actsOnId(key.command('revoke').description('revoke a key for good, everywhere within a second'), 'key', {
    run: removeKey,
    record: { revoked: true },
    line: (id) => `Revoked ${id}: requests with this key are rejected from now on.`,
  });
}

function scopesIn(text: string): readonly Scope[] {
  return commaSeparated(text).map((word) => {
    const scope = SCOPES.find((one) => one === word);
    if (scope === undefined) throw new InvalidArgumentError(`Give scopes from this list: ${SCOPES.join(', ')}.`);
    return scope;
  });
}

function required(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).makeOptionMandatory();
}

function newKeyRecord(stored: StoredKey, text: string): object {
  return {
    id: encodeId('key', stored.id),
    key: text,
    mode: stored.mode,
    kind: stored.kind,
    permission: stored.permission,
    scopes: stored.scopes,
    name: stored.name,
  };
}

function newKeyLines(stored: StoredKey, text: string): readonly string[] {
  return [
    ...keyLines(stored),
    ...secretFields('Key', text, 'The key is shown only once, so save it now. Cointill stores only its hash.'),
  ];
}

export function keyRecord(key: StoredKey): object {
  return {
    id: encodeId('key', key.id),
    project_id: key.projectId,
    mode: key.mode,
    kind: key.kind,
    permission: key.permission,
    scopes: key.scopes,
    name: key.name,
    created_at: isoTime(key.createdAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    ends_at: isoTimeOrNull(key.endsAt),
    replaced_by: key.successorId === null ? null : encodeId('key', key.successorId),
  };
}

function keyLines(key: StoredKey): readonly string[] {
  return fields([
    ['Key id', encodeId('key', key.id)],
    ['Name', key.name],
    ['Mode', key.mode],
    ['Kind', key.kind],
    key.scopes === null ? ['Permission', key.permission] : ['Scopes', key.scopes.join(', ')],
  ]);
}

function grantText({ permission, scopes }: StoredKey): string {
  return permission ?? scopes?.join(',') ?? '-';
}

function keyTable(keys: readonly StoredKey[]): readonly string[] {
  return table(
    ['KEY ID', 'MODE', 'KIND', 'PERMISSION', 'CREATED', 'LAST USED', 'ENDS', 'REVOKED', 'NAME'],
    keys.map((key) => [
      encodeId('key', key.id),
      key.mode,
      key.kind,
      grantText(key),
      isoTime(key.createdAt),
      isoTimeOrNull(key.lastUsedAt) ?? '-',
      isoTimeOrNull(key.endsAt) ?? '-',
      isoTimeOrNull(key.revokedAt) ?? '-',
      key.name,
    ]),
    'The project has no keys yet. Create one with: cointill key create',
  );
}

/** Says which keys of somebody who leaves still work, and how to end that. */
export function madeKeyLines(keys: readonly StoredKey[]): readonly string[] {
  if (keys.length === 0) return [];
  return [
    '',
    'These keys that this person created still work:',
    ...table(
      ['KEY ID', 'PROJECT', 'MODE', 'KIND', 'PERMISSION', 'LAST USED', 'NAME'],
      keys.map((key) => [
        encodeId('key', key.id),
        key.projectId,
        key.mode,
        key.kind,
        grantText(key),
        isoTimeOrNull(key.lastUsedAt) ?? '-',
        key.name,
      ]),
      '',
    ),
    'If this person may know a key, replace the key with: cointill key roll ID. To revoke the key instead: cointill key revoke ID',
  ];
}
