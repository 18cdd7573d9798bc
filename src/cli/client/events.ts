import { InvalidArgumentError, Option, type Command } from 'commander';
import { EVENT_TYPES, isEventType } from '../../domain/event-type.ts';
import { PAYMENT_ID_FORMS } from '../../domain/payment-kind.ts';
import { commaSeparated, wholeNumber } from '../arguments.ts';
import { print, printsRecord, table, writeErrorLines, writeLines, type OutputOptions } from '../output.ts';
import { untilStopSignal } from '../signals.ts';
import { forwardEvent, targetOf } from './forward.ts';
import { followLog } from './follow.ts';
import { entryLines, entryRecord } from './log-lines.ts';
import { listAt, parseExact, readEvent, readLog, type LogEntry } from './log.ts';
import { keptSecret } from './kept.ts';
import { CommandFailure } from '../failure.ts';
import { ask, at, serviceOf, textAt, type Service } from './service.ts';
import { cursorOf, sinceOf, type Since } from './since.ts';

interface ListOptions extends OutputOptions {
  readonly since: Since;
  readonly limit: number;
  readonly events?: string;
  readonly payment?: string;
}

interface ResendOptions extends OutputOptions {
  readonly endpoint?: string;
  readonly forwardTo?: string;
}

const MAX_LIMIT = 500;

/** `cointill events list|get|resend|tail`, with COINTILL_URL and COINTILL_KEY alone. */
export function addEventCommands(events: Command): void {
  printsRecord(events.command('list').description('list events, oldest first'))
    .addOption(sinceOption().default({ after: 'start' }, 'start'))
    .addOption(typesOption())
    .option('--payment <id>', `only the events of this payment (${PAYMENT_ID_FORMS})`)
    .option('--limit <n>', `how many, 1 to ${MAX_LIMIT}`, wholeNumber(1, MAX_LIMIT), 20)
    .action(list);
  printsRecord(events.command('get').description('show an event, its body and its deliveries'))
    .argument('<id>', "the event's id, evt_…, or its position")
    .action(get);
  printsRecord(events.command('resend').description('send an event again to your endpoints, or to a server near you'))
    .argument('<id>', "the event's id, evt_…, or its position")
    .option('--endpoint <id>', 'only to this endpoint, we_…; by default to all that are on')
    .addOption(
      new Option('--forward-to <url>', 'from this machine to this address, signed as by cointill listen')
        .argParser(targetOf)
        .conflicts('endpoint'),
    )
    .action(resend);
  events
    .command('tail')
    .description('print events as they happen')
    .addOption(sinceOption().default({ after: 'now' }, 'now'))
    .addOption(typesOption())
    .option('--json', 'print each event as one line of JSON')
    .action(tailLog);
}

/** `--since`; `what` says where a command begins without it. */
export function sinceOption(what = 'where to begin'): Option {
  return new Option(
    '--since <when>',
    `${what}: after a position or an event, a time ago such as 24h, start or now`,
  ).argParser(sinceOf);
}

export function typesOption(): Option {
  return new Option('--events <types>', `only these types, separated by commas: ${EVENT_TYPES.join(', ')}`).argParser(
    typesOf,
  );
}

function typesOf(text: string): string {
  const types = commaSeparated(text);
  const unknown = types.find((type) => !isEventType(type));
  if (types.length > 0 && unknown === undefined) return types.join(',');
  throw new InvalidArgumentError(`Give types such as order.completed. These exist: ${EVENT_TYPES.join(', ')}.`);
}

/** The id of an event that is named by its id or by its position. */
async function eventIdOf(service: Service, text: string): Promise<string> {
  const [, position] = /^#?(\d{1,15})$/.exec(text) ?? [];
  if (position === undefined) return text;
  const { entries } = await readLog(service, { after: String(Math.max(0, Number(position) - 1)), limit: 1 });
  const [entry] = entries;
  if (entry !== undefined && 'event' in entry && entry.position === Number(position)) return entry.event.id;
  throw new CommandFailure(`There is no event at position ${position}.`);
}

async function list({ since, limit, events: types, payment, ...options }: ListOptions): Promise<void> {
  const service = serviceOf(process.env);
  const after = await cursorOf(service, since, AbortSignal.timeout(60_000));
  const { entries, next, head, text } = await readLog(service, { after, limit, types, payment });
  if (options.json === true) {
    process.stdout.write(`${text}\n`);
    return;
  }
  const again = [
    'cointill events list',
    `--since ${next}`,
    types && `--events ${types}`,
    payment && `--payment ${payment}`,
  ];
  const command = again.filter((part) => part !== undefined).join(' ');
  writeLines([
    ...entryTable(entries),
    ...(Number(next) < head ? [`The log goes on to #${head}. Read on with: ${command} --limit ${limit}`] : []),
  ]);
}

function entryTable(entries: readonly LogEntry[]): readonly string[] {
  const rows = entries.map((entry) => {
    if ('gap' in entry) return [`#${entry.position}`, '', 'gap', `from #${entry.gap.from}`, ''];
    const { event, position } = entry;
    return [`#${position}`, event.createdAt, event.type, event.object, event.id];
  });
  return table(['Position', 'Time', 'Type', 'Payment or refund', 'Event'], rows, 'No events were found.');
}

async function get(named: string, options: OutputOptions): Promise<void> {
  const service = serviceOf(process.env);
  const { event, text, details } = await readEvent(service, await eventIdOf(service, named));
  if (options.json === true) {
    process.stdout.write(`${text}\n`);
    return;
  }
  const deliveries = listAt(details, 'deliveries').map((one) =>
    ['id', 'endpoint', 'state', 'attempts', 'last_status'].map((name) => textAt(one, name)),
  );
  writeLines([
    `${event.type}  ${event.object}  #${textAt(details, 'position') || '?'}  ${event.createdAt}`,
    '',
    ...JSON.stringify(parseExact(event.body), null, 2).split('\n'),
    '',
    ...table(['Delivery', 'Endpoint', 'State', 'Attempts', 'Last status'], deliveries, 'It was sent to no endpoint.'),
  ]);
}

async function resend(named: string, { endpoint, forwardTo, ...options }: ResendOptions): Promise<void> {
  const service = serviceOf(process.env);
  const id = await eventIdOf(service, named);
  if (forwardTo !== undefined) {
    const [{ event, details }, { project }] = [await readEvent(service, id), await readLog(service, { after: 'now' })];
    const secret = keptSecret({ ...service, project }, undefined, process.env);
    const forwarded = await forwardEvent(forwardTo, secret, event);
    const entry = { position: Number(at(details, 'position')), event };
    print(options, entryRecord(entry, forwarded), () => entryLines(entry, forwarded));
    if (!forwarded.isAccepted) throw new CommandFailure(`${forwardTo} did not accept ${id}: ${forwarded.answer}.`);
    return;
  }
  const body = endpoint === undefined ? {} : { endpoint };
  const { text } = await ask(service, 'POST', `/v1/events/${encodeURIComponent(id)}/resend`, { body });
  const answer: unknown = JSON.parse(text);
  print(options, answer as object, () =>
    listAt(answer, 'deliveries').map((one) => `Queued for ${textAt(one, 'endpoint')} as ${textAt(one, 'id')}.`),
  );
}

interface TailOptions {
  readonly since?: Since;
  readonly events?: string;
  readonly json?: true;
}

/** Prints events as they happen until it is stopped. */
export async function tailLog({ since = { after: 'now' }, events: types, json }: TailOptions): Promise<void> {
  const service = serviceOf(process.env);
  const stopped = new AbortController();
  void untilStopSignal().then(() => stopped.abort());
  // A key that may not read ends the command here.
  await readLog(service, { after: 'now', limit: 1, signal: stopped.signal });
  const after = await cursorOf(service, since, stopped.signal);
  writeErrorLines([`Watching ${service.mode} events of ${service.url}. Stop with Ctrl-C.`]);
  await followLog(service, {
    after,
    types,
    stopped: stopped.signal,
    say: (line) => writeErrorLines([line]),
    onEntry: (entry) => {
      if (json !== true) writeLines(entryLines(entry));
      else if ('gap' in entry) process.stdout.write(`${JSON.stringify(entryRecord(entry))}\n`);
      else process.stdout.write(`{"position":${entry.position},"event":${entry.event.body}}\n`);
    },
  });
}
