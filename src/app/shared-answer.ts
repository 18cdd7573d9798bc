/**
 * One answer for many who ask: those who come while a question is under way wait for the same one, and an answer serves all
 * for `keepMs`. A failure is shared by those who waited for it, and not kept.
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
