import { backup } from './backup.ts';
import { broadcast } from './broadcast.ts';
import { catchUp } from './catch-up.ts';
import { createOrder } from './create-order.ts';
import { dashboardPages } from './dashboard-pages.ts';
import { dashboard } from './dashboard.ts';
import { deliver } from './deliver.ts';
import { documents } from './documents.ts';
import { eventLog, largeEventLog } from './event-log.ts';
import { flood } from './flood.ts';
import { liveOrders } from './live-orders.ts';
import { livePage } from './live-page.ts';
import { mails } from './mails.ts';
import { manyPayments } from './many-payments.ts';
import { matchBlocks } from './match-blocks.ts';
import { memory } from './memory.ts';
import { move } from './move.ts';
import { page } from './page.ts';
import { pageLoad } from './page-load.ts';
import { pageTaps } from './page-taps.ts';
import { print, type Figure } from './report.ts';
import { reports } from './reports.ts';
import { restarts } from './restarts.ts';
import { search } from './search.ts';
import { fourProcesses, life, manyKept } from './scale.ts';
import { signIn } from './sign-in.ts';
import { start } from './start.ts';
import { till } from './till.ts';
import { upgrade } from './upgrade.ts';
import { wakeups } from './wakeups.ts';

const BENCHES: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  'create-order': createOrder,
  'live-orders': liveOrders,
  deliver,
  documents,
  'event-log': eventLog,
  'large-event-log': largeEventLog,
  mails,
  'many-payments': manyPayments,
  dashboard: async () => [...(await dashboardPages()), ...(await dashboard())],
  search,
  reports,
  start,
  'match-blocks': matchBlocks,
  'catch-up': catchUp,
  broadcast,
  'live-page': livePage,
  page,
  'page-load': async () => [...(await pageLoad()), ...(await pageTaps())],
  flood,
  memory,
  'sign-in': signIn,
  till,
  backup,
  move,
  restarts,
  upgrade,
  wakeups,
  life,
  'four-processes': fourProcesses,
  'many-kept': manyKept,
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) {
  console.error(`There is no measurement ${unknown}; there are ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}
for (const [name, run] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.error(`Measuring ${name} …`);
  for (const figure of await run()) print(figure);
}
