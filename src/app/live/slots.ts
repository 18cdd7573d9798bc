/** Slots for clients that stay, in total and for each client. */
export function createSlots({ total, perClient }: { readonly total: number; readonly perClient: number }) {
  const byClient = new Map<string, number>();
  let taken = 0;
  return {
    taken: () => taken,
    /** Takes a slot and returns the function that releases it once; null if there is none. */
    take: (client: string): (() => void) | null => {
      const own = byClient.get(client) ?? 0;
      if (taken >= total || own >= perClient) return null;
      taken += 1;
      byClient.set(client, own + 1);
      return () => {
        taken -= 1;
        const left = (byClient.get(client) ?? 0) - 1;
        if (left > 0) byClient.set(client, left);
        else byClient.delete(client);
      };
    },
  };
}
