import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Benchmark, Measurement } from './frame.ts';

/** Drafts that are registered: a million sources. `--drafts=N` registers fewer, for a short look. */
const MANY = 1_201_000;
/** What `--part=NAME` measures alone; recovery reads what admission wrote. */
const PARTS = {
  admission: ['admission', 'recovery'],
  durable: ['durable'],
  quality: ['quality'],
  audit: ['audit'],
};

const program = fileURLToPath(new URL('sources/part.ts', import.meta.url));

/** The rows of a part, in a process of its own, so that none finds another's memory in its way. */
function measure(part: string, folder: string, drafts: number): Measurement[] {
  const args = [program, part, folder, String(drafts)];
  const printed = execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(printed.toString()) as Measurement[];
}

function measureParts(parts: readonly string[], drafts: number): Measurement[] {
  const folder = mkdtempSync(join(tmpdir(), 'dialectic-sources-'));
  try {
    return parts.flatMap((part) => measure(part, folder, drafts));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const RATIOS: Readonly<Record<string, string>> = {
  register_p50_us: 'register, median of the last tenth',
  register_per_s: 'registered, with the disk',
  duplicate_us: 'exact duplicate by key',
  near_duplicate_p50_us: 'near duplicate, median',
  near_duplicate_recall: 'licences at least 0.8 alike: recall',
  near_duplicate_precision: 'licences at least 0.8 alike: precision',
  audit_100_ms: 'audit and footnotes, median',
};

const valueOf = (flags: readonly string[], name: string): string | undefined =>
  flags.find((flag) => flag.startsWith(`--${name}=`))?.slice(name.length + 3);

async function run(flags: readonly string[]) {
  const drafts = Math.max(1_000, Number(valueOf(flags, 'drafts') ?? MANY));
  const wanted = valueOf(flags, 'part');
  if (wanted !== undefined && !Object.hasOwn(PARTS, wanted)) {
    throw new Error(`There is no part ${wanted}; there are ${Object.keys(PARTS).join(', ')}.`);
  }
  const results = Object.entries(PARTS)
    .filter(([name]) => wanted === undefined || wanted === name)
    .flatMap(([, parts]) => measureParts(parts, drafts));
  // Of several ways to find near duplicates the first is the default one.
  const ratios = Object.entries(RATIOS).flatMap(([name, metric]) => {
    const found = results.find((one) => one.metric === metric);
    return found ? [[name, found.value] as const] : [];
  });
  return { results, ratios: Object.fromEntries(ratios) };
}

export default {
  title: 'Sources: registering, duplicates, audit',
  needsPeers: true,
  run,
} satisfies Benchmark;
