/** Leaves the dashboard for the till at a path. The promise lasts until the document is gone. */
export function goToTill(path: string): Promise<never> {
  location.replace(path);
  return new Promise(() => {});
}
