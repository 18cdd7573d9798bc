import type { Command } from 'commander';
import type { App } from '../app/context.ts';
import type { Rejected } from '../app/rejected.ts';
import { encodeId } from '../domain/id.ts';
import { endpointIdOf, keyIdOf } from './arguments.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

/** The action of a command on the record of its id. */
interface Act {
  readonly run: (app: App, uuid: string) => Promise<{ readonly kind: 'done' } | Rejected>;
  /** The fields of its record beside the id. */
  readonly record: Readonly<Record<string, true>>;
  readonly line: (id: string) => string;
}

const KINDS = {
  key: { about: "the key's id, key_…", read: keyIdOf },
  endpoint: { about: "the endpoint's id, we_…", read: endpointIdOf },
} as const;

/** Gives a command its one argument, an id, and its action. */
export function actsOnId(command: Command, kind: keyof typeof KINDS, { run, record, line }: Act): void {
  const { about, read } = KINDS[kind];
  printsRecord(command)
    .argument('<id>', about, read)
    .action((uuid: string, options: OutputOptions) =>
      withCointill(async ({ app }) => {
        done(await run(app, uuid));
        const id = encodeId(kind, uuid);
        print(options, { id, ...record }, () => [line(id)]);
      }),
    );
}
