/** `48 s`, `2 min 5 s`, `1 h 12 min`. */
export function describeSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60).toLocaleString('en')} h ${minutes % 60} min`;
}

const DAY_MS = 86_400_000;

/** The time of day on this machine; with the date where it is not today's. */
export function describeClock(date: Date, now: Date): string {
  const time = date.toLocaleTimeString('en-GB');
  const isNear = Math.abs(date.getTime() - now.getTime()) < DAY_MS / 2;
  return isNear ? time : `${date.toLocaleDateString('sv')} ${time}`;
}
