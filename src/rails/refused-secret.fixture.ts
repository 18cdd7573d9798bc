/** Whether a message refuses a private key or a phrase: it says what to do, and shows nothing of it. */
export function refusesAsExposed(secret: string): (message: string) => boolean {
  return (message) =>
    /This is .*(private key|recovery phrase)/.test(message) &&
    message.includes('did not store it') &&
    message.includes('exposed') &&
    !message.includes(secret.slice(0, 12)) &&
    !message.includes(secret.slice(-12));
}
