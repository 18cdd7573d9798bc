import { median } from '../../bench/load.ts';
import type { Member, Usage } from './member.ts';

/** The memory and handles of the first process of each role, at one quiet point after the other. */
export interface UsageLog {
  take(): Promise<void>;
  /** For each process: the end of the run against its second quarter, a line each. */
  lines(): readonly string[];
}

/** The lines mean something only if these processes go on for the whole run. */
export function createUsageLog(members: readonly Member[]): UsageLog {
  const samples = new Map<Member, Usage[]>(members.map((member) => [member, []]));
  return {
    take: async () => {
      for (const [member, taken] of samples) {
        const usage = await member.usage();
        if (usage !== null) taken.push(usage);
      }
    },
    lines: () =>
      [...samples]
        .filter(([{ name }]) => name.endsWith(' 1'))
        .map(([{ name }, taken]) => {
          const quarter = Math.ceil(taken.length / 4);
          const [second, last] = [taken.slice(quarter, 2 * quarter), taken.slice(-quarter)];
          const of = (part: readonly Usage[], field: keyof Usage): number => median(part.map((one) => one[field]));
          const growth = (of(last, 'mib') / of(second, 'mib') - 1) * 100;
          return `${name}: ${of(last, 'mib').toFixed(0)} MiB in the last quarter, ${growth.toFixed(1)} % more than in the second (collected); ${of(last, 'handles')} handles, ${of(second, 'handles')} then`;
        }),
  };
}
