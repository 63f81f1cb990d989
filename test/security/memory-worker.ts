import { existsSync, readFileSync, writeSync } from 'node:fs';
import { openDatabase } from '../../src/db/open.ts';
import { runAgainst } from './hostile-run.ts';

// Runs one document against a hostile server and tells how much memory that took. The store is a
// PostgreSQL server: an embedded one takes half a gigabyte of this process for itself.
type Settings = { databaseUrl: string; tenantId: string; url: string; provider: object };
const { databaseUrl, tenantId, url, provider } = JSON.parse(process.argv[2]!) as Settings;
const database = await openDatabase({ databaseUrl });
const { status, errors, ledger, ms } = await runAgainst({ database, tenantId }, url, provider);
await database.close();
// maxRSS begins with what the parent had when it forked, which is a test process full of modules.
const own = /^VmHWM:\s+(\d+) kB/m.exec(
  existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '',
)?.[1];
const peakMb = Math.round(Number(own ?? process.resourceUsage().maxRSS) / 1_000);
writeSync(1, `${JSON.stringify({ status, errors, ledger, ms, peakMb })}\n`);
