/**
 * Shares one answer among many callers: those who ask while a question is running wait for the same answer, which is
 * then reused for `keepMs`. A failure reaches the callers who waited for it and is not kept.
 */
export function sharedAnswer<Answer>(
  keepMs: number,
  ask: () => Promise<Answer>,
  now: () => number = () => performance.now(),
): () => Promise<Answer> {
  let last: { readonly answer: Answer; readonly at: number } | null = null;
  let coming: Promise<Answer> | null = null;
  return () => {
    if (coming !== null) return coming;
    if (last !== null && now() - last.at < keepMs) return Promise.resolve(last.answer);
    const asked = ask()
      .then((answer) => {
        last = { answer, at: now() };
        return answer;
      })
      .finally(() => (coming = null));
    coming = asked;
    return asked;
  };
}
