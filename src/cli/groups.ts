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
  invoice: {
    description: 'create, list, show and cancel invoices; needs only COINTILL_URL and COINTILL_KEY',
    load: async () => (await import('./client/invoice.ts')).addInvoiceCommands,
  },
  request: {
    description:
      'ask for money by a link: create, list, show and close payment requests; needs only COINTILL_URL and COINTILL_KEY',
    load: async () => (await import('./client/request.ts')).addRequestCommands,
  },
  payment: {
    description: 'list, show, complete, simulate, accept and cancel payments, by their id in any API',
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
  secret: {
    description: 'change the key that encrypts webhook secrets and one-time codes',
    load: async () => (await import('./secret.ts')).addSecretCommands,
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
