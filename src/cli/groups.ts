import type { Command } from 'commander';
import type { CommandGroup } from '../config/called-as.ts';

interface Group {
  readonly description: string;
  /** Loads what adds the group's commands; only the group that runs is loaded, for a quick start. */
  readonly load: () => Promise<(group: Command) => void>;
}

/** What `cointill` can do, group by group. */
export const GROUPS: Readonly<Record<CommandGroup, Group>> = {
  start: {
    description: 'start the service',
    load: async () => (await import('./start.ts')).addStartCommand,
  },
  project: {
    description: 'make, list and change projects',
    load: async () => (await import('./project.ts')).addProjectCommands,
  },
  customer: {
    description: "delete customers' personal data",
    load: async () => (await import('./customer.ts')).addCustomerCommands,
  },
  key: {
    description: 'make, list and revoke API keys',
    load: async () => (await import('./key.ts')).addKeyCommands,
  },
  user: {
    description: 'say who may use the dashboard',
    load: async () => (await import('./user.ts')).addUserCommands,
  },
  audit: {
    description: 'see who changed what',
    load: async () => (await import('./audit.ts')).addAuditCommands,
  },
  webhook: {
    description: 'manage webhook endpoints, see and retry deliveries, receive them here',
    load: async () => (await import('./webhook.ts')).addWebhookCommands,
  },
  payment: {
    description: 'list, show, complete, simulate, accept and cancel payments, by the id of either API',
    load: async () => (await import('./payment.ts')).addPaymentCommands,
  },
  wallet: {
    description: 'set the wallets that live payments go to',
    load: async () => (await import('./wallet.ts')).addWalletCommands,
  },
  network: {
    description: 'see how the chains are followed',
    load: async () => (await import('./network.ts')).addNetworkCommands,
  },
  mail: {
    description: 'see whether mails are taken',
    load: async () => (await import('./mail.ts')).addMailCommands,
  },
  backup: {
    description: 'copy everything into one file while the service runs, and check such files',
    load: async () => (await import('./backup.ts')).addBackupCommands,
  },
  restore: {
    description: 'make a new database of a backup',
    load: async () => (await import('./restore.ts')).addRestoreCommand,
  },
  recover: {
    description: 'sell on after moments were lost, and book the money that came in them',
    load: async () => (await import('./recover.ts')).addRecoverCommands,
  },
  refund: {
    description: 'see what to sign for a refund, or withdraw it',
    load: async () => (await import('./refund.ts')).addRefundCommands,
  },
  report: {
    description: 'export reports, and make statements that reconcile',
    load: async () => (await import('./report.ts')).addReportCommands,
  },
  sweep: {
    description: 'pay out what lies on deposit contracts',
    load: async () => (await import('./sweep.ts')).addSweepCommands,
  },
};
