const UNITS = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** How long ago a date was, in its largest unit: `just now`, `5 min ago`, `3 days ago`. */
export function describeAge(date: Date, now: Date): string {
  const seconds = (now.getTime() - date.getTime()) / 1_000;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${count} ${unit === 'day' && count > 1 ? 'days' : unit} ago`;
  }
  return 'just now';
}
