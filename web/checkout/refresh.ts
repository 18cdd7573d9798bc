/**
 * Pages without a stream that wait for something are asked for anew, and loaded only when they say something else:
 * loading the same again and again would start screen readers over.
 */
export function loadWhenChanged(): void {
  const { refresh, refreshPath } = document.querySelector('main')?.dataset ?? {};
  if (refresh === undefined || refreshPath === undefined) return;
  const wait = () => setTimeout(poll, Number(refresh) * 1_000);
  const poll = async () => {
    if ((await titleOf(refreshPath)) === document.title) wait();
    else location.replace(refreshPath);
  };
  wait();
}

/** What the page says now; this page's own title while it cannot be asked. */
async function titleOf(path: string): Promise<string> {
  try {
    const answer = await fetch(path, { cache: 'no-store' });
    return new DOMParser().parseFromString(await answer.text(), 'text/html').title;
  } catch {
    return document.title;
  }
}
