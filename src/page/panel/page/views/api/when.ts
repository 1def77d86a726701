/** Times as people read them, by the browser's clock and language. */

/** A time of today without its date, an older one with it. */
export function whenText(at: string): string {
  const time = new Date(at);
  const today = time.toDateString() === new Date().toDateString();
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  return time.toLocaleString([], today ? clock : { ...clock, month: 'short', day: 'numeric' });
}
