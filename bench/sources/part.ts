import { measureAdmission } from './admission.ts';
import { measureAudit } from './audit.ts';
import { measureDurable, measureRecovery } from './durability.ts';
import { measureQuality } from './quality.ts';

// One part of the benchmark in a process of its own: PART FOLDER DRAFTS; prints its rows as JSON.
const [part = '', folder = '', drafts = '0'] = process.argv.slice(2);

const PARTS = {
  admission: () => measureAdmission(folder, Number(drafts)),
  recovery: () => measureRecovery(folder),
  durable: () => measureDurable(folder),
  quality: () => measureQuality(),
  audit: () => measureAudit(),
};

process.stdout.write(JSON.stringify(await PARTS[part as keyof typeof PARTS]()));
