import { writeSync } from 'node:fs';
import { reportFailure } from '../../src/cli/output.ts';
import { appendEvents } from '../../src/db/events.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ensureLocalTenant } from '../../src/db/tenants.ts';

// Writes numbered events, two in each transaction, and prints a number only once it is committed.
const [dataDirectory, first = '0', count = '1000000'] = process.argv.slice(2);
try {
  const database = await openDatabase({ dataDirectory: dataDirectory! }, { backupEveryMs: 0 });
  const { tenantId } = await ensureLocalTenant(database);
  writeSync(1, 'open\n');
  for (let n = Number(first); n < Number(first) + Number(count); n++) {
    await database.asTenant(tenantId, async (tx) => {
      await appendEvents(tx, [{ topic: 'a', kind: 'number-written', payload: { n } }]);
      await appendEvents(tx, [{ topic: 'b', kind: 'number-written', payload: { n } }]);
    });
    writeSync(1, `${n}\n`);
  }
  await database.close();
} catch (error) {
  reportFailure(error, true);
}
