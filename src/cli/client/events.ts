import { Option, type Command } from 'commander';
import { EVENT_TYPES } from '../../domain/event-type.ts';
import { wholeNumber } from '../arguments.ts';
import { print, printsRecord, table, writeErrorLines, writeLines, type OutputOptions } from '../output.ts';
import { untilStopSignal } from '../signals.ts';
import { forwardEvent, targetOf } from './forward.ts';
import { followLog } from './follow.ts';
import { entryLines, entryRecord } from './log-lines.ts';
import { listAt, parseExact, readEvent, readLog, type LogEntry } from './log.ts';
import { keptSecret } from './kept.ts';
import { CommandFailure } from '../failure.ts';
import { ask, at, serviceOf, textAt } from './service.ts';
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
    .option('--payment <id>', 'only the events of this payment, an order (ord_…) or a transaction')
    .option('--limit <n>', `how many, 1 to ${MAX_LIMIT}`, wholeNumber(1, MAX_LIMIT), 20)
    .action(list);
  printsRecord(events.command('get').description('show an event, its body and its deliveries'))
    .argument('<id>', "the event's id, evt_…")
    .action(get);
  printsRecord(events.command('resend').description('send an event again to your endpoints, or to a server near you'))
    .argument('<id>', "the event's id, evt_…")
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
  return new Option('--events <types>', `only these types, separated by commas: ${EVENT_TYPES.join(', ')}`);
}

async function list({ since, limit, events: types, payment, ...options }: ListOptions): Promise<void> {
  const service = serviceOf(process.env);
  const after = await cursorOf(service, since, AbortSignal.timeout(60_000));
  const { entries, next, head, oldest } = await readLog(service, { after, limit, types, payment });
  print(options, { entries: entries.map((entry) => entryRecord(entry)), next, head, oldest }, () => [
    ...entryTable(entries),
    ...(Number(next) < head ? [`The log goes on to #${head}. Read on with: cointill events list --since ${next}`] : []),
  ]);
}

function entryTable(entries: readonly LogEntry[]): readonly string[] {
  const rows = entries.map((entry) => {
    if ('gap' in entry) return [`#${entry.position}`, '', 'gap', `from #${entry.gap.from}`, ''];
    const { event, position } = entry;
    return [`#${position}`, event.createdAt, event.type, event.object, event.id];
  });
  return table(['Position', 'Time', 'Type', 'Payment or refund', 'Event'], rows, 'There are no events.');
}

async function get(id: string, options: OutputOptions): Promise<void> {
  const { event, text, details } = await readEvent(serviceOf(process.env), id);
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

async function resend(id: string, { endpoint, forwardTo, ...options }: ResendOptions): Promise<void> {
  const service = serviceOf(process.env);
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
