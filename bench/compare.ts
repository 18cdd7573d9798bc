import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { deliveriesPerSecond, sampleBody } from './deliver.ts';
import { load, median } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import { payingPage } from './page.ts';
import { startBenchService, type BenchService } from './service.ts';

/**
 * Compares this checkout with another commit: `npm run bench:compare -- COMMIT`, or of one measurement alone:
 * `-- COMMIT deliveries`. Both run side by side on data of their own, and are measured in turn, so that a machine whose
 * speed drifts treats both alike. Each ratio is of two measurements next to each other; the median of all rounds
 * counts. After a change of dependencies, install this checkout's first.
 */
const ROOT = path.join(import.meta.dirname, '..');
const ROUNDS = 9;
const SECONDS = 3;
const MIN_RATIO = 0.95;

type Measurement = () => Promise<number>;

interface Side {
  readonly service: BenchService;
  readonly measurements: Readonly<Record<string, Measurement>>;
}

async function openSide(root: string): Promise<Side> {
  const service = await startBenchService({ root, env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400' } });
  const { projectId, headers } = await makeMerchant(service);
  const body = await sampleBody(service, headers);
  const { path: page } = await payingPage(service);
  const order = (await (await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER })).json()) as {
    readonly id: string;
  };
  const rateOf = async (request: Parameters<typeof load>[0]): Promise<number> => {
    const { requestsPerSecond, non2xx } = await load(request);
    if (non2xx > 0) throw new Error(`${non2xx} requests of ${request.url} failed.`);
    return requestsPerSecond;
  };
  return {
    service,
    measurements: {
      creations: () =>
        rateOf({ url: `${service.test}/v1/orders`, method: 'POST', headers, body: ORDER, seconds: SECONDS }),
      reads: () => rateOf({ url: `${service.test}/v1/orders/${order.id}`, headers, seconds: SECONDS }),
      'page renders': () => rateOf({ url: `${service.test}${page}`, seconds: SECONDS }),
      deliveries: () => deliveriesPerSecond(service, projectId, body),
    },
  };
}

/** A checkout of the commit with this one's dependencies, and how to be rid of it. */
async function checkOut(commit: string): Promise<{ readonly root: string; readonly remove: () => Promise<void> }> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'cointill-compared-'));
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  git('worktree', 'add', '--detach', '--force', root, commit);
  await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  // Like with like; older commits have no build.
  const builder = path.join(root, 'scripts/build-program.ts');
  if (existsSync(builder)) execFileSync(process.execPath, [builder], { cwd: root });
  return {
    root,
    remove: async () => {
      await rm(root, { recursive: true, force: true });
      git('worktree', 'prune');
    },
  };
}

async function compare(here: Side, there: Side, only: string | undefined): Promise<boolean> {
  let holds = true;
  for (const [name, ours] of Object.entries(here.measurements)) {
    if (only !== undefined && only !== name) continue;
    const theirs = there.measurements[name];
    if (theirs === undefined) throw new Error(`The other side does not measure ${name}.`);
    // Code that the engine compiles late is compiled before the rounds that count.
    await ours();
    await theirs();
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // Who goes first changes, so that neither always has what the other left behind.
      const [first, second] = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
      const [a, b] = [await first(), await second()];
      const [our, their] = round % 2 === 0 ? [a, b] : [b, a];
      ratios.push(our / their);
      console.error(`${name}: ${Math.round(our)} against ${Math.round(their)} a second`);
    }
    const ratio = median(ratios);
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    console.log(
      `${ratio >= MIN_RATIO ? 'ok   ' : 'SHORT'}  ${name}: ${ratio.toFixed(2)} of the other commit's, ${range} (target ${MIN_RATIO})`,
    );
    holds &&= ratio >= MIN_RATIO;
  }
  return holds;
}

const [commit, only] = process.argv.slice(2);
if (commit === undefined) {
  console.error('Say which commit to compare with: npm run bench:compare -- COMMIT');
  process.exit(2);
}
const other = await checkOut(commit);
try {
  const here = await openSide(ROOT);
  try {
    const there = await openSide(other.root);
    try {
      process.exitCode = (await compare(here, there, only)) ? 0 : 1;
    } finally {
      await there.service.stop();
    }
  } finally {
    await here.service.stop();
  }
} finally {
  await other.remove();
}
