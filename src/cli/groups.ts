import type { Command } from 'commander';
import type { CommandGroup } from '../config/called-as.ts';

interface Group {
  readonly description: string;
  /** Loads the function that adds the group's commands. Only the group that runs is loaded, for a quick start. */
  readonly load: () => Promise<(group: Command) => void>;
}

/** The command groups of `cointill`. */
export const GROUPS: Readonly<Record<CommandGroup, Group>> = {
  start: {
    description: 'start the service',
    load: async () => (await import('./start.ts')).addStartCommand,
  },
  health: {
    description: 'check whether the service on this machine is ready, by exit code 0 or 1',
    load: async () => (await import('./health.ts')).addHealthCommand,
  },
  project: {
    description: 'create, list and change projects',
    load: async () => (await import('./project.ts')).addProjectCommands,
  },
  customer: {
    description: "delete customers' personal data",
    load: async () => (await import('./customer.ts')).addCustomerCommands,
  },
  key: {
    description: 'create, list and revoke API keys',
    load: async () => (await import('./key.ts')).addKeyCommands,
  },
  user: {
    description: 'manage the people who may use the dashboard',
    load: async () => (await import('./user.ts')).addUserCommands,
  },
  audit: {
    description: 'see who changed what',
    load: async () => (await import('./audit.ts')).addAuditCommands,
  },
  webhook: {
    description: 'manage webhook endpoints, see and retry deliveries, or receive them on this machine',
    load: async () => (await import('./webhook.ts')).addWebhookCommands,
  },
  listen: {
    description: 'receive events on this machine, and pass them on to your server',
    load: async () => (await import('./listen.ts')).addListenCommand,
  },
  events: {
    description: 'list, watch and send events again; needs only COINTILL_URL and COINTILL_KEY',
    load: async () => (await import('./client/events.ts')).addEventCommands,
  },
  trigger: {
    description: 'make an event happen to a test order; needs only COINTILL_URL and COINTILL_KEY',
    load: async () => (await import('./client/trigger.ts')).addTriggerCommand,
  },
  verify: {
    description: 'check the signatures of a webhook, and say what is wrong',
    load: async () => (await import('./client/verify.ts')).addVerifyCommand,
  },
  payment: {
    description: 'list, show, complete, simulate, accept and cancel payments, by their id in either API',
    load: async () => (await import('./payment.ts')).addPaymentCommands,
  },
  wallet: {
    description: 'set and check the wallets and terms of live payments',
    load: async () => (await import('./wallet.ts')).addWalletCommands,
  },
  network: {
    description: 'show the state of the networks and their nodes',
    load: async () => (await import('./network.ts')).addNetworkCommands,
  },
  mail: {
    description: 'test whether the mail server accepts e-mails',
    load: async () => (await import('./mail.ts')).addMailCommands,
  },
  backup: {
    description: 'back up everything to one file while the service runs, and check backups',
    load: async () => (await import('./backup.ts')).addBackupCommands,
  },
  restore: {
    description: 'create a database from a backup',
    load: async () => (await import('./restore.ts')).addRestoreCommand,
  },
  move: {
    description: 'move the database between the embedded one and your own PostgreSQL server',
    load: async () => (await import('./move.ts')).addMoveCommand,
  },
  recover: {
    description: 'continue after a failover or restore that lost data, and book the money received meanwhile',
    load: async () => (await import('./recover.ts')).addRecoverCommands,
  },
  refund: {
    description: 'show the transaction to sign for a refund, or cancel a refund',
    load: async () => (await import('./refund.ts')).addRefundCommands,
  },
  report: {
    description: 'export reports, and create statements that reconcile the money of a period',
    load: async () => (await import('./report.ts')).addReportCommands,
  },
  sweep: {
    description: 'plan the calls that pay out the balances of deposit contracts',
    load: async () => (await import('./sweep.ts')).addSweepCommands,
  },
};

/** An example of each command, behind the program's name; its options are what most people need. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  start: ['start'],
  health: ['health'],
  'project create': ['project create --name Shop'],
  'project list': ['project list'],
  'project deactivate': ['project deactivate ID'],
  'project activate': ['project activate ID'],
  'project set': [
    'project set ID --allow-ips 203.0.113.7,198.51.100.0/24',
    "project set ID --logo logo.png --accent '#7a3cff' --support-url https://shop.example/help",
  ],
  'project export': ['project export ID --to shop.jsonl'],
  'customer delete': [
    'customer delete --project ID --email ann@customer.example',
    'customer delete --project ID --older-than 365 --yes',
  ],
  'key create': ['key create --project ID --mode test --kind secret --permission full --name Server'],
  'key list': ['key list --project ID'],
  'key roll': ['key roll key_… --overlap 24'],
  'key revoke': ['key revoke key_…'],
  'user invite': ['user invite --email ann@shop.example --role owner'],
  'user list': ['user list'],
  'user role': ['user role ben@shop.example --role viewer'],
  'user reset': ['user reset ann@shop.example'],
  'user deactivate': ['user deactivate ben@shop.example'],
  'user sessions': ['user sessions ann@shop.example --end'],
  'user require-second-factor': ['user require-second-factor owner,admin', 'user require-second-factor none'],
  'audit list': ['audit list --limit 20'],
  'webhook create': ['webhook create --project ID --mode test --url https://shop.example/webhooks --events all'],
  'webhook list': ['webhook list --project ID'],
  'webhook delete': ['webhook delete we_…'],
  'webhook enable': ['webhook enable we_…'],
  'webhook rotate': ['webhook rotate we_…'],
  'webhook test': ['webhook test we_… --type order.completed'],
  'webhook deliveries': ['webhook deliveries we_…'],
  'webhook retry': ['webhook retry dlv_…'],
  'webhook listen': ['webhook listen --project ID'],
  listen: ['listen --forward-to localhost:3000/webhooks', 'listen --project ID'],
  'events list': ['events list --since 24h --events order.completed'],
  'events get': ['events get evt_…'],
  'events resend': ['events resend evt_…', 'events resend evt_… --forward-to localhost:3000/webhooks'],
  'events tail': ['events tail --json'],
  trigger: ['trigger order.completed', 'trigger refund.completed --order ord_…'],
  verify: ['verify --secret whsec_… < request.txt'],
  'payment list': ['payment list --status pending,confirming', "payment list --search 'schmidt 49,90'"],
  'payment show': ['payment show ord_…'],
  'payment complete': ['payment complete ord_…'],
  'payment accept': ['payment accept ord_…'],
  'payment cancel': ['payment cancel ord_…'],
  'payment simulate': ['payment simulate ord_… part'],
  'payment advance': ['payment advance ord_…', 'payment advance ord_… --by P3D'],
  'wallet set': [
    'wallet set --project ID --network bitcoin --xpub zpub…',
    'wallet set --project ID --network ethereum --treasury 0x…',
  ],
  'wallet show': ['wallet show --project ID'],
  'wallet check': ['wallet check --project ID --network bitcoin'],
  'wallet terms': [
    'wallet terms --project ID --coin-order USDT/polygon,BTC/bitcoin --coins-off ETH/ethereum',
    'wallet terms --project ID --monitoring-hours 72',
  ],
  'network status': ['network status'],
  'mail test': ['mail test --to ann@shop.example'],
  backup: ['backup /var/backups/cointill/ --keep 14'],
  'backup check': ['backup check FILE'],
  restore: ['restore FILE --data-dir NEW'],
  move: ['move --to postgres://cointill@db.shop.example/cointill', 'move --data-dir NEW'],
  recover: ['recover --since 2026-11-22T03:10:00Z'],
  'recover book': ['recover book ADDRESS --amount 25 --order-id A-1001'],
  'recover key': ['recover key'],
  'refund show': ['refund show re_…'],
  'refund cancel': ['refund cancel re_…'],
  'report export': ['report export --project ID --report transfers --period last_month --json'],
  'report statement': ['report statement --project ID --period last_month --zone Europe/Berlin'],
  'sweep plan': ['sweep plan --project ID --network ethereum'],
};
