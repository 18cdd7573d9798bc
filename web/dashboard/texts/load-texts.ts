import { en, type TextPart, type TextParts, type TextsLike } from './en.ts';

/** The languages' own names. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type LanguageCode = keyof typeof LANGUAGES;

type Loaders = { readonly [Part in TextPart]: () => Promise<TextsLike<TextParts[Part]>> } & {
  readonly always: () => Promise<TextsLike<typeof en>>;
};

const LOADERS: Readonly<Record<LanguageCode, Loaders>> = {
  en: {
    // Part of the first script, because most people need it.
    always: () => Promise.resolve(en),
    access: async () => (await import('./en-access.ts')).enAccess,
    attention: async () => (await import('./en-attention.ts')).enAttention,
    audit: async () => (await import('./en-audit.ts')).enAudit,
    browserWallets: async () => (await import('./en-browser-wallets.ts')).enBrowserWallets,
    detail: async () => (await import('./en-detail.ts')).enDetail,
    keys: async () => (await import('./en-keys.ts')).enKeys,
    list: async () => (await import('./en-list.ts')).enList,
    notifications: async () => (await import('./en-notifications.ts')).enNotifications,
    people: async () => (await import('./en-people.ts')).enPeople,
    requests: async () => (await import('./en-requests.ts')).enRequests,
    refunds: async () => (await import('./en-refunds.ts')).enRefunds,
    reports: async () => (await import('./en-reports.ts')).enReports,
    settings: async () => (await import('./en-settings.ts')).enSettings,
    signing: async () => (await import('./en-signing.ts')).enSigning,
    sweeps: async () => (await import('./en-sweeps.ts')).enSweeps,
    wallets: async () => (await import('./en-wallets.ts')).enWallets,
    webhooks: async () => (await import('./en-webhooks.ts')).enWebhooks,
  },
  de: {
    always: async () => (await import('./de.ts')).de,
    access: async () => (await import('./de-access.ts')).deAccess,
    attention: async () => (await import('./de-attention.ts')).deAttention,
    audit: async () => (await import('./de-audit.ts')).deAudit,
    browserWallets: async () => (await import('./de-browser-wallets.ts')).deBrowserWallets,
    detail: async () => (await import('./de-detail.ts')).deDetail,
    keys: async () => (await import('./de-keys.ts')).deKeys,
    list: async () => (await import('./de-list.ts')).deList,
    notifications: async () => (await import('./de-notifications.ts')).deNotifications,
    people: async () => (await import('./de-people.ts')).dePeople,
    requests: async () => (await import('./de-requests.ts')).deRequests,
    refunds: async () => (await import('./de-refunds.ts')).deRefunds,
    reports: async () => (await import('./de-reports.ts')).deReports,
    settings: async () => (await import('./de-settings.ts')).deSettings,
    signing: async () => (await import('./de-signing.ts')).deSigning,
    sweeps: async () => (await import('./de-sweeps.ts')).deSweeps,
    wallets: async () => (await import('./de-wallets.ts')).deWallets,
    webhooks: async () => (await import('./de-webhooks.ts')).deWebhooks,
  },
};

/** The texts that this tab has loaded; its language changes by a reload only. */
const loaded = new Map<string, string>();
const parts = new Set<string>();

/** Loads texts once; throws when they cannot be fetched. */
export async function loadTexts(code: LanguageCode, ...names: readonly (TextPart | 'always')[]): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      if (parts.has(name)) return;
      for (const [key, text] of Object.entries(await LOADERS[code][name]())) loaded.set(key, text);
      parts.add(name);
    }),
  );
}

export function textOf(key: string): string {
  const text = loaded.get(key);
  if (text === undefined) throw new Error(`The text ${key} is not loaded.`);
  return text;
}

/** Throws where a page shows texts that `routes.tsx` does not load with it. */
export function requireTexts(names: readonly TextPart[]): void {
  const missing = names.filter((name) => !parts.has(name));
  if (missing.length > 0) throw new Error(`lazyPage must name the texts ${missing.join(', ')} of this page.`);
}
