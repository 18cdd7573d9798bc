let context: AudioContext | null = null;

/** Browsers play sounds only after a tap: each charge wakes the sound for its sale. */
export function wakeSound(): void {
  try {
    context ??= new AudioContext();
    void context.resume();
  } catch {
    // A device without sound has colours and words.
  }
}

/** The notes in Hz: one for seen money, a rising pair for paid, an alarm for money that is gone. */
const NOTES = { seen: [660], paid: [660, 880], gone: [880, 440, 880, 440] } as const;
const NOTE_SECONDS = 0.16;

export function beep(of: keyof typeof NOTES): void {
  if (context === null) return;
  for (const [at, frequency] of NOTES[of].entries()) {
    const [tone, volume] = [context.createOscillator(), context.createGain()];
    const start = context.currentTime + at * NOTE_SECONDS;
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.25, start);
    // A sudden end would click.
    volume.gain.exponentialRampToValueAtTime(0.001, start + NOTE_SECONDS);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + NOTE_SECONDS);
  }
}
