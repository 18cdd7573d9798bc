/** Leaves for another document of this host, such as the till. The promise lasts until this document is gone. */
export function leaveFor(path: string): Promise<never> {
  location.replace(path);
  return new Promise(() => {});
}
