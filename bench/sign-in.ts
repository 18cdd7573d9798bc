import { Agent, request } from 'undici';
import { makeMerchant } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, type BenchService } from './service.ts';

const HOST = 'pay.shop.example';
const PASSWORD = 'grumpy otter parade';
const SESSIONS = 100;
const LINK_CALLS = 60;
const WRONG_GUESSES = 10_000;
const GUESSING_AT_ONCE = 50;
const MAX_KNOWN_MS = 2_000;
const MAX_NEW_MS = 5_000;
/** The owner signs in so often during the attack. */
const SIGN_INS = 20;

/**
 * The owner's sign-in while others use up what hashes passwords: a viewer who enters the right password again in each
 * of 100 sessions, somebody who accepts one invitation 60 times at once, and 10,000 wrong guesses from an IPv6 /48.
 */
export async function signIn(): Promise<readonly Figure[]> {
  const env = {
    BASE_URL: `https://${HOST}`,
    TRUST_PROXY: '127.0.0.1',
    LOG_LEVEL: 'error',
  };
  const service = await startBenchService({ env });
  const dispatcher = new Agent({ connections: 400 });
  const visitor = visitors(service, dispatcher);
  try {
    const { projectId } = await makeMerchant(service);
    const join = async (email: string, ...role: readonly string[]): Promise<Visitor> => {
      const own = visitor('2001:db8:1::1');
      await own.ask('/links/accept', { token: await invite(service, email, ...role), password: PASSWORD });
      return own;
    };
    const email = 'owner@shop.example';
    const known = await join(email, 'owner');
    await join('viewer@shop.example', 'viewer', '--project', projectId);
    console.error(`  Opening ${SESSIONS} sessions of a viewer …`);
    const viewers = Array.from({ length: SESSIONS }, () => visitor('2001:db8:2::1'));
    for (const viewer of viewers) await viewer.ask('/sign-in', { email: 'viewer@shop.example', password: PASSWORD });
    const token = await invite(service, 'colleague@shop.example', 'viewer', '--project', projectId);

    let isOver = false;
    let reauthentications = 0;
    const reauthenticating = viewers.map(async (viewer) => {
      for (; !isOver; reauthentications += 1) await viewer.ask('/reauthenticate', { password: PASSWORD });
    });
    const accepting = Array.from({ length: LINK_CALLS }, () =>
      visitor('2001:db8:3::1').ask('/links/accept', { token, password: PASSWORD }),
    );
    let guesses = 0;
    const guessing = Array.from({ length: GUESSING_AT_ONCE }, async () => {
      while (guesses < WRONG_GUESSES) {
        guesses += 1;
        const stranger = visitor(`2001:db8:4:${guesses.toString(16)}::1`);
        await stranger.ask('/sign-in', { email, password: 'certainly not this one' });
      }
    });
    const [ofKnown, ofNew]: [Taken[], Taken[]] = [[], []];
    for (let round = 0; round < SIGN_INS; round += 1) {
      ofKnown.push(await taken(known, email));
      ofNew.push(await taken(visitor(`2001:db8:${(0x100 + round).toString(16)}::1`), email));
    }
    await Promise.all(guessing);
    isOver = true;
    await Promise.all([...reauthenticating, ...accepting]);
    console.error(`  ${reauthentications} right passwords of the viewer, ${guesses} wrong guesses`);
    return [figure('in a known browser', ofKnown, MAX_KNOWN_MS), figure('in a new browser', ofNew, MAX_NEW_MS)];
  } finally {
    await dispatcher.close();
    await service.stop();
  }
}

interface Visitor {
  /** Posts to the dashboard's API and keeps its cookies; the status of the answer. */
  ask(path: string, body: object): Promise<number>;
}

function visitors(service: BenchService, dispatcher: Agent): (address: string) => Visitor {
  return (address) => {
    const cookies = new Map<string, string>();
    return {
      ask: async (path, body) => {
        const answer = await request(`${service.live}/dashboard/api${path}`, {
          method: 'POST',
          dispatcher,
          headers: {
            host: HOST,
            origin: `https://${HOST}`,
            'content-type': 'application/json',
            'sec-fetch-site': 'same-origin',
            'x-forwarded-for': address,
            'x-forwarded-host': HOST,
            'x-forwarded-proto': 'https',
            cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          },
          body: JSON.stringify(body),
        });
        await answer.body.dump();
        for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
          const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (name !== undefined && value !== undefined) cookies.set(name, value);
        }
        return answer.statusCode;
      },
    };
  };
}

async function invite(service: BenchService, email: string, ...role: readonly string[]): Promise<string> {
  const { link } = await service.cli('user', 'invite', '--email', email, '--role', ...role);
  return String(link).split('/').at(-1) ?? '';
}

interface Taken {
  readonly status: number;
  readonly ms: number;
}

async function taken(visitor: Visitor, email: string): Promise<Taken> {
  const startedAt = performance.now();
  const status = await visitor.ask('/sign-in', { email, password: PASSWORD });
  return { status, ms: performance.now() - startedAt };
}

function figure(where: string, all: readonly Taken[], maxMs: number): Figure {
  const sorted = all.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const [slowest = 0, median = 0] = [sorted.at(-1), sorted[sorted.length >> 1]];
  const refused = all.filter(({ status }) => status !== 200).length;
  return {
    name: `sign-in ${where} during the attack, slowest of ${all.length}`,
    measured: `${slowest.toFixed(0)} ms (median ${median.toFixed(0)} ms), ${refused} refused`,
    target: `≤ ${maxMs} ms, 0 refused`,
    holds: slowest <= maxMs && refused === 0,
  };
}
