/**
 * Polls pages without a stream that wait for something, and reloads them only when their title changes: each reload
 * would make screen readers start over.
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

/** The page's title now; this page's own title while it cannot be reached. */
async function titleOf(path: string): Promise<string> {
  try {
    const answer = await fetch(path, { cache: 'no-store' });
    return new DOMParser().parseFromString(await answer.text(), 'text/html').title;
  } catch {
    return document.title;
  }
}
